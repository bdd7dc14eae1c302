"""Facts to stored records and back: every kind, and what cannot be written or read."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.facts import BY_TOPIC, FACTS, BoardUpdated, Fact, StepCompleted
from midcourse.domain.receipt import Receipt
from midcourse.store import GENESIS, CorruptRecordError, NewerRecordError, UnencodableError
from midcourse.store.chain import link
from midcourse.store.codec import decode, encode

from .helpers import STARTED, note

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def sample(kind: Any) -> Any:
    """Return some value of a type, with every field of a struct filled in."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return arguments[-1]
    if origin in (typing.Union, UnionType):
        return sample(arguments[0])
    if origin in (tuple, Sequence):
        return (sample(arguments[0]),)
    if origin is Mapping:
        return {"name": sample(arguments[1])}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = typing.get_type_hints(kind)
        return kind(**{name: sample(hints[name]) for name in kind.__struct_fields__})
    return {Any: [1, {"deep": None}], str: "text ä", int: 3, float: 1.5, bool: True}[kind]


def round_trip(fact: Fact) -> Fact:
    run_id, version, topic, state = encode("a", 0, GENESIS, [(1.0, "engine", 0, fact)]).parameters
    return decode(run_id, version, topic, state).fact


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: kind.topic)
def test_every_kind_of_fact_comes_back_as_it_was(kind: type[Fact]) -> None:
    fact = sample(kind)
    assert fact == round_trip(fact)


@given(json_values)
def test_any_json_value_comes_back_as_it_was(value: Any) -> None:
    assert note(x=value) == round_trip(note(x=value))


def test_what_is_stored_names_its_fields_and_leaves_out_defaults() -> None:
    encoded = encode("a", 4, "f" * 64, [(1790000000.25, "ada", 3, note(x=1))])

    assert encoded.parameters[:3] == ["a", 5, "board_updated"]
    assert (
        encoded.parameters[3]
        == b'{"schema":1,"at":1790000000.25,"actor":"ada","cause":3,"prev":"'
        + b"f" * 64
        + b'","data":{"values":{"x":1}}}'
    )
    assert (5, link("a", 5, "board_updated", encoded.parameters[3])) == (encoded.version, encoded.hash)


def test_each_record_holds_the_hash_of_the_one_before() -> None:
    encoded = encode("a", 0, GENESIS, [(1.0, "engine", 0, STARTED), (2.0, "engine", 1, note(x=1))])
    first = decode(*encoded.parameters[:4])
    second = decode(*encoded.parameters[4:])

    assert (GENESIS, first.hash) == (first.prev, second.prev)
    assert encoded.hash == second.hash


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        (note(a={"b": [1, 2, object()]}), r"BoardUpdated\.values\.a\.b\[2\] .* builtins\.object"),
        (note(a={(1, 2): 3}), r"BoardUpdated\.values\.a .*dict"),
        (note(a="\ud800"), r"BoardUpdated\.values\.a .*str .*surrogates"),
        (
            StepCompleted(step="s", operation="o", attempt=1, receipt=Receipt(result=[{1j}])),
            r"StepCompleted\.receipt\.result\[0\]\[0\] .*complex",
        ),
    ],
)
def test_what_cannot_be_written_is_named(fact: Fact, message: str) -> None:
    with pytest.raises(UnencodableError, match=message):
        encode("a", 0, GENESIS, [(1.0, "engine", 0, fact)])


def test_a_value_that_holds_itself_is_named() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(UnencodableError, match=r"BoardUpdated\.values\.a"):
        encode("a", 0, GENESIS, [(1.0, "engine", 0, note(a=loop))])


# ------------------------------------------------------------------------------------------------- reading


def stored(**fields: Any) -> bytes:
    record = {"schema": 1, "at": 1.0, "actor": "engine", "cause": 0, "prev": GENESIS, "data": {"values": {}}}
    return json.dumps(record | fields).encode()


def test_a_kind_from_a_newer_version() -> None:
    with pytest.raises(NewerRecordError, match=r"record 7 of run a \(moon_landed\).*Upgrade Midcourse"):
        decode("a", 7, "moon_landed", stored())


def test_a_shape_from_a_newer_version() -> None:
    with pytest.raises(NewerRecordError, match=r"has schema 2 of its kind, this version reads up to 1"):
        decode("a", 7, "board_updated", stored(schema=2))


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"key": "k1"}, "encrypted with key 'k1'"), ({"codec": "zstd"}, "compressed as 'zstd'")],
)
def test_a_record_that_is_sealed(fields: dict[str, str], message: str) -> None:
    with pytest.raises(NewerRecordError, match=message):
        decode("a", 7, "board_updated", stored(**fields))
    compact = json.dumps(json.loads(stored(**fields)), separators=(",", ":")).encode()
    with pytest.raises(NewerRecordError, match=message):
        decode("a", 7, "board_updated", compact)


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"nonsense",
        b'{"schema":1,"at":1.0',
        stored(data={"values": 3}),
        stored(data=[]),
        stored(at="yesterday"),
        stored(schema="one"),
        stored(schema=0),
        b'{"schema":1,"at":1.0,"actor":"engine","cause":0,"prev":"0","data":{"step":3,"values":{}}}',
    ],
)
def test_a_record_that_does_not_read_is_named(state: bytes) -> None:
    with pytest.raises(CorruptRecordError, match=r"record 7 of run a is damaged: .*audit verify"):
        decode("a", 7, "board_updated", state)


def test_fields_of_a_later_version_are_passed_over() -> None:
    state = stored(data={"values": {"x": 1}, "colour": "blue"}, mood="good")
    assert BoardUpdated(values={"x": 1}) == decode("a", 1, "board_updated", state).fact


def test_every_kind_has_one_topic() -> None:
    assert len(FACTS) == len(BY_TOPIC)
