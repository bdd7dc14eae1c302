"""Undos as actions: what could be taken back before the first step, and what would be known then.

Operations are taken back before any step runs, newest first. So the standing ledger is walked from its newest
operation to its oldest, and each one is kept or undone. What is known of a condition is *decided* by the
first operation kept that says something about it; if there is none, its default holds. Two ways through the
ledger that decided the same at the same place have the same future and need to be searched only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .heuristic import Relaxed
from .literals import Literals, ones


class Standing(NamedTuple):
    """A standing operation.

    Args:
        operation: its key.
        tool: full name of its tool.
        post: bits it set.
        undo: full name of the tool that takes it back; empty if nothing can.
        weight: what taking it back costs, as an exact integer.
    """

    operation: str
    tool: str
    post: int
    undo: str = ""
    weight: int = 0


class Node(NamedTuple):
    """A state of the search.

    Args:
        bits: what is known, and above these bits one for each operation that may still be taken back
            usefully.
        position: the first standing operation that is not kept or undone yet; past the last once steps began.
        decided: bits that operations kept so far decided.
        undone: operations undone so far, if functions need to know.
    """

    bits: int
    position: int
    decided: int = 0
    undone: int = 0


class Opening:
    """The choices before the first step.

    Args:
        literals: names of bits.
        standing: the standing operations, newest first.
        wanted: bits that matter for the goal; the others are not kept.
        defaults: bits that hold where no operation says otherwise.
        constant: bits of conditions whose functions do not depend on what is undone.
        varying: both bits of the conditions whose functions do.
        sense: what these functions answer, given the keys of the operations that are undone.
    """

    def __init__(
        self,
        literals: Literals,
        standing: Iterable[Standing],
        *,
        wanted: int,
        defaults: int,
        constant: int,
        varying: int,
        sense: Callable[[frozenset[str]], int],
    ) -> None:
        self._literals = literals
        self._wanted = wanted
        self._defaults = defaults
        self._constant = constant
        self._varying = varying & literals.both(wanted)
        self._sense = sense
        self.standing = tuple(self._concerned(standing))
        self.end = len(self.standing)
        self._exposed = self._exposed_by_undos()
        self._useful = tuple(number for number in range(self.end) if self._exposed[number])

    def relaxed(self) -> list[Relaxed]:
        """Return the useful undos as the heuristic sees them."""
        return [
            Relaxed(self._permit(number), self._exposed[number], self.standing[number].weight)
            for number in self._useful
        ]

    @property
    def size(self) -> int:
        """Number of bits in use."""
        return self._literals.size + self.end

    def first(self) -> Node:
        """Return the state in which nothing has been kept or undone."""
        return self._node(0, 0, 0)

    def successors(self, node: Node) -> Iterator[tuple[int, Node]]:
        """Yield each operation that can be taken back next, and the state after that."""
        for number in self._useful:
            if number >= node.position:
                decided = self._decide(node.decided, node.position, number)
                undone = node.undone | 1 << number if self._varying else 0
                yield number, self._node(number + 1, decided, undone)

    def _node(self, position: int, decided: int, undone: int) -> Node:
        known = self._decide(decided, position, self.end)
        known |= self._defaults & ~self._literals.both(known) | self._constant
        if self._varying:
            known |= self._sense(frozenset(self.standing[number].operation for number in ones(undone)))
        known &= self._wanted
        settled = self._literals.both(decided)
        for number in self._useful:
            if number >= position and self._exposed[number] & ~settled:
                known |= self._permit(number)
        return Node(known, position, decided, undone)

    def _concerned(self, standing: Iterable[Standing]) -> Iterator[Standing]:
        """Yield the operations that say something about a wanted bit, and only what they say of those."""
        concerned = self._literals.both(self._wanted)
        for operation in standing:
            post = operation.post & concerned
            if post or (operation.undo and self._varying):
                yield operation._replace(post=post)

    def _decide(self, decided: int, start: int, end: int) -> int:
        for operation in self.standing[start:end]:
            decided |= operation.post & ~self._literals.both(decided)
        return decided

    def _permit(self, number: int) -> int:
        return 1 << self._literals.size + number

    def _exposed_by_undos(self) -> list[int]:
        """Return, for each operation, the wanted bits its undo could uncover, whatever else is undone."""
        exposed: list[int] = []
        below = self._defaults
        for operation in reversed(self.standing):
            covered = self._literals.both(operation.post)
            uncovered = (below & covered | self._varying) & ~operation.post & self._wanted
            exposed.append(uncovered if operation.undo else 0)
            below = (below if operation.undo else below & ~covered) | operation.post
        return exposed[::-1]
