"""Identities that are derived from content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain import ids
from midcourse.domain.errors import InvalidInputError
from midcourse.domain.plan import Plan, Step

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_canonical_json_has_sorted_keys_and_no_spaces() -> None:
    assert ids.canonical({"b": [1, {"d": 1, "c": 2}], "a": "ü"}) == '{"a":"ü","b":[1,{"c":2,"d":1}]}'.encode()


@given(JSON)
def test_what_is_read_back_has_the_same_digest(value: object) -> None:
    assert ids.digest(ids.plain(value)) == ids.digest(value)


@given(JSON)
def test_what_was_read_back_once_stays_as_it_is(value: object) -> None:
    assert ids.plain(ids.plain(value)) == ids.plain(value)


def test_a_plan_can_be_read_back_as_a_plan() -> None:
    plan = Plan([Step("A", "t", {"x": (1, 2)}, needs=["B"])], undo=["k"])
    assert ids.plain(plan, Plan) == Plan([Step("A", "t", {"x": [1, 2]}, needs=("B",))], ("k",))


@pytest.mark.parametrize("use", [ids.canonical, ids.plain, ids.digest])
def test_what_json_cannot_carry_is_an_error_that_says_so(use: object) -> None:
    with pytest.raises(InvalidInputError, match="not a JSON value"):
        use({"x": object()})  # type: ignore[operator]
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(InvalidInputError, match="not a JSON value"):
        use(endless)  # type: ignore[operator]


def test_digests_are_24_hex_digits() -> None:
    assert ids.digest([1]) == ids.digest_of(b"[1]")
    assert len(ids.digest([1])) == 24


def test_an_intent_depends_on_lineage_tool_and_identity() -> None:
    intents = {
        ids.intent(lineage, tool, identity)
        for lineage in ("a", "b")
        for tool in ("t", "u")
        for identity in (b"1", b"2")
    }
    assert len(intents) == 8
    assert all(intent.startswith(("t:", "u:")) for intent in intents)


def test_the_parts_of_an_intent_do_not_run_together() -> None:
    assert ids.intent("a", "bc", b"") != ids.intent("ab", "c", b"")


def test_keys() -> None:
    key = ids.operation_key("user__t:00", 12)
    assert key == "user__t:00.12"
    assert ids.split_key(key) == ("user__t:00", 12)
    assert ids.undo_key(key) == "undo/user__t:00.12"
    assert (ids.is_undo(key), ids.is_undo(ids.undo_key(key))) == (False, True)


@pytest.mark.parametrize("n", [0, 1, 9, 10, 100, 1010])
def test_every_number_of_an_operation_key_is_read_back(n: int) -> None:
    assert ids.split_key(ids.operation_key("user__t.0:00", n)) == ("user__t.0:00", n)


@given(st.floats(0, 2**37), st.floats(0, 2**37), st.integers(0), st.integers(0))
def test_run_ids_are_ordered_by_time(at: float, other: float, random: int, more: int) -> None:
    one, two = ids.run_id(at, random), ids.run_id(other, more)
    assert len(one) == len(two) == ids.RUN_ID_CHARACTERS
    if int(at * 1000) < int(other * 1000):
        assert one < two


def test_run_ids_of_one_moment_differ_by_their_random_part() -> None:
    assert ids.run_id(1.0, 1) != ids.run_id(1.0, 2)
    assert ids.run_id(1.0, 1) == ids.run_id(1.0, 1 + (1 << 32))
