"""Inputs that hold no template are found to be literal, whatever is in them."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.templates import Template, compile_value


@pytest.mark.parametrize(
    "value", [{}, {"a": 1, "b": None, "c": 1.5, "d": True, "e": "text"}, {"a": []}, {"a": {"b": "{ {x}}"}}]
)
def test_an_object_without_templates_is_the_object_itself(value: Any) -> None:
    assert compile_value(value) is value


@pytest.mark.parametrize(
    "value", [{"a": "{{E0}}"}, {"a": 1, "b": "say {{ input.name }}"}, {"a": {"b": ["{{E0}}"]}}]
)
def test_an_object_with_a_template_is_compiled(value: Any) -> None:
    assert isinstance(compile_value(value), Template)
