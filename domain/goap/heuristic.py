"""How much a goal costs at least: the landmark-cut heuristic.

Source: M. Helmert, C. Domshlak, "Landmarks, Critical Paths and Abstractions: What's the Difference Anyway?",
ICAPS 2009; its base is h_max of B. Bonet, H. Geffner, "Planning as Heuristic Search", AIJ 2001.

Why it is admissible: forget that actions make anything false or withdraw it. Every real plan still works
then, so the cheapest plan of this relaxed problem costs no more than the cheapest real one. A *landmark* is a
set of actions of which every relaxed plan holds at least one, so every plan pays at least the cheapest
member. Each round finds one: the actions that cross into the facts from which the goal costs nothing more.
Its cheapest member's cost is counted and taken off all its members, so no part of an action's cost is counted
twice. The sum over the rounds is therefore at most the cost of the cheapest relaxed plan.

h_max alone is admissible too, but sees only the dearest of several independent sub-goals; with twenty of them
the search would visit their 2^20 combinations. Here their costs add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .literals import ones


class Relaxed(NamedTuple):
    """An action as the heuristic sees it: bits it needs, bits it adds, and its weight."""

    pre: int
    add: int
    weight: int


class _Tables(NamedTuple):
    """The relaxed problem, by action and by fact. The goal is an action too: it adds the last fact."""

    pre: list[list[int]]
    add: list[list[int]]
    needed_by: list[list[int]]
    added_by: list[list[int]]
    weights: list[int]
    unreached: int


class LandmarkCut:
    """Estimates from below what a goal costs.

    Args:
        actions: all actions that can help.
        goal: bits that must be set in the end.
        size: number of bits in use.
    """

    def __init__(self, actions: Sequence[Relaxed], *, goal: int, size: int) -> None:
        start, self._goal = size, size + 1
        self._start = 1 << start
        pre = [list(ones(action.pre)) or [start] for action in actions] + [list(ones(goal)) or [start]]
        add = [list(ones(action.add)) for action in actions] + [[self._goal]]
        weights = [action.weight for action in actions] + [0]
        self._tables = _Tables(
            pre, add, _turned(pre, size + 2), _turned(add, size + 2), weights, sum(weights) + 1
        )

    def estimate(self, bits: int) -> int | None:
        """Return a lower bound of the cost from ``bits`` to the goal, ``None`` if there is no way at all."""
        known = list(ones(bits | self._start))
        exploration = _Exploration(self._tables, known)
        if exploration.value[self._goal] >= self._tables.unreached:
            return None
        total = 0
        while exploration.value[self._goal]:
            cut = self._cut(exploration, known)
            least = min(exploration.weights[action] for action in cut)
            total += least
            exploration.cheapen(cut, least)
        return total

    def _cut(self, exploration: _Exploration, known: Sequence[int]) -> list[int]:
        """Return a landmark: the actions that lead from what is known into the goal's zone."""
        zone = self._goal_zone(exploration)
        supporter = exploration.supporter
        cut: list[int] = []
        reached = set(known)
        todo = list(known)
        while todo:
            fact = todo.pop()
            for action in self._tables.needed_by[fact]:
                if supporter[action] != fact:
                    continue
                added = self._tables.add[action]
                if not zone.isdisjoint(added):
                    cut.append(action)
                    continue
                todo.extend(new for new in added if new not in reached)
                reached.update(added)
        return cut

    def _goal_zone(self, exploration: _Exploration) -> set[int]:
        """Return the facts from which the goal is reached for nothing, along the dearest preconditions."""
        zone = {self._goal}
        todo = [self._goal]
        while todo:
            for action in self._tables.added_by[todo.pop()]:
                supporter = exploration.supporter[action]
                if supporter >= 0 and not exploration.weights[action] and supporter not in zone:
                    zone.add(supporter)
                    todo.append(supporter)
        return zone


class _Exploration:
    """h_max of every fact, kept up to date while weights shrink.

    ``supporter`` is the dearest precondition of each action, -1 if the action cannot be reached.
    """

    def __init__(self, tables: _Tables, known: Sequence[int]) -> None:
        self._pre, self._add, self._needed_by = tables.pre, tables.add, tables.needed_by
        self.weights = tables.weights.copy()
        self.value = [tables.unreached] * len(tables.needed_by)
        self.supporter = [-1] * len(self._pre)
        for fact in known:
            self.value[fact] = 0
        self._explore([(0, fact) for fact in known])

    def _explore(self, queue: list[tuple[int, int]]) -> None:
        missing = [len(facts) for facts in self._pre]
        heapify(queue)
        while queue:
            value, fact = heappop(queue)
            if value > self.value[fact]:
                continue
            for action in self._needed_by[fact]:
                missing[action] -= 1
                if not missing[action]:
                    self.supporter[action] = fact
                    self._lower(action, value, queue)

    def cheapen(self, actions: Sequence[int], by: int) -> None:
        """Take ``by`` off the weight of some actions and lower what follows from it."""
        queue: list[tuple[int, int]] = []
        for action in actions:
            self.weights[action] -= by
            self._lower(action, self.value[self.supporter[action]], queue)
        while queue:
            value, fact = heappop(queue)
            if value > self.value[fact]:
                continue
            for action in self._needed_by[fact]:
                if self.supporter[action] == fact:
                    dearest = max(self._pre[action], key=self.value.__getitem__)
                    self.supporter[action] = dearest
                    self._lower(action, self.value[dearest], queue)

    def _lower(self, action: int, needed: int, queue: list[tuple[int, int]]) -> None:
        cost = needed + self.weights[action]
        for fact in self._add[action]:
            if cost < self.value[fact]:
                self.value[fact] = cost
                heappush(queue, (cost, fact))


def _turned(facts_of: Sequence[Sequence[int]], facts: int) -> list[list[int]]:
    """Return the actions of each fact, given the facts of each action."""
    actions_of: list[list[int]] = [[] for _ in range(facts)]
    for action, members in enumerate(facts_of):
        for fact in members:
            actions_of[fact].append(action)
    return actions_of
