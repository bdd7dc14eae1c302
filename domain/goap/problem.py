"""A planning problem: tools as actions on bits, the goal, and what may be undone first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..planning import LedgerEntry, PlanningContext
from ..tools import ToolSpec
from .beliefs import Beliefs, Condition, standing
from .costs import Cost, costs_of_tools, weights
from .heuristic import LandmarkCut, Relaxed
from .inputs import sources, sources_of
from .literals import Literals
from .opening import Node, Opening, Standing

RESULT = "result of "
"""Prefix of the conditions that stand for the results templates refer to."""


class Action(NamedTuple):
    """A tool as an action: bits it needs, bits it sets, and its weight."""

    spec: ToolSpec
    pre: int
    add: int
    weight: int


class Move(NamedTuple):
    """One decision of a plan: a tool to call, or (without one) a standing operation to take back."""

    action: Action | None
    operation: str = ""


class Situation:
    """What is the same for every goal: conditions, actions, the standing ledger, costs.

    Args:
        context: the run as it is.
        goals: the goals that will be asked for.
        conditions: functions and declared values by condition.
        costs: costs computed from the state, by tool.
    """

    def __init__(
        self,
        context: PlanningContext,
        *,
        goals: Iterable[Mapping[str, bool]],
        conditions: Mapping[str, Condition],
        costs: Mapping[str, Cost],
    ) -> None:
        self.context = context
        self.specs = sorted(context.tools, key=lambda spec: spec.name)
        self.sources = sources(context.tools)
        self.undo_of = {spec.undo: spec.name for spec in self.specs if spec.undo}
        self.costs = costs_of_tools(context, costs)
        self._weights = weights(self.costs)
        named = {*conditions, *(name for goal in goals for name in goal)}
        for spec in self.specs:
            named.update(self.pre(spec), self.post(spec))
        self.literals = Literals(named)
        settable = {name for spec in self.specs for name, value in self.post(spec).items() if value}
        self.beliefs = Beliefs(context, conditions, settable)
        self.actions = [self._action(spec) for spec in self.specs if self.is_plannable(spec)]
        self.standing = [self._standing(entry) for entry in reversed(standing(context))]
        self._ask_functions()
        self.now = self.opening((1 << self.literals.size) - 1).first().bits

    def is_plannable(self, spec: ToolSpec) -> bool:
        """Whether a tool may be a step: it brings something about and is not there to undo another."""
        return spec.name not in self.undo_of and bool(self.post(spec))

    def pre(self, spec: ToolSpec) -> dict[str, bool]:
        """Return what must hold before a tool: its ``pre``, and the results its input refers to."""
        return {**spec.pre, **{RESULT + head: True for head in sources_of(spec, self.sources)}}

    def post(self, spec: ToolSpec) -> dict[str, bool]:
        """Return what holds after a tool: its ``post``, and that there is its result to refer to."""
        results = {RESULT + head: True for head, tools in self.sources.items() if spec.name in tools}
        return {**spec.post, **results}

    def opening(self, wanted: int) -> Opening:
        """Return the choices before the first step, as far as they concern the ``wanted`` bits."""
        return Opening(
            self.literals,
            self.standing,
            wanted=wanted,
            defaults=self._defaults,
            constant=self._constant,
            varying=self._varying,
            sense=self._sense,
        )

    def _ask_functions(self) -> None:
        """Ask once as things are and once with all undone; what differs will be asked for each case."""
        mask, both = self.literals.mask, self.literals.both
        undoable = frozenset(operation.operation for operation in self.standing if operation.undo)
        now, then = self.beliefs.functions(), self.beliefs.functions(without=undoable)
        self._vary = [name for name in now if now[name] is not then[name]]
        self._varying = both(mask(dict.fromkeys(self._vary, True)))
        self._constant = mask(now) & ~self._varying
        self.computed = both(mask(dict.fromkeys(now, True)))
        self.standing = [
            operation._replace(post=operation.post & ~self.computed) for operation in self.standing
        ]
        self._defaults = self.beliefs.defaults(self.literals) & ~self.computed
        self._answers = {frozenset[str](): mask(now) & self._varying}

    def _sense(self, undone: frozenset[str]) -> int:
        if undone not in self._answers:
            answers = self.beliefs.functions(without=undone)
            self._answers[undone] = self.literals.mask({name: answers[name] for name in self._vary})
        return self._answers[undone]

    def _action(self, spec: ToolSpec) -> Action:
        mask = self.literals.mask
        return Action(spec, mask(self.pre(spec)), mask(self.post(spec)), self._weights[spec.name])

    def _standing(self, entry: LedgerEntry) -> Standing:
        spec = self.context.tools.get(entry.tool)
        if spec is None:
            return Standing(entry.operation, entry.tool, 0)
        post = self.literals.mask(self.post(spec))
        if entry.effect != "reversible" or entry.takes_back or spec.undo not in self._weights:
            return Standing(entry.operation, entry.tool, post)
        return Standing(entry.operation, entry.tool, post, spec.undo, self._weights[spec.undo])


class Problem:
    """How to reach one goal with some of the tools.

    Args:
        situation: what is the same for every goal.
        goal: condition values wanted.
        without: full names of tools that may not be used.
    """

    def __init__(
        self, situation: Situation, goal: Mapping[str, bool], *, without: frozenset[str] = frozenset()
    ) -> None:
        self.goal = situation.literals.mask(goal)
        allowed = [action for action in situation.actions if action.spec.name not in without]
        self.wanted, self.actions = _relevant(allowed, self.goal)
        self.opening = situation.opening(self.wanted)
        self.first = self.opening.first()
        self.relaxed = [Relaxed(action.pre, action.add, action.weight) for action in self.actions]
        self.relaxed += self.opening.relaxed()
        self._cut = LandmarkCut(self.relaxed, goal=self.goal, size=self.opening.size)
        self._steps = [
            (
                action.pre,
                action.add & self.wanted,
                situation.literals.both(action.add),
                action.weight,
                Move(action),
            )
            for action in self.actions
        ]

    def is_reached(self, node: Node) -> bool:
        """Whether the goal holds."""
        return node.bits & self.goal == self.goal

    def estimate(self, node: Node) -> int | None:
        """Return a lower bound of the weight still to pay, ``None`` if the goal is out of reach."""
        return self._cut.estimate(node.bits)

    def successors(self, node: Node) -> Iterator[tuple[Move, int, Node]]:
        """Yield every possible next move with its weight and the state after it."""
        bits = node.bits
        for number, after in self.opening.successors(node):
            operation = self.opening.standing[number]
            yield Move(None, operation.operation), operation.weight, after
        end = self.opening.end
        known = bits & self.wanted
        for pre, add, touched, weight, move in self._steps:
            if bits & pre == pre and bits & add != add:
                yield move, weight, Node(known & ~touched | add, end)


def _relevant(actions: Iterable[Action], goal: int) -> tuple[int, list[Action]]:
    """Return the bits that may matter for a goal, and the actions that bring one of them about, in order."""
    wanted, rest, chosen = goal, list(actions), set[str]()
    while True:
        found = [action for action in rest if action.add & wanted]
        if not found:
            break
        chosen.update(action.spec.name for action in found)
        rest = [action for action in rest if not action.add & wanted]
        for action in found:
            wanted |= action.pre
    return wanted, [action for action in actions if action.spec.name in chosen]
