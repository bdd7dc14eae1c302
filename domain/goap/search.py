"""A* over what is known: the cheapest sequence of moves that reaches a goal.

Source of the idea: J. Orkin, "Three States and a Plan: The A.I. of F.E.A.R.", GDC 2006 (goal-oriented action
planning: actions with conditions, effects and costs, searched by A* while the program runs). A* is optimal
because the estimate never exceeds the true cost; as the estimate is not consistent, states are opened again
when a cheaper way to them turns up.

The same problem always gives the same plan: weights are exact integers, ties go to the smaller estimate, then
to the state found last, whose moves are tried by name of the tool.
"""

from __future__ import annotations

from collections.abc import Generator
from heapq import heappop, heappush
from typing import NamedTuple

from .opening import Node
from .problem import Move, Problem


class Outcome(NamedTuple):
    """How a search ended.

    Args:
        moves: the plan, each move with the bits known before it; ``None`` if there is none.
        visited: states that were looked at.
        exhausted: every state was looked at; if not, and there is no plan, the limit was reached.
    """

    moves: tuple[tuple[int, Move], ...] | None
    visited: int
    exhausted: bool


class _Waiting(NamedTuple):
    """A state in the queue, in the order of the queue."""

    total: int
    estimate: int
    order: int
    weight: int
    node: Node
    is_exact: bool


def search(problem: Problem, *, node_limit: int) -> Generator[None, None, Outcome]:
    """Look for the cheapest plan, of equally cheap ones the shortest; yield after each state looked at.

    A state inherits the estimate of the state before it, less the weight of the move, and gets its own only
    when its turn comes: most never need one.

    Args:
        problem: what to solve.
        node_limit: states to look at before giving up.

    Returns:
        The outcome.
    """
    best: dict[Node, int] = {problem.first: 0}
    came_by: dict[Node, tuple[Node, Move]] = {}
    queue = [_Waiting(0, 0, 0, 0, problem.first, is_exact=False)]
    order = visited = 0
    while queue:
        waiting = heappop(queue)
        node, weight = waiting.node, waiting.weight
        if weight > best[node]:
            continue
        if problem.is_reached(node):
            return Outcome(_way_to(node, came_by), visited, exhausted=False)
        if visited >= node_limit:
            return Outcome(None, visited, exhausted=False)
        if not waiting.is_exact:
            visited += 1
            yield
            estimate = problem.estimate(node)
            if estimate is None:
                continue
            estimate = max(estimate, waiting.estimate)
            if weight + estimate > waiting.total:
                order -= 1
                heappush(queue, _Waiting(weight + estimate, estimate, order, weight, node, is_exact=True))
                continue
            waiting = waiting._replace(estimate=estimate)
        for move, step, after in reversed(list(problem.successors(node))):
            reached = weight + step
            if reached < best.get(after, reached + 1):
                best[after] = reached
                came_by[after] = (node, move)
                estimate = max(waiting.estimate - step, 0)
                order -= 1
                heappush(queue, _Waiting(reached + estimate, estimate, order, reached, after, is_exact=False))
    return Outcome(None, visited, exhausted=True)


def _way_to(node: Node, came_by: dict[Node, tuple[Node, Move]]) -> tuple[tuple[int, Move], ...]:
    moves: list[tuple[int, Move]] = []
    while node in came_by:
        node, move = came_by[node]
        moves.append((node.bits, move))
    return tuple(reversed(moves))
