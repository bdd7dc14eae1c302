"""Facts to stored records and back.

A stored record is one JSON text, readable with any SQLite shell::

    {"schema":1,"at":1790000000.25,"actor":"engine","cause":3,"prev":"<64 hex digits>","data":{…}}

Run, version and topic are columns beside it. ``key`` (id of the key the data is encrypted with) and
``codec`` (how it is compressed) have their place before ``data`` and are left out while data is neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from ..domain.engine_facts import BY_TOPIC as ENGINE_FACTS
from ..domain.facts import BY_TOPIC, Fact
from ..domain.schedules.facts import BY_TOPIC as SCHEDULE_FACTS
from .chain import link
from .errors import CorruptRecordError, NewerRecordError, UnencodableError
from .index import RunIndex
from .record import Record
from .upcast import UPCASTERS, upcast

T = TypeVar("T")


class Envelope(msgspec.Struct, Generic[T], frozen=True, gc=False, omit_defaults=True, kw_only=True):
    """The stored JSON object around a fact's data."""

    schema: int
    at: float
    actor: str
    cause: int
    prev: str
    key: str = ""
    codec: str = ""
    data: T


class _Stored(msgspec.Struct, frozen=True, gc=False):
    """An `Envelope` as it is written: without what sets a sealed one apart, and made by position."""

    schema: int
    at: float
    actor: str
    cause: int
    prev: str
    data: Fact


_ENCODING_ERRORS = (TypeError, ValueError, RecursionError, msgspec.MsgspecError)

_encode = msgspec.json.Encoder().encode
_decode_raw = msgspec.json.Decoder(Envelope[msgspec.Raw]).decode
_decode_any = msgspec.json.Decoder(Envelope[dict[str, Any]]).decode


class Encoded(msgspec.Struct, frozen=True, gc=False):
    """Entries ready to be stored.

    Args:
        parameters: run id, version, topic and state of each record, one after the other.
        version: version of the last record.
        hash: hash of the last record.
    """

    parameters: list[Any]
    version: int
    hash: str


def encode(run_id: str, version: int, prev: str, entries: Sequence[tuple[float, str, int, Fact]]) -> Encoded:
    """Return the records that continue a run.

    Args:
        run_id: the run.
        version: version of the record they follow; 0 for a new run.
        prev: hash of the record they follow.
        entries: (at, actor, cause, fact) of each.

    Raises:
        UnencodableError: a fact holds something JSON cannot carry.
    """
    parameters: list[Any] = []
    for at, actor, cause, fact in entries:
        version += 1
        try:
            state = _encode(_Stored(fact.schema, at, actor, cause, prev, fact))
        except _ENCODING_ERRORS as error:
            raise unencodable(fact, error) from error
        topic = fact.topic
        prev = link(run_id, version, topic, state)
        parameters += (run_id, version, topic, state)
    return Encoded(parameters, version, prev)


def check_index(index: RunIndex) -> None:
    """Refuse an index row that cannot be written: it would fail the appends beside it.

    Raises:
        UnencodableError: it holds something other than JSON values.
    """
    try:
        _encode(index)
    except _ENCODING_ERRORS as error:
        raise unencodable(index, error) from error


def unencodable(fact: msgspec.Struct, error: BaseException) -> UnencodableError:
    """Return an error that says where in a fact or an index row the value is that cannot be written."""
    path, found = _find(fact, "", 0) or ("", f"{error}")
    return UnencodableError(type(fact).__name__, path.lstrip("."), found)


_DEEPEST = 200


def _find(value: Any, path: str, depth: int) -> tuple[str, str] | None:
    """Find the innermost part that cannot be encoded by itself."""
    if depth > _DEEPEST:
        return path, f"it is nested deeper than {_DEEPEST} levels, or holds itself"
    try:
        _encode(value)
    except _ENCODING_ERRORS as error:
        for name, part in _parts(value):
            inner = _find(part, path + name, depth + 1)
            if inner is not None:
                return inner
        return path, f"a value of type {type(value).__module__}.{type(value).__qualname__} ({error})"
    return None


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, msgspec.Struct):
        return [(f".{name}", getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, Mapping):
        return [(f".{name}", part) for name, part in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    return []


def _kind(topic: str) -> type[Fact]:
    """Return the fact of a topic, of a run, a schedule or an engine."""
    return SCHEDULE_FACTS.get(topic) or ENGINE_FACTS.get(topic) or BY_TOPIC[topic]


class _Readers(dict[str, tuple[Callable[[bytes], Any], bytes]]):
    """By topic: a decoder of the present shape, and how a record of the present shape begins."""

    def __missing__(self, topic: str) -> tuple[Callable[[bytes], Any], bytes]:
        fact = _kind(topic)
        reader = (msgspec.json.Decoder(Envelope[fact]).decode, b'{"schema":%d,' % fact.schema)  # type: ignore[valid-type]
        self[topic] = reader
        return reader


_readers = _Readers()


def decode(run_id: str, version: int, topic: str, state: bytes, position: int = 0) -> Record:
    """Return a stored row as a record, its fact in its present shape.

    Raises:
        NewerRecordError: the code is too old for it.
        CorruptRecordError: it does not read as what it says it is.
    """
    try:
        read, beginning = _readers[topic]
        if not state.startswith(beginning):
            return _decode_retired(run_id, version, topic, state, position)
        envelope = read(state)
    except KeyError:
        raise NewerRecordError(
            run_id, version, topic, f"is of a kind, {topic!r}, this version does not know"
        ) from None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise CorruptRecordError(run_id, version, f"as {topic} it does not read: {error}") from error
    if envelope.key or envelope.codec:
        raise _sealed(run_id, version, topic, envelope)
    return Record(
        run_id,
        version,
        envelope.at,
        envelope.actor,
        envelope.cause,
        envelope.data,
        envelope.prev,
        topic,
        state,
        position,
    )


def _sealed(run_id: str, version: int, topic: str, envelope: Envelope[Any]) -> NewerRecordError:
    how = f"encrypted with key {envelope.key!r}" if envelope.key else f"compressed as {envelope.codec!r}"
    return NewerRecordError(run_id, version, topic, f"is {how}, which this version does not read")


def _decode_retired(run_id: str, version: int, topic: str, state: bytes, position: int) -> Record:
    """Decode a record whose schema number is not the present one, or is not where it is expected."""
    fact = _kind(topic)
    raw = _decode_raw(state)
    if raw.schema > fact.schema:
        known = f"has schema {raw.schema} of its kind, this version reads up to {fact.schema}"
        raise NewerRecordError(run_id, version, topic, known)
    if raw.key or raw.codec:
        raise _sealed(run_id, version, topic, raw)
    try:
        data = upcast(topic, raw.schema, _decode_any(state).data, present=fact.schema, upcasters=UPCASTERS)
        present = msgspec.convert(data, fact)
    except (LookupError, TypeError, AttributeError) as error:
        what = f"as {topic} in schema {raw.schema} it does not read: {error}"
        raise CorruptRecordError(run_id, version, what) from error
    return Record(run_id, version, raw.at, raw.actor, raw.cause, present, raw.prev, topic, state, position)
