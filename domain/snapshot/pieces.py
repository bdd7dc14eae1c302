"""Pieces of a state, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Protocol, TypeVar

from ..errors import MidcourseError
from ..run import Run

T = TypeVar("T")
Texts = list[str] | str
"""A list of texts, or the first text of an equal list before it."""

_ENTRIES = 384
"""Entries of a piece, unless they are large."""

_LARGE = 64 * 1024
"""Bytes from which a piece is divided."""


class SnapshotError(MidcourseError):
    """The state of a run has no bytes, or bytes are no state of a run: it has to be folded from its facts."""


class Shelf:
    """Lists of texts that were written or read before: many fields have the same keys in the same order."""

    def __init__(self) -> None:
        self._lists: dict[str, list[str]] = {}

    def put(self, texts: list[str]) -> Texts:
        """Return how a list is written."""
        if not texts:
            return texts
        before = self._lists.setdefault(texts[0], texts)
        return texts[0] if before is not texts and before == texts else texts

    def take(self, texts: Texts) -> list[str]:
        """Return the list that was written so."""
        if isinstance(texts, str):
            return self._lists[texts]
        if texts:
            self._lists.setdefault(texts[0], texts)
        return texts


class Part(Protocol):
    """Keeps a field of the state, or several."""

    @property
    def name(self) -> str:
        """Its name, by which its pieces are recognised."""
        ...

    def write(self, run: Run, shelf: Shelf, /) -> Iterator[bytes]:
        """Yield its pieces."""
        ...

    def read(self, run: Run, body: bytes, shelf: Shelf, /) -> None:
        """Put its next piece in."""
        ...


def divided(entries: Collection[T], write: Callable[[Sequence[T]], bytes]) -> Iterator[bytes]:
    """Yield entries in pieces of a number, or fewer if they are large; the same for the same entries."""
    rest = iter(entries)
    while piece := list(islice(rest, _ENTRIES)):
        yield from _halved(piece, write)


def _halved(entries: Sequence[T], write: Callable[[Sequence[T]], bytes]) -> Iterator[bytes]:
    body = write(entries)
    if len(body) <= _LARGE or len(entries) == 1:
        yield body
        return
    middle = len(entries) // 2
    yield from _halved(entries[:middle], write)
    yield from _halved(entries[middle:], write)
