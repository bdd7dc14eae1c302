"""The child runs of one call of a tool."""

from __future__ import annotations

from ..domain import ids
from ..domain.children import ChildView, terms_digest
from ..domain.errors import InvalidInputError
from ..domain.facts import ChildStarted, Limits
from ..domain.goal import Goal
from ..domain.messages import BeginChild
from ..domain.plan import Plan
from ..domain.view import child_of
from .clock import Clock
from .home import Look
from .orders import Ask


class Offspring:
    """Starts child runs for an attempt, and tells how they stand.

    Args:
        run_id: the run.
        operation: the operation of the tool.
        attempt: its token.
        ask: asks the run.
        clock: the time in seconds since the epoch.
    """

    __slots__ = ("_ask", "_attempt", "_clock", "_operation", "_run_id")

    def __init__(self, run_id: str, operation: str, attempt: int, *, ask: Ask, clock: Clock) -> None:
        self._run_id = run_id
        self._operation = operation
        self._attempt = attempt
        self._ask = ask
        self._clock = clock

    async def start(
        self, goal: Goal | str, *, name: str, planner: str, plan: Plan | None, limits: Limits | None
    ) -> ChildView:
        """Return the child run of that name, started if there was none; see `ToolContext.start_child`."""
        if not isinstance(name, str):
            raise InvalidInputError(f"the name of a child run is a text, not {name!r}")
        message = BeginChild(
            at=self._clock(),
            operation=self._operation,
            attempt=self._attempt,
            name=name,
            goal=Goal(goal) if isinstance(goal, str) else goal,
            planner=planner,
            plan=plan,
            limits=Limits() if limits is None else limits,
        )
        facts = await self._ask(self._run_id, message)
        began = next((fact.operation for fact in facts if isinstance(fact, ChildStarted)), "")
        key = began or ids.child_key(self._operation, name or terms_digest(message.goal, planner, plan))
        child: ChildView = await self._ask(self._run_id, Look(lambda run: child_of(run, key)))
        return child
