"""Conditions as bits: a state of knowledge is one integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


class Literals:
    """Gives every condition two bits: ``2i`` says it is true, ``2i + 1`` that it is false, neither: unknown.

    An unknown condition therefore satisfies nothing, neither a demand for true nor one for false.

    Args:
        names: the conditions; their order and repetitions do not matter.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(set(names)))
        self.size = 2 * len(self.names)
        self._index = {name: 2 * number for number, name in enumerate(self.names)}
        self._true_bits = sum(1 << index for index in self._index.values())

    def mask(self, values: Mapping[str, bool | None]) -> int:
        """Return the bits of some condition values; unknown ones have none."""
        bits = 0
        for name, value in values.items():
            if value is not None:
                bits |= 1 << self._index[name] + (not value)
        return bits

    def both(self, bits: int) -> int:
        """Return the true and the false bit of every condition that ``bits`` says something about."""
        either = (bits | bits >> 1) & self._true_bits
        return either | either << 1

    def value(self, name: str, bits: int) -> bool | None:
        """Return what ``bits`` says about a condition."""
        pair = bits >> self._index[name] & 3
        return None if pair == 0 else pair == 1

    def items(self, bits: int) -> Iterator[tuple[str, bool]]:
        """Yield name and value of every literal in ``bits``, by name."""
        for number in ones(bits & (1 << self.size) - 1):
            yield self.names[number >> 1], number & 1 == 0


def ones(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
