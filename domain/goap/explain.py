"""Why a goal is out of reach, in words: what is missing, which tools would help, and what they wait for."""

from __future__ import annotations

from collections.abc import Mapping

from .literals import ones
from .problem import RESULT, Action, Problem, Situation

MAX_TOOLS = 5
"""Tools listed for one condition; the others are counted."""

MAX_CONDITIONS = 20
"""Conditions explained; further ones are left out."""

_WORDS = {True: "true", False: "false", None: "unknown"}


def described(values: Mapping[str, bool]) -> str:
    """Return a goal in few words, such as ``delivered, not charged``."""
    return ", ".join(name if value else f"not {name}" for name, value in values.items())


def why_unreachable(
    situation: Situation, problem: Problem, *, without: frozenset[str] = frozenset()
) -> list[str]:
    """Return why no plan reaches the goal of a problem whose every state has been looked at.

    The first clause is the reason; the others say what it hangs on.

    Args:
        situation: what the problem was made of.
        problem: the problem.
        without: tools that were left out of it.
    """
    explanation = _Explanation(situation, _reachable(problem), without)
    missing = problem.goal & ~explanation.reachable
    if not missing:
        why = (
            "each of these conditions can be reached, but no order of the tools makes all of them hold at "
            "once: what one brings about, another takes away"
        )
        return [why]
    for number in ones(missing):
        explanation.follow(number, ())
    return [*explanation.clauses, *explanation.circles]


def _reachable(problem: Problem) -> int:
    """Return all bits that could ever be set if nothing were ever taken away."""
    known = problem.first.bits
    while True:
        before = known
        for action in problem.relaxed:
            if known & action.pre == action.pre:
                known |= action.add
        if known == before:
            return known


class _Explanation:
    def __init__(self, situation: Situation, reachable: int, without: frozenset[str]) -> None:
        self.reachable = reachable
        self.clauses: list[str] = []
        self.circles: list[str] = []
        self._situation = situation
        self._without = without
        self._seen: set[int] = set()

    def follow(self, number: int, path: tuple[int, ...]) -> None:
        """Say why a bit cannot be set, then why what it waits for cannot."""
        if number in path:
            self._add_circle(path[path.index(number) :])
        if number in self._seen or len(self._seen) >= MAX_CONDITIONS:
            return
        self._seen.add(number)
        helpers = [action for action in self._situation.actions if action.add >> number & 1]
        shown = helpers[:MAX_TOOLS]
        reasons = [self._blocked(action) for action in shown]
        if len(helpers) > len(shown):
            reasons.append(f"{len(helpers) - len(shown)} more tools cannot run either")
        self.clauses.append(f"{self._cannot(number)}: {', and '.join(reasons or [self._no_tool(number)])}")
        for action in shown:
            if action.spec.name not in self._without:
                for missing in ones(action.pre & ~self.reachable):
                    self.follow(missing, (*path, number))

    def _literal(self, number: int) -> tuple[str, bool]:
        return next(self._situation.literals.items(1 << number))

    def _cannot(self, number: int) -> str:
        name, value = self._literal(number)
        if name.startswith(RESULT):
            return f"there cannot be a {name}"
        return f"{name} cannot become {_WORDS[value]}"

    def _blocked(self, action: Action) -> str:
        tool = action.spec.name
        if tool in self._without:
            return f"{tool} is left out of this plan"
        needs = [self._need(number) for number in ones(action.pre & ~self.reachable)]
        return f"{tool} needs {' and '.join(needs)}"

    def _need(self, number: int) -> str:
        name, value = self._literal(number)
        if name.startswith(RESULT):
            return f"the {name}"
        now = _WORDS[self._situation.literals.value(name, self._situation.now)]
        return f"{name} to be {_WORDS[value]} (it is {now})"

    def _no_tool(self, number: int) -> str:
        name, value = self._literal(number)
        lasting = [
            operation.tool
            for operation in self._situation.standing
            if not operation.undo and self._situation.literals.mask({name: not value}) & operation.post
        ]
        if lasting:
            return f"{lasting[0]} made it {_WORDS[not value]}, which cannot be undone, and no tool changes it"
        for spec in self._situation.specs:
            if self._situation.post(spec).get(name) is value:
                undone = self._situation.undo_of[spec.name]
                return f"only {spec.name} does that, which is there to take {undone} back, not to be a step"
        if name in self._situation.beliefs.computed:
            return f"no tool has it in its post, and its function says {_WORDS[self._now(name)]}"
        return (
            f"it is {_WORDS[self._now(name)]}, and no tool has it in its post; the board or the inputs may "
            "give it, or a function of the planner"
        )

    def _now(self, name: str) -> bool | None:
        return self._situation.literals.value(name, self._situation.now)

    def _add_circle(self, numbers: tuple[int, ...]) -> None:
        names = [self._literal(number)[0] for number in (*numbers, numbers[0])]
        circle = f"these wait for each other: {' → '.join(names)}"
        if circle not in self.circles:
            self.circles.append(circle)
