"""The planners of an engine, by the names that runs remember."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ..domain.errors import InvalidInputError
from ..domain.planning import Planner
from .consultants import is_own
from .errors import UnknownPlannerError
from .planners.function import FunctionPlanner, PlanningFunction

AnyPlanner: TypeAlias = Planner | PlanningFunction

EPHEMERAL = "ephemeral/"
"""How the name of a planner begins that is lost with its engine."""


class Planners:
    """Planners by name.

    Args:
        given: planners, or callables of the context, by name.
        reviewers: those who review plans: none of them plans for a run.

    Attributes:
        by_name: all planners there are.
    """

    def __init__(self, given: Mapping[str, AnyPlanner], reviewers: Sequence[object] = ()) -> None:
        if not isinstance(given, Mapping):
            raise InvalidInputError(
                f"planners is {given!r}; hand them in by name: Engine(store, planners={{'orders': planner}})"
            )
        self._given = dict(given)
        self._reviewers = reviewers
        self.by_name = {name: _as_planner(name, each) for name, each in given.items()}
        self._numbers = itertools.count(1)

    @property
    def observers(self) -> frozenset[str]:
        """The names of the planners that say, by ``observes``, that they look again after every step."""
        return frozenset(name for name, each in self._given.items() if getattr(each, "observes", False))

    def choose(self, planner: str | AnyPlanner | None, *, has_plan: bool, ephemeral: bool) -> str:
        """Return the name of the planner a run is to ask; empty for none.

        Args:
            planner: its name, or itself; ``None`` for the only one there is.
            has_plan: the run has a plan, so it needs no planner.
            ephemeral: take a planner that is not registered.

        Raises:
            UnknownPlannerError: there is no such planner, or it is not said which one.
            InvalidInputError: it would review its own plans.
        """
        if planner is None:
            return "" if has_plan else self._only()
        if isinstance(planner, str):
            if planner not in self.by_name:
                raise UnknownPlannerError(f"there is no planner {planner!r} (registered: {self._known()})")
            return planner
        for name, each in self._given.items():
            if each == planner:
                return name
        if not ephemeral:
            raise UnknownPlannerError(
                f"planner {planner!r} is not registered, so the run could not be taken up after a restart: "
                "register it with Engine(planners={name: planner}), or say ephemeral=True "
                f"(registered: {self._known()})"
            )
        if any(is_own(planner, each) for each in self._reviewers):
            raise InvalidInputError(f"planner {planner!r} would review its own plans; name another")
        name = f"{EPHEMERAL}{next(self._numbers)}"
        self.by_name[name] = _as_planner(name, planner)
        return name

    def forget(self, name: str) -> None:
        """Let go of the planner of a run that has ended, if it was for that run alone."""
        if name.startswith(EPHEMERAL) and name not in self._given:
            self.by_name.pop(name, None)

    def _only(self) -> str:
        if len(self._given) == 1:
            return next(iter(self._given))
        raise UnknownPlannerError(
            f"say which planner to ask, or hand in a plan (registered: {self._known()})"
        )

    def _known(self) -> str:
        return ", ".join(sorted(self._given)) or "none"


def _as_planner(name: str, planner: AnyPlanner) -> Planner:
    if isinstance(planner, type):
        raise InvalidInputError(f"planner {name!r} is the class {planner.__qualname__}; hand in an instance")
    if hasattr(planner, "plan"):
        return planner
    if not callable(planner):
        raise InvalidInputError(
            f"planner {name!r} is {planner!r}; hand in a function, or an object with an async plan(context)"
        )
    return FunctionPlanner(planner, name=name)
