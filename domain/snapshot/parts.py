"""The ways in which fields of a state are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby, repeat
from typing import Any, Generic, TypeVar

import msgspec

from ..control import CONTROLS, as_control
from ..frames import ControlRun, Frame
from ..plan import Plan
from ..run import Run
from .pieces import Shelf, SnapshotError, Texts, divided

S = TypeVar("S", bound=msgspec.Struct)

_encode = msgspec.msgpack.Encoder().encode


def _texts_or(type_: Any) -> Any:
    return Texts if type_ is str else list[type_]


class Values:
    """Single values, all in one piece.

    Args:
        types: the type of each, by field.
    """

    name = "values"

    def __init__(self, types: Mapping[str, Any]) -> None:
        self._decoders = {field: msgspec.msgpack.Decoder(type_) for field, type_ in types.items()}
        self._read = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])

    def write(self, run: Run, _shelf: Shelf) -> Iterator[bytes]:
        """Yield the one piece."""
        yield _encode({field: getattr(run, field) for field in self._decoders})

    def read(self, run: Run, body: bytes, _shelf: Shelf) -> None:
        """Set each."""
        raw = self._read.decode(body)
        for field, decoder in self._decoders.items():
            setattr(run, field, decoder.decode(raw[field]))


class Outcome:
    """What a run ended with, whose type its end says.

    Args:
        failure: the type of a failure.
    """

    name = "outcome"

    def __init__(self, failure: type[Any]) -> None:
        self._failure = failure

    def write(self, run: Run, _shelf: Shelf) -> Iterator[bytes]:
        """Yield the one piece."""
        yield _encode(run.outcome)

    def read(self, run: Run, body: bytes, _shelf: Shelf) -> None:
        """Set it; how the run ended is known before."""
        run.outcome = msgspec.msgpack.decode(body, type=self._failure if run.final == "failed" else Any)


class Entries:
    """A dict by text.

    Args:
        name: the field.
        type_: the type of a value.
    """

    def __init__(self, name: str, type_: Any) -> None:
        self.name = name
        self._of_texts = type_ is str
        values: Any = _texts_or(type_)
        self._read = msgspec.msgpack.Decoder(tuple[Texts, values])

    def write(self, run: Run, shelf: Shelf) -> Iterator[bytes]:
        """Yield its entries, in order."""

        def write(entries: Sequence[tuple[str, Any]]) -> bytes:
            keys, values = shelf.put([key for key, _ in entries]), [value for _, value in entries]
            return _encode((keys, shelf.put(values) if self._of_texts else values))

        return divided(getattr(run, self.name).items(), write)

    def read(self, run: Run, body: bytes, shelf: Shelf) -> None:
        """Add entries."""
        keys, values = self._read.decode(body)
        keys = shelf.take(keys)
        getattr(run, self.name).update(
            zip(keys, shelf.take(values) if self._of_texts else values, strict=True)
        )


class Members:
    """A list, a deque, or a set of what can be sorted.

    Args:
        name: the field.
        type_: the type of a member.
    """

    def __init__(self, name: str, type_: Any) -> None:
        self.name = name
        self._of_texts = type_ is str
        self._read = msgspec.msgpack.Decoder(_texts_or(type_))

    def write(self, run: Run, shelf: Shelf) -> Iterator[bytes]:
        """Yield its members, in order; those of a set sorted."""
        members = getattr(run, self.name)
        members = sorted(members) if isinstance(members, set) else members
        return divided(members, lambda piece: _encode(shelf.put([*piece]) if self._of_texts else piece))

    def read(self, run: Run, body: bytes, shelf: Shelf) -> None:
        """Add members."""
        members, more = getattr(run, self.name), self._read.decode(body)
        add = members.update if isinstance(members, set) else members.extend
        add(shelf.take(more) if self._of_texts else more)


class Mail:
    """Lists by text, whose lists are no plain ones.

    Args:
        name: the field.
        type_: the type of a member.
        make: makes such a list.
    """

    def __init__(self, name: str, type_: Any, make: Callable[[list[Any]], Any]) -> None:
        self.name = name
        self._make = make
        self._read = msgspec.msgpack.Decoder(list[tuple[str, list[type_]]])

    def write(self, run: Run, _shelf: Shelf) -> Iterator[bytes]:
        """Yield its lists, in order."""
        lists = [(key, list(members)) for key, members in getattr(run, self.name).items()]
        return divided(lists, _encode)

    def read(self, run: Run, body: bytes, _shelf: Shelf) -> None:
        """Add lists."""
        getattr(run, self.name).update((key, self._make(each)) for key, each in self._read.decode(body))


class Rows(Generic[S]):
    """A dict of structs by text, column by column: a column that says the same of all is kept once.

    A column is ``None`` where it has the keys, and empty where it has the default of its field.

    Args:
        name: the field.
        type_: the struct; its fields can be given by position.
        varied: fields that are never kept once, because equal values of theirs may differ (``1``, ``1.0``).
    """

    def __init__(self, name: str, type_: type[S], varied: Collection[str]) -> None:
        self.name = name
        self._make = type_
        fields = msgspec.structs.fields(type_)
        self._fields = [(field.name, field.name in varied, field.default) for field in fields]
        columns: Any = tuple(list[field.type] | None for field in fields)  # type: ignore[name-defined]
        self._read = msgspec.msgpack.Decoder(tuple[Texts, tuple[columns]])

    def write(self, run: Run, shelf: Shelf) -> Iterator[bytes]:
        """Yield its entries, in order."""
        return divided(getattr(run, self.name).items(), lambda entries: self._columns(entries, shelf))

    def _columns(self, entries: Sequence[tuple[str, S]], shelf: Shelf) -> bytes:
        keys, rows = [key for key, _ in entries], [row for _, row in entries]
        if any(row.__class__ is not self._make for row in rows):
            raise SnapshotError(f"{self.name} holds something else than {self._make.__name__}")
        columns: list[list[Any] | None] = []
        for field, is_varied, default in self._fields:
            column = [getattr(row, field) for row in rows]
            if column == keys:
                columns.append(None)
            elif all(value is default for value in column):
                columns.append([])
            elif not is_varied and column.count(column[0]) == len(column):
                columns.append(column[:1])
            else:
                columns.append(column)
        return _encode((shelf.put(keys), columns))

    def read(self, run: Run, body: bytes, shelf: Shelf) -> None:
        """Add entries."""
        texts, columns = self._read.decode(body)
        keys = shelf.take(texts)
        given = [*columns]
        while given[-1] == []:
            given.pop()
        full = [
            keys if column is None else column if len(column) == len(keys) else self._same(column, place)
            for place, column in enumerate(given)
        ]
        getattr(run, self.name).update(zip(keys, map(self._make, *full), strict=True))

    def _same(self, column: list[Any], place: int) -> Iterator[Any]:
        return repeat(column[0] if column else self._fields[place][2])


class Borrowed:
    """A dict by text whose values are the very ones that another field has.

    Args:
        name: the field.
        lend: returns what another field of a run has under keys, or raises a `KeyError`.
        type_: the type of values that are its own; ``None`` if there must be none, because a change of the
            one is meant to be a change of the other.
    """

    def __init__(self, name: str, lend: Callable[[Run, list[str]], list[Any]], type_: Any = None) -> None:
        self.name = name
        self._lend = lend
        self._has_own = type_ is not None
        self._read = msgspec.msgpack.Decoder(tuple[Texts, dict[str, type_]])

    def write(self, run: Run, shelf: Shelf) -> Iterator[bytes]:
        """Yield its keys, in order, and the values that are its own."""

        def write(entries: Sequence[tuple[str, Any]]) -> bytes:
            own = {key: value for key, value in entries if not self._is_lent(run, key, value)}
            if own and not self._has_own:
                raise SnapshotError(f"{self.name} of run {run.id} has a value of its own: {next(iter(own))}")
            return _encode((shelf.put([key for key, _ in entries]), own))

        return divided(getattr(run, self.name).items(), write)

    def _is_lent(self, run: Run, key: str, value: Any) -> bool:
        try:
            return self._lend(run, [key])[0] is value
        except KeyError:
            return False

    def read(self, run: Run, body: bytes, shelf: Shelf) -> None:
        """Add entries; what lends them is there already."""
        texts, own = self._read.decode(body)
        keys, entries = shelf.take(texts), getattr(run, self.name)
        if own:
            entries.update((key, own[key] if key in own else self._lend(run, [key])[0]) for key in keys)
        else:
            entries.update(zip(keys, self._lend(run, keys), strict=True))


class Frames:
    """Bodies by step: the steps of one body share it, and stand next to each other."""

    name = "frame_of"
    _read = msgspec.msgpack.Decoder(list[tuple[Frame, list[str]]])

    def write(self, run: Run, _shelf: Shelf) -> Iterator[bytes]:
        """Yield bodies with their steps."""
        grouped = groupby(run.frame_of.items(), key=lambda entry: id(entry[1]))
        entries = [list(group) for _, group in grouped]
        bodies = [(group[0][1], [step for step, _ in group]) for group in entries]
        if len({id(frame) for frame, _ in bodies}) < len(bodies):
            raise SnapshotError(f"the steps of a body of run {run.id} are not next to each other")
        return divided(bodies, _encode)

    def read(self, run: Run, body: bytes, _shelf: Shelf) -> None:
        """Add bodies."""
        for frame, steps in self._read.decode(body):
            run.frame_of.update((step, frame) for step in steps)


class Controls:
    """Control steps that run bodies; what they were read from is in their steps."""

    name = "controls"
    _read = msgspec.msgpack.Decoder(list[tuple[str, ControlRun]])

    def write(self, run: Run, _shelf: Shelf) -> Iterator[bytes]:
        """Yield them, in order."""
        controls = [
            (step, msgspec.structs.replace(control, control=None) if control.tool in CONTROLS else control)
            for step, control in run.controls.items()
        ]
        return divided(controls, _encode)

    def read(self, run: Run, body: bytes, _shelf: Shelf) -> None:
        """Add control steps; their steps are there already."""
        for step, control in self._read.decode(body):
            if control.tool in CONTROLS:
                control.control = as_control(control.tool, run.steps[step].input)
            else:
                control.control = msgspec.convert(control.control, Plan)
            run.controls[step] = control
