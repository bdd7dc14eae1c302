"""What can go wrong around an engine.

::

    MidcourseError
    ├── ToolArgumentsError      (also InvalidInputError) a tool was called with arguments it does not take
    ├── ScheduleNotFoundError   (an InvalidInputError) a schedule that its store does not have
    ├── UnknownPlannerError     (also InvalidInputError) a planner that is not registered with the engine
    ├── ProposalRefusedError    (also InvalidInputError) a plan proposed from outside did not become a
    revision └── EngineError             an engine cannot do what it was asked
        ├── EngineClosedError   it is not open, or is closing
        ├── TooManyStartsError  as many starts as it allows wait to become durable
        ├── WrongLoopError      it was opened in another event loop
        ├── RunNotFoundError    its store has no such run
        └── RunParkedError      it has let go of the run after an error that it cannot decide about

Errors of the actors underneath are in ``actors._pykka.errors``; the exceptions by which a tool speaks to the
engine are in ``actors.control``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.errors import InvalidInputError, MidcourseError
from ..domain.schedules.spelling import did_you_mean


class EngineError(MidcourseError):
    """The base of what an engine raises when it cannot do what it was asked."""


class ToolArgumentsError(InvalidInputError):
    """The arguments of a call do not fit the tool, which was not called.

    Args:
        tool: full name of the tool.
        problems: every problem found, one sentence each, beginning with the path of the argument.
    """

    def __init__(self, tool: str, problems: Sequence[str]) -> None:
        self.tool = tool
        self.problems = tuple(problems)
        super().__init__(
            f"tool {tool!r} was not called, its arguments do not fit: " + "; ".join(self.problems)
        )


class UnknownPlannerError(InvalidInputError):
    """A planner that is not registered with the engine; nothing was recorded."""


class ProposalRefusedError(InvalidInputError):
    """A plan proposed from outside did not become a revision; the refusal is recorded.

    Args:
        run_id: the run.
        code: ``stale``, ``invalid`` or ``conflict``.
        problems: what is wrong with it, one sentence each.
    """

    def __init__(self, run_id: str, code: str, problems: Sequence[str]) -> None:
        self.run_id, self.code, self.problems = run_id, code, tuple(problems)
        super().__init__(f"run {run_id} refused the proposed plan as {code}: " + "; ".join(self.problems))


class EngineClosedError(EngineError):
    """The engine is not open, or is closing: nothing was recorded."""


class TooManyStartsError(EngineError):
    """As many starts as the engine allows wait to become durable; nothing was recorded.

    Args:
        queued: how many wait.
    """

    def __init__(self, queued: int) -> None:
        self.queued = queued
        super().__init__(
            f"{queued} starts wait to become durable, as many as this engine allows; nothing was recorded. "
            "Await some of them and start again, or raise Settings.max_starts_queued"
        )


class WrongLoopError(EngineError):
    """The engine was opened in another event loop: nothing was asked of it."""

    def __init__(self) -> None:
        super().__init__(
            "this engine belongs to another event loop, that of its `async with`; from other threads and "
            "loops use `engine.threadsafe`, whose futures `asyncio.wrap_future` makes awaitable"
        )


class RunNotFoundError(EngineError):
    """The engine's store has no such run."""

    def __init__(self, run_id: str, store: str) -> None:
        self.run_id, self.store = run_id, store
        super().__init__(f"there is no run {run_id!r} in {store}; `Engine.runs()` lists those there are")


class RunParkedError(EngineError):
    """The engine has let go of a run, after an error that it cannot decide about. Its facts are as they were.

    Args:
        run_id: the run.
        cause: the error.
    """

    def __init__(self, run_id: str, cause: BaseException) -> None:
        self.run_id = run_id
        self.__cause__ = cause
        super().__init__(
            f"run {run_id} is parked: {cause}. Its recorded facts are intact; remove the cause and open the "
            "engine anew, which takes the run up from its facts"
        )


class ScheduleNotFoundError(InvalidInputError):
    """There is no schedule of that name.

    Args:
        name: the name.
        known: the names there are.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        listed = f"the store has {', '.join(known)}" if known else "the store has none"
        super().__init__(f"there is no schedule {name!r}; {listed}.{did_you_mean(name, known)}")
