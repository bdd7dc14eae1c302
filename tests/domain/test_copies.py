"""Copies of JSON values."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.copies import copied


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", [], {}, [[1], {"a": [{"b": None}]}], {"a": {}}])
def test_a_copy_is_equal(value: Any) -> None:
    assert copied(value) == value


def test_a_copy_shares_nothing_that_can_be_changed() -> None:
    value: Any = {"a": [{"b": [1]}], "c": {"d": {}}}
    copy = copied(value)
    copy["a"][0]["b"].append(2)
    copy["a"].append(3)
    copy["c"]["d"]["e"] = 4
    copy["f"] = 5
    assert value == {"a": [{"b": [1]}], "c": {"d": {}}}


def test_a_tuple_becomes_an_array_as_it_will_be_read_back() -> None:
    assert copied({"a": (1, ({},))}) == {"a": [1, [{}]]}


def test_a_value_may_be_deeper_than_the_stack() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    copy, depth = copied(value), 0
    while copy:
        copy, depth = copy[0], depth + 1
    assert depth == 100_000


def test_a_scalar_among_containers_stays_what_it_is() -> None:
    value: Any = {"a": [1, True, 1.0, None, "b"], "c": [[]]}
    copy = copied(value)
    assert copy == value
    assert [type(each) for each in copy["a"]] == [int, bool, float, type(None), str]
    assert copy["c"][0] is not value["c"][0]
