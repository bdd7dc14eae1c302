"""What all facts share, and the values several of them hold."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Literal, dataclass_transform

import msgspec

from ..budget import Budget

Mode = Literal["autonomous", "interactive"]


class Failure(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What went wrong, for people and for planners.

    Args:
        kind: of a step ``tool_error``, ``arguments``, ``missing``, ``timeout``, ``lost``, ``cancelled``,
            ``template``, ``conflict``, ``replan``, ``replan_rule``, ``authority``, ``limit``, ``denied``,
            ``child``; of an undo ``undo`` too; of planning ``planner``, ``no_plan``, ``refused``; of a run
            ``replan_refused``, ``cancelled``, ``budget``, ``judge``, ``taken_back``,
            ``stuck``.
        message: one sentence.
        step: id of the step it happened in.
        tool: the tool it happened in.
        error_type: class of the exception, where there was one.
        digest: what makes two failures of a tool the same one: the digest of its arguments.
        empty_data: the cause is that there was no data, not that something broke.
        cause: what asked for another plan, where that was refused.
    """

    kind: str
    message: str
    step: str = ""
    tool: str = ""
    error_type: str = ""
    digest: str = ""
    empty_data: bool = False
    cause: str = ""


class Limits(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How often a run may ask for another plan, and what it may spend.

    Args:
        replans: requests for another plan in the whole life of the run.
        proposals: stale and refused answers since the last accepted plan before the run is stuck; the same
            answer, refused for the same reasons on the same state, makes it stuck the third time.
        planning_attempts: planner calls failing since the last accepted plan before the run is stuck, or has
            failed where nothing was done yet.
        budgets: what it may spend; the first that is spent ends or pauses it. See `first_of`.
        steps_at_once: calls of tools that are in flight at a time, those in bodies too; ``None`` for as many
            as its plan allows.
    """

    replans: int = 20
    proposals: int = 8
    planning_attempts: int = 3
    budgets: tuple[Budget, ...] = ()
    steps_at_once: int | None = None


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Fact(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The base of all facts."""

    topic: ClassVar[str] = ""
    schema: ClassVar[int] = 1
    moves_epoch: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "topic" not in cls.__dict__:
            cls.topic = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
