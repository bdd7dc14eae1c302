"""What a run may spend, and what it has spent.

Budgets are data: they are in the facts of a run, several together, and the first that is spent ends the run
or pauses it and is named. What cannot be said in numbers is a policy: a function of the usage, given to the
engine by name; what it said is a fact, so that a replay does not ask it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from .errors import InvalidInputError

Measure = Literal["steps", "replans", "tokens", "cost", "wall_time_s"]
MEASURES: Final[tuple[Measure, ...]] = ("steps", "replans", "tokens", "cost", "wall_time_s")
WhenSpent = Literal["pause", "fail"]


class Spent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a call of a tool or a planner used up, besides its time.

    Args:
        tokens: tokens of models.
        cost: money or any other unit, the same in the whole run.
    """

    tokens: int = 0
    cost: float = 0.0


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What a run has spent so far.

    Args:
        steps: operations its plans have begun.
        replans: requests for another plan.
        tokens: tokens of models, as tools and planners told.
        cost: cost, as tools and planners told.
        wall_time_s: seconds since it was started.
    """

    steps: int = 0
    replans: int = 0
    tokens: int = 0
    cost: float = 0.0
    wall_time_s: float = 0.0


Policy = Callable[[Usage], str]
"""Says why a run is to go no further, or nothing (an empty text) while it may."""


class Budget(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, gc=False
):
    """What a run may spend at most; what is left out is without limit.

    What is spent is looked at before something is begun: a step under way is not stopped, and its receipt is
    recorded.

    Args:
        steps: operations its plans may begin.
        replans: requests for another plan that may be served.
        tokens: tokens of models.
        cost: cost, in the unit that its tools and planners tell it in.
        wall_time_s: seconds from its start, waits and pauses included.
        policy: name of a policy of the engine.
        then: ``pause`` has it wait for a person; ``fail`` ends it, undoing what can be undone.
    """

    steps: int | None = None
    replans: int | None = None
    tokens: int | None = None
    cost: float | None = None
    wall_time_s: float | None = None
    policy: str = ""
    then: WhenSpent = "pause"

    def limits(self) -> Iterator[tuple[Measure, float]]:
        """Yield what it limits, and at what."""
        for measure in MEASURES:
            most: float | None = getattr(self, measure)
            if most is not None:
                yield measure, most

    def check(self) -> None:
        """Look whether it can be used.

        Raises:
            InvalidInputError: it limits nothing, or a limit is no number from 0 up.
        """
        limits = [*self.limits()]
        if not limits and not self.policy:
            raise InvalidInputError(
                f"a budget limits one of {', '.join(MEASURES)}, or names a policy; this one limits nothing"
            )
        for measure, most in limits:
            if not (most >= 0 and math.isfinite(most)):
                raise InvalidInputError(f"budget: {measure} is {most!r}; it is a number from 0 up")


def first_of(*budgets: Budget) -> tuple[Budget, ...]:
    """Return budgets that hold together: the first that is spent decides what becomes of the run."""
    return budgets


def raised(budgets: tuple[Budget, ...], by: Budget) -> tuple[Budget, ...]:
    """Return budgets with what another one says in the place of what they said of the same measures.

    Args:
        budgets: those in force.
        by: the new limits; what it leaves out stays as it is.
    """
    said = {measure for measure, _ in by.limits()}
    left = [
        msgspec.structs.replace(
            budget,
            **dict.fromkeys(said),
            policy="" if by.policy and budget.policy == by.policy else budget.policy,
        )
        for budget in budgets
    ]
    return (*(budget for budget in left if budget.policy or any(budget.limits())), by)


class Reached(msgspec.Struct, frozen=True, gc=False):
    """A budget that is spent.

    Args:
        measure: what of it, or the name of its policy.
        why: in words.
        then: what becomes of the run.
    """

    measure: str
    why: str
    then: WhenSpent


def first_reached(
    budgets: tuple[Budget, ...],
    usage: Usage,
    policies: Mapping[str, Policy],
    *,
    begins_step: bool,
    begins_plan: bool,
    serves_replan: bool,
) -> Reached | None:
    """Return the first budget that does not allow for what comes next. Wall time passes by itself.

    Args:
        budgets: the budgets of the run.
        usage: what it has spent.
        policies: the engine's policies by name.
        begins_step: a step comes next.
        begins_plan: the planner is asked next.
        serves_replan: because another plan was asked for, which is counted already.
    """
    applies: Mapping[str, bool] = {
        "steps": begins_step,
        "replans": begins_plan and serves_replan,
        "tokens": begins_step or begins_plan,
        "cost": begins_step or begins_plan,
        "wall_time_s": True,
    }
    for budget in budgets:
        for measure, most in budget.limits():
            used: float = getattr(usage, measure)
            if applies[measure] and (used > most if measure == "replans" else used >= most):
                why = f"the budget of {most:g} {_UNITS[measure]} is spent ({used:g} used)"
                return Reached(measure, why, budget.then)
        if budget.policy and (begins_step or begins_plan):
            why = _judged(budget.policy, usage, policies)
            if why:
                return Reached(budget.policy, why, budget.then)
    return None


_UNITS: Final[Mapping[str, str]] = {
    "steps": "steps",
    "replans": "replans",
    "tokens": "tokens",
    "cost": "cost",
    "wall_time_s": "seconds of wall time",
}


def _judged(name: str, usage: Usage, policies: Mapping[str, Policy]) -> str:
    """Return what a policy says; one that is missing, or cannot tell, lets nothing more begin."""
    policy = policies.get(name)
    if policy is None:
        return f"the budget policy {name!r} is not registered with this engine"
    try:
        said: Any = policy(usage)
    except Exception as error:  # noqa: BLE001 - a boundary: a policy is code of the host
        return f"the budget policy {name!r} raised {type(error).__qualname__}: {error}"
    return f"the budget policy {name!r} says: {said}" if said else ""
