"""The revisions that planners are shown: each may name as many steps as a plan has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..planning import RevisionEntry, StepSummary
from ..run import Run
from .pieces import Shelf, Texts, divided

_encode = msgspec.msgpack.Encoder().encode


class Revisions:
    """Revisions without their steps, each followed by pieces with them."""

    name = "revisions"
    _read = msgspec.msgpack.Decoder(RevisionEntry | tuple[str, Texts, Texts])

    def write(self, run: Run, shelf: Shelf) -> Iterator[bytes]:
        """Yield them, oldest first."""
        for entry in run.revisions:
            yield _encode(msgspec.structs.replace(entry, kept=(), added=(), superseded=()))
            yield from divided(entry.kept, lambda piece: _encode(("kept", shelf.put([*piece]), ())))
            for field in ("added", "superseded"):
                yield from _written(field, getattr(entry, field), shelf)

    def read(self, run: Run, body: bytes, shelf: Shelf) -> None:
        """Add a revision, or steps to the last one."""
        piece = self._read.decode(body)
        if isinstance(piece, RevisionEntry):
            run.revisions.append(piece)
            return
        field, ids, tools = piece
        more: Any = shelf.take(ids)
        if field != "kept":
            more = map(StepSummary, more, shelf.take(tools))
        last = run.revisions[-1]
        run.revisions[-1] = msgspec.structs.replace(last, **{field: (*getattr(last, field), *more)})


def _written(field: str, steps: tuple[StepSummary, ...], shelf: Shelf) -> Iterator[bytes]:
    return divided(
        steps,
        lambda piece: _encode(
            (field, shelf.put([step.id for step in piece]), shelf.put([step.tool_name for step in piece]))
        ),
    )
