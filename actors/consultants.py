"""Reviewers, judges and handlers of stuck runs: asked in tasks of their own, a few times where they raise."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ..domain.authority import ReviewRule
from ..domain.errors import InvalidInputError
from ..domain.messages import ReportOpinion
from ..domain.opinions import FAILED, PERSON, Consultation, Opinion, answer_of
from ..domain.orders import Consult, Order
from .clock import Clock
from .failures import only_cause
from .json_values import as_json, text
from .orders import Reporter

_log = logging.getLogger("midcourse.actors")

Reviewer = Callable[[Consultation], Any]
"""Takes what it is asked, and returns an `Opinion`, or its verdict as a text; it may be async."""

StuckHandler: TypeAlias = Reviewer
"""The same, of a stuck run; ``None`` leaves it to the next one."""


class Spawn(Protocol):
    """Runs a task, and keeps hold of it."""

    def __call__(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Begin to run work, under a name for errors."""


_TRIES = 3
_FIRST_WAIT_S = 0.1


class Consultants:
    """Those who are asked for opinions.

    Args:
        by_name: who they are.
        report: takes their answers for the runs, on the event loop.
        clock: tells the time of answers.
        spawn: runs a task and keeps hold of it.
        timeout_s: seconds one of them may take; ``None`` is without limit.
        stuck_timeout_s: the same, of a handler of stuck runs.
    """

    def __init__(
        self,
        by_name: Mapping[str, Reviewer],
        *,
        report: Reporter,
        clock: Clock,
        spawn: Spawn,
        timeout_s: float | None = None,
        stuck_timeout_s: float | None = None,
    ) -> None:
        self._by_name = by_name
        self._report = report
        self._clock = clock
        self._spawn = spawn
        self._timeout_s = timeout_s
        self._stuck_timeout_s = stuck_timeout_s
        self._open: set[tuple[str, str]] = set()

    def send(self, run_id: str, orders: Sequence[Order]) -> None:
        """Ask what is not being asked already."""
        for order in orders:
            if isinstance(order, Consult) and (run_id, order.key) not in self._open:
                self._open.add((run_id, order.key))
                self._spawn(self._ask(run_id, order), name=f"{order.who} for run {run_id}")

    async def _ask(self, run_id: str, order: Consult) -> None:
        try:
            answer = await self._answer(order)
        finally:
            self._open.discard((run_id, order.key))
        self._report(run_id, answer)

    async def _answer(self, order: Consult) -> ReportOpinion:
        reviewer = self._by_name.get(order.who)
        if reviewer is None:
            known = ", ".join(sorted(self._by_name)) or "none"
            problem = f"{order.who!r} is not registered with this engine (registered: {known})"
            return self._failed(order, problem)
        problem = ""
        timeout_s = self._stuck_timeout_s if order.about.kind == "stuck" else self._timeout_s
        for attempt in range(_TRIES):
            if attempt:
                await asyncio.sleep(_FIRST_WAIT_S * 2**attempt)
            try:
                said = reviewer(order.about)
                if inspect.isawaitable(said):
                    async with asyncio.timeout(timeout_s):
                        said = await said
                return self._given(order, answer_of(said, order.about.kind))
            except BaseException as error:  # a boundary: whatever it raises is reported
                if not _is_its_own(error):
                    raise
                cause = only_cause(error)
                problem = f"it raised {type(cause).__qualname__}: {text(cause)}".removesuffix(": ")
                _log.info("%s raised", order.who, exc_info=error)
        return self._failed(order, problem)

    def _given(self, order: Consult, opinion: Opinion) -> ReportOpinion:
        return ReportOpinion(
            at=self._clock(),
            key=order.key,
            verdict=text(opinion.verdict),
            reason=text(opinion.reason),
            problems=_texts(opinion.problems),
            cites=_texts(opinion.cites),
            updates={text(name): as_json(value) for name, value in opinion.updates.items()},
        )

    def _failed(self, order: Consult, problem: str) -> ReportOpinion:
        return ReportOpinion(at=self._clock(), key=order.key, verdict=FAILED, reason=problem)


def _is_its_own(error: BaseException) -> bool:
    """Whether a reviewer raised it, and not the end of the task that it is asked in, or of the event loop."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # the loop is gone, and with it everybody who waits
        return False
    return task is not None and not (isinstance(error, asyncio.CancelledError) and task.cancelling())


def _texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts; one text is a list of one."""
    return (value,) if isinstance(value, str) else tuple(map(text, value))


def is_own(planner: Any, reviewer: Any) -> bool:
    """Whether a planner and a reviewer are one and the same, or one is a method of the other."""
    if planner == reviewer:
        return True
    return getattr(reviewer, "__self__", None) is planner or getattr(planner, "__self__", None) is reviewer


def checked_handlers(
    on_stuck: Mapping[str, StuckHandler], reviewers: Mapping[str, Reviewer]
) -> tuple[str, ...]:
    """Return the names of handlers of stuck runs, in order, as a catalog wants them.

    Raises:
        InvalidInputError: one cannot be called, or has a name that is taken.
    """
    for name, handler in on_stuck.items():
        if name == PERSON or name in reviewers:
            raise InvalidInputError(f"no handler of stuck runs can be called {name!r}: the name is taken")
        if not callable(handler):
            raise InvalidInputError(
                f"the handler of stuck runs {name!r} is {handler!r}, which cannot be called"
            )
    return tuple(on_stuck)


def checked_reviewers(
    by_name: Mapping[str, Reviewer],
    of_plans: Sequence[str],
    planners: Mapping[str, Any],
    of_steps: Iterable[ReviewRule] = (),
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names of reviewers, and of those of plans, as a catalog wants them.

    Raises:
        InvalidInputError: a reviewer of plans, or one that a rule names, is not there; one would review its
            own plans, or has the name that stands for a person.
    """
    for rule in of_steps:
        if rule.by not in by_name and rule.by != PERSON:
            known = ", ".join(sorted({PERSON, *by_name}))
            raise InvalidInputError(
                f"the rule for {rule.tool!r} names the reviewer {rule.by!r}, who is none (there are: {known})"
            )
    if PERSON in by_name:
        raise InvalidInputError(f"no reviewer can be called {PERSON!r}: that is a person; name it otherwise")
    for name in of_plans:
        if name not in by_name:
            known = ", ".join(sorted(by_name)) or "none"
            raise InvalidInputError(f"plan reviewer {name!r} is not among the reviewers (there are: {known})")
        for planner, function in planners.items():
            if is_own(function, by_name[name]):
                raise InvalidInputError(f"planner {planner!r} would review its own plans as {name!r}")
    return frozenset(by_name), tuple(of_plans)
