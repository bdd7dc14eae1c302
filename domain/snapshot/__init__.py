"""The state of a run as bytes and back, so that a long run need not be folded from its first fact.

What comes out is derived data, never the truth: facts are. It is written and read in pieces, so that neither
holds the host's loop for long. Pieces are made the same way every time: as a run grows, most of them stay
what they were, byte for byte, and need not be written again.

Layout: ``fields`` says how each field of the state is kept, ``parts`` and ``revisions`` have the ways
there are, ``pieces`` what they share.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import MidcourseError
from ..run import Run
from .fields import FIELDS, PARTS
from .pieces import Shelf, SnapshotError

__all__ = ["FIELDS", "SnapshotError", "Unpacking", "pack"]

_BY_NAME = {part.name: part for part in PARTS}


def pack(run: Run) -> Iterator[bytes]:
    """Yield the pieces of a run's state; it must not change meanwhile.

    Raises:
        SnapshotError: the state holds something that has no bytes, such as an integer beyond 64 bits.
    """
    shelf = Shelf()
    for part in PARTS:
        name = part.name.encode() + b"\0"
        try:
            for body in part.write(run, shelf):
                yield name + body
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise SnapshotError(f"{part.name} of run {run.id} cannot be kept: {error}") from error


class Unpacking:
    """Puts the pieces of a state together, in the order they were made in.

    Args:
        run_id: the run.

    Attributes:
        run: the state; it is whole after the last piece.
    """

    def __init__(self, run_id: str) -> None:
        self.run = Run(run_id)
        self._shelf = Shelf()

    def put(self, piece: bytes) -> None:
        """Put the next piece in.

        Raises:
            SnapshotError: it does not read as a piece of a state.
        """
        name, _, body = piece.partition(b"\0")
        part = _BY_NAME.get(name.decode("ascii", "replace"))
        if part is None:
            raise SnapshotError(f"there is no field {name!r} in the state of a run")
        try:
            part.read(self.run, body, self._shelf)
        except (ValueError, LookupError, TypeError, RecursionError, MidcourseError) as error:
            raise SnapshotError(f"{part.name} of run {self.run.id} does not read: {error}") from error
