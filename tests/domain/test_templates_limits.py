"""What the template language refuses, so that no template overflows a stack or runs without end."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.templates import BadPath, TemplateSyntaxError, compile_value, is_literal, render

SCOPE = {"E0": {"name": "Core", "open": True}}


def rendered(value: Any, scope: dict[str, Any]) -> Any:
    return render(compile_value(value), scope)


def nested(levels: int, leaf: Any) -> Any:
    value = leaf
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


@pytest.mark.parametrize("leaf", ["plain", "{{E0.name}}"])
def test_values_nested_too_deep_are_refused(leaf: str) -> None:
    with pytest.raises(TemplateSyntaxError, match="nested more than 100 levels deep; flatten it"):
        compile_value(nested(1000, leaf))
    assert (leaf == "plain") == is_literal(nested(1000, leaf))
    assert nested(100, "Core") == rendered(nested(100, "{{E0.name}}"), SCOPE)


def test_sections_nested_too_deep_are_refused() -> None:
    with pytest.raises(TemplateSyntaxError, match="nested more than 50 levels deep; flatten them"):
        compile_value("{{#E0.open}}" * 1000 + "x" + "{{/E0.open}}" * 1000)
    assert rendered("{{#E0.open}}" * 50 + "x" + "{{/E0.open}}" * 50, SCOPE) == "x"


def test_long_paths_and_deep_data_are_no_problem() -> None:
    scope = {"E0": nested(1000, "leaf")}
    path = ".".join(["E0", *(["0", "k"] * 500)])
    assert rendered(f"{{{{{path}}}}}", scope) == "leaf"


def test_deep_data_cannot_become_text() -> None:
    with pytest.raises(
        BadPath, match=r"bad path 'E0': the value cannot be written as text: maximum recursion"
    ):
        rendered("x {{E0}}", {"E0": nested(100_000, "leaf")})


def test_sections_that_multiply_without_end_are_stopped() -> None:
    template = "{{#E0.a}}" * 40 + "{{/E0.a}}" * 40
    with pytest.raises(BadPath, match="more than 250000 pieces of text; nest fewer sections"):
        rendered(template, {"E0": {"a": [1, 2, 3]}})
