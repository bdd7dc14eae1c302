"""Plans and their steps: intent, in the field names of the plan file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from .budget import Spent
from .retry import RetryPolicy

Author = Literal["human", "planner"]
OnReplan = Literal["drain", "cancel", "adopt"]
"""What becomes of a step in flight when another plan is asked for."""
WhenUnapproved = Literal["fail", "skip", "default"]
"""What becomes of a step that a person does not approve."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One position in a plan.

    Args:
        id: identifier, unique in the plan; empty lets the engine number it (``E0``, ``E1``, …).
        tool_name: full (``user__charge``) or unambiguous bare name (``charge``).
        input: the tool's arguments; strings may hold templates over earlier results.
        needs: ids of steps that must be done first; once any step of a plan has ``needs`` the plan is a DAG.
        reasoning: why the step is there.
        operation: explicit business identity, instead of the tool's identifying arguments.
        again: ask for one more of an intent that was committed before.
        undoes: the operation this planned call of an undo tool takes back.
        timeout_s: seconds the whole step may take, retries included.
        on_replan: when another plan is asked for while the step is in flight, ``drain`` waits for it;
            ``cancel`` asks it to stop; ``adopt`` lets it go on, and the new plan may keep it, unchanged.
        when_unapproved: when a person denies the step an approval it needs, ``fail`` fails it; ``skip`` ends
            it without effect and without a result, so that steps that refer to it fail; ``default`` ends it
            without effect and with the result ``default``.
        default: the result of the step where it is not approved and says ``default``.
        retry: its own retry policy, in place of its tool's.
    """

    id: str = ""
    tool_name: str = ""
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)
    needs: Sequence[str] | None = None
    reasoning: str = ""
    operation: str = ""
    again: bool = False
    undoes: str = ""
    timeout_s: float | None = None
    on_replan: OnReplan = "drain"
    when_unapproved: WhenUnapproved = "fail"
    default: Any = None
    retry: RetryPolicy | None = None

    def __post_init__(self) -> None:
        if self.needs is not None:
            _freeze(self, "needs")


class Plan(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Steps in order or as a DAG; as a proposal, the new tail of a run's plan.

    Args:
        steps: the steps. A step that is done need not be listed again; listed as it was, with the same id, it
            is kept where it is and counts among the equal steps of the plan.
        undo: keys of committed operations to take back, newest first whatever the order here.
        reason: why this plan and not the one before.
        cost: the planner's own estimate, in the units of its tools' costs.
        conditions: the condition values the plan was made on, kept with it as evidence.
        spent: what making it used up; counted, and not kept with the plan.
        output: a map of templates over the results, which becomes the result of the run in place of its last
            step's. A proposal has its own, or none: that of the plan before is not kept.
        compensate_on_failure: undo committed reversible effects if the run fails or is cancelled.
    """

    steps: Sequence[Step] = ()
    undo: Sequence[str] = ()
    reason: str = ""
    cost: float | None = None
    conditions: Mapping[str, bool | None] = msgspec.field(default_factory=dict)
    spent: Spent | None = None
    output: Mapping[str, Any] | None = None
    compensate_on_failure: bool = True

    def __post_init__(self) -> None:
        _freeze(self, "steps")
        _freeze(self, "undo")
        for step in self.steps:
            if not isinstance(step, Step):
                raise TypeError(f'{step!r} is no step; write Step(tool_name="…", input={{…}})')


def _freeze(struct: msgspec.Struct, name: str) -> None:
    """Keep a list of any kind as a tuple; a text is no list, though Python iterates over its letters."""
    value: Iterable[Any] = getattr(struct, name)
    if isinstance(value, (str, msgspec.Struct, Mapping)):
        raise TypeError(f"{name} is a list; write [{value!r}]")
    if not isinstance(value, tuple):
        msgspec.structs.force_setattr(struct, name, tuple(value))


class NoPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A planner's answer: there is no plan.

    At the very start, where nothing was planned and no news came, the run fails with it. Later the run is
    stuck and waits for a person; what was done stays. A planner that raises or answers something else is
    asked again a few times; then it comes to the same.

    Args:
        reason: why, in words a person can act on.
        give_up: end the run as failed, undoing what can be undone, instead of waiting for a person; at the
            very start it makes no difference.
        spent: what finding out used up.
    """

    reason: str
    give_up: bool = False
    spent: Spent | None = None


class GoalReached(msgspec.Struct, frozen=True, omit_defaults=True):
    """A planner's answer: nothing is left to do.

    Args:
        reason: how it knows.
        spent: what finding out used up.
    """

    reason: str = ""
    spent: Spent | None = None
