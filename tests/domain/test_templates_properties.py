"""Laws of the template language that hold for any text and any data."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.templates import (
    RenderError,
    Template,
    TemplateSyntaxError,
    compile_value,
    is_literal,
    references,
    render,
)

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
KEYS = st.sampled_from(["a", "b", "id", "0", "length", "E0", "input"]) | st.text(max_size=4)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
PLAIN = st.text().filter(lambda text: "{{" not in text)
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
# Text that is likely to be a template, or nearly one.
NEARLY = st.lists(
    st.sampled_from(
        [
            "{{",
            "}}",
            "#",
            "^",
            "/",
            ".",
            "E0",
            "a",
            "0",
            "length",
            "@index",
            "@x",
            " ",
            "\n",
            "{",
            "}",
            "!",
            "|",
        ]
    )
    | st.text(alphabet=string.printable, max_size=3),
    max_size=14,
).map("".join)
PATHS = st.lists(st.sampled_from(["a", "b", "id", "0", "1"]), max_size=4).map(
    lambda keys: ".".join(["E0", *keys])
)


@st.composite
def templates(draw: st.DrawFn, depth: int = 0) -> str:
    """Return a correct template."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["text", "tag", "bare", "loop", "#", "^"]))
        if kind == "text":
            parts.append(draw(PLAIN).rstrip("{"))
        elif kind == "bare" and depth:
            parts.append(draw(st.sampled_from(["{{a}}", "{{0}}", "{{input}}"])))
        elif kind == "loop" and depth:
            parts.append(draw(st.sampled_from(["{{@index}}", "{{^@last}}, {{/@last}}"])))
        elif kind in "#^" and depth < 3:
            path, body = draw(PATHS), draw(templates(depth=depth + (kind == "#")))
            parts.append(f"{{{{{kind}{path}}}}}{body}{{{{/{path}}}}}")
        else:
            parts.append(f"{{{{{draw(PATHS)}{draw(st.sampled_from(['', '.length']))}}}}}")
    return "".join(parts)


@given(LITERALS)
def test_rendering_a_literal_is_identity(value: Any) -> None:
    compiled = compile_value(value)
    assert compiled is value
    assert render(compiled, {}) is value


@given(PLAIN)
def test_text_without_an_opening_brace_pair_renders_to_itself(text: str) -> None:
    assert text == render(compile_value(text), {})
    assert [text] == render(compile_value([text]), {"E0": 1})


@given(st.one_of(st.text(), NEARLY))
def test_compiling_any_text_raises_nothing_but_syntax_errors(text: str) -> None:
    offsets = []
    compiled: Any = None
    try:
        compiled = compile_value({"a": [text]})
    except TemplateSyntaxError as error:
        offsets.append(error.offset)
    assert all(text.startswith("{{", offset) for offset in offsets)
    assert isinstance(compiled, Template) is (not offsets and not is_literal([text]))


@given(templates(), DATA)
def test_correct_templates_compile_and_raise_only_render_errors(template: str, data: Any) -> None:
    compiled = compile_value(template)
    assert references(compiled) <= {"E0"}
    errors = []
    try:
        render(compiled, {"E0": data, "input": {}})
    except RenderError as error:
        errors.append(error)
    assert all(len(error.available) <= 12 and error.digest for error in errors)


@given(DATA)
def test_exactly_one_tag_is_the_value_itself(data: Any) -> None:
    assert render(compile_value("{{E0.value}}"), {"E0": {"value": data}}) is data


@given(PLAIN, PLAIN, templates())
def test_substituted_text_is_never_parsed_again(before: str, after: str, injected: str) -> None:
    before = before.rstrip("{")
    scope = {"E0": {"value": injected + "{{x}}", "list": [{"a": injected + "{{/E0.list}}"}]}}
    assert f"{before}{injected}{{{{x}}}}{after}" == render(
        compile_value(f"{before}{{{{E0.value}}}}{after}"), scope
    )
    assert f"{injected}{{{{/E0.list}}}}" == render(compile_value("{{#E0.list}}{{a}}{{/E0.list}}"), scope)
