"""Objects that hold no template, seen at a glance."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.templates import is_literal, is_plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, True),
        ({"a": 1, "b": None, "c": 1.5, "d": True, "e": "text"}, True),
        ({"a": "{{E0}}"}, False),
        ({"a": 1, "b": "say {{ input.name }}"}, False),
        ({"a": []}, False),
        ({"a": {"b": "{{E0}}"}}, False),
    ],
)
def test_a_plain_object_holds_scalars_and_texts_without_templates(value: Any, expected: bool) -> None:
    assert is_plain(value) is expected
    assert is_literal(value) or not expected
