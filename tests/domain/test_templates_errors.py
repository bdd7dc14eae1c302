"""The errors of the template language: their exact texts, their data, and where they point."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.errors import MidcourseError
from midcourse.domain.templates import (
    BadPath,
    EmptyData,
    MissingStep,
    RenderError,
    TemplateError,
    TemplateSyntaxError,
    compile_value,
    render,
    syntax_errors,
)

SCOPE: dict[str, Any] = {
    "E0": {
        "teams": [{"id": 1, "name": "Core"}],
        "values": [],
        "two": [{"id": 1}, {"id": 2}],
        "assignee": None,
        "name": "Core",
        "count": 3,
        "open": True,
        "none": {},
        "many": dict.fromkeys("onmlkjihgfedcb", 0),
    },
    "E1": {},
}


def failure(template: str, scope: dict[str, Any] = SCOPE) -> RenderError:
    with pytest.raises(RenderError) as caught:
        render(compile_value(template), scope)
    return caught.value


@pytest.mark.parametrize(
    ("kind", "message", "template"),
    [
        (
            MissingStep,
            "template references step 'E7' which has no result (available: E0, E1)",
            "{{E7.id}}",
        ),
        (
            BadPath,
            "bad path 'E0.teams.0.idd': no key 'idd' at E0.teams.0 (available: id, name)",
            "{{E0.teams.0.idd}}",
        ),
        (BadPath, "bad path 'E0.none.id': no key 'id' at E0.none (available: none)", "{{E0.none.id}}"),
        (
            BadPath,
            "bad path 'E0.many.x': no key 'x' at E0.many (available: b, c, d, e, f, g, h, i, j, k, l, m, …)",
            "{{E0.many.x}}",
        ),
        (BadPath, "bad path 'E0.name.0': cannot index into a string at E0.name", "{{E0.name.0}}"),
        (BadPath, "bad path 'E0.count.0': cannot index into a number at E0.count", "{{E0.count.0}}"),
        (BadPath, "bad path 'E0.open.0': cannot index into a boolean at E0.open", "{{E0.open.0}}"),
        (BadPath, "bad path 'E0.name.x': cannot read key 'x' from a string at E0.name", "{{E0.name.x}}"),
        (
            BadPath,
            "bad path 'E0.two.id': cannot read key 'id' from an array at E0.two",
            "{{E0.two.id}}",
        ),
        (
            BadPath,
            "bad path 'E0.count.length': .length applies to arrays and strings, found number",
            "{{E0.count.length}}",
        ),
        (
            BadPath,
            "bad path 'E0.none.length': .length applies to arrays and strings, found object",
            "{{E0.none.length}}",
        ),
        (
            EmptyData,
            "empty data at 'E0.values.0.id': E0.values is an empty array",
            "{{E0.values.0.id}}",
        ),
        (
            EmptyData,
            "empty data at 'E0.two.5.id': E0.two has 2 items; index 5 is out of range",
            "{{E0.two.5.id}}",
        ),
        (
            EmptyData,
            "empty data at 'E0.teams.1': E0.teams has 1 item; index 1 is out of range",
            "{{E0.teams.1}}",
        ),
        (EmptyData, "empty data at 'E0.assignee.name': E0.assignee is null", "{{E0.assignee.name}}"),
        (EmptyData, "empty data at 'E0.assignee.0': E0.assignee is null", "{{E0.assignee.0}}"),
        (EmptyData, "empty data at 'E0.assignee.length': E0.assignee is null", "{{E0.assignee.length}}"),
    ],
)
def test_texts(kind: type[RenderError], message: str, template: str) -> None:
    for text in (template, f"in the middle {template} of text"):
        error = failure(text)
        assert (kind, message) == (type(error), str(error))


def test_no_roots_at_all() -> None:
    expected = "template references step 'E7' which has no result (available: none)"
    assert expected == str(failure("{{E7}}", {}))


def test_a_run_of_many_steps_names_twelve() -> None:
    error = failure("{{E99}}", {f"E{n}": n for n in range(20)})
    assert tuple(f"E{n}" for n in range(12)) == error.available
    assert str(error).endswith("E10, E11, …)")


def test_details_hold_the_data_to_mend_it() -> None:
    error = failure("{{E0.teams.0.idd}}")
    assert {
        "error": "BadPath",
        "path": "E0.teams.0.idd",
        "at": "E0.teams.0",
        "problem": "no key 'idd' at E0.teams.0",
        "available": ["id", "name"],
        "digest": error.digest,
    } == error.details()


def test_the_digest_tells_repetition_from_progress() -> None:
    template = "{{E0.idd}}"
    first = failure(template, {"E0": {"id": 1, "name": "x"}})
    again = failure(template, {"E0": {"name": "y", "id": 2}, "E1": {}})
    other = failure("{{E0.idx}}", {"E0": {"id": 1, "name": "x"}})
    assert first.digest == again.digest
    assert str(first) == str(again)
    assert first.digest != other.digest
    assert failure("{{E0.a.0}}", {"E0": {"a": []}}).digest != failure("{{E0.a.0}}", {"E0": {"a": 1}}).digest


def test_a_missing_step_has_one_digest_however_many_steps_there_are() -> None:
    assert failure("{{E7}}", {"E0": 1}).digest == failure("{{E7}}", {"E0": 1, "E1": 2}).digest


@pytest.mark.parametrize(
    ("problem", "template"),
    [
        ("partials are not part of the template language", "{{> partial}}"),
        ("comments are not part of the template language", "{{! note}}"),
        ("unescaped tags are not part of the template language", "{{& E0.x}}"),
        ("triple braces are not part of the template language", "{{{E0.x}}}"),
        ("other delimiters are not part of the template language", "{{=<% %>=}}"),
        ("blocks are not part of the template language", "{{$block}}x{{/block}}"),
        ("parents are not part of the template language", "{{<parent}}x{{/parent}}"),
        ("there are no helpers", "{{upper E0.name}}"),
        ("there are no helpers", "{{#if E0.x}}y{{/if}}"),
        ("there are no helpers", "{{E0 | upper}}"),
        ("is not a key", "{{E0.name | upper}}"),
        ("is not a key", "{{E0.name.upper()}}"),
        ("is not a key", "{{E0.'name'}}"),
        ("is not a key", "{{E0.@index}}"),
        ("is not a path", "{{E0[0]}}"),
        ("is not a path", "{{@key}}"),
        ("is not a path", "{{ {{E0}} }}".replace("{ {{", "{x {{")),
        ("a tag is empty", "{{}}"),
        ("a tag is empty", "{{  }}"),
        ("a tag is empty", "{{#}}x{{/}}"),
        ("has a dot with nothing on one side", "{{E0.}}"),
        ("has a dot with nothing on one side", "{{.E0}}"),
        ("has a dot with nothing on one side", "{{E0..id}}"),
        ("has a dot with nothing on one side", "{{#E0.a}}{{.}}{{/E0.a}}"),
        ("starts with a number", "{{0.id}}"),
        ("starts with a number", "{{7}}"),
        ("must be the last segment, after a path", "{{E0.length.x}}"),
        ("must be the last segment, after a path", "{{length}}"),
        ("must be the last segment, after a path", "{{E0.length.length}}"),
        ("a tag is opened but not closed; write '}}' after it", "{{E0.id"),
        ("a tag is opened but not closed; write '}}' after it", "{{E0.id}"),
        ("section 'E0.a' is not closed; write '{{/E0.a}}' after it", "{{#E0.a}}x"),
        ("'{{/E0.a}}' closes a section that is not open; remove it", "x{{/E0.a}}"),
        ("section 'E0.a' is open but 'E0.b' is closed; write '{{/E0.a}}'", "{{#E0.a}}x{{/E0.b}}"),
        ("'@index' has a value only inside a section over an array", "{{@index}}"),
        ("'@last' has a value only inside a section over an array", "{{^E0.a}}{{@last}}{{/E0.a}}"),
    ],
)
def test_what_is_not_in_the_language_is_a_syntax_error(problem: str, template: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_value(template)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("template syntax error at line 1, column ")


@pytest.mark.parametrize(
    ("line", "column", "template"),
    [
        (1, 1, "{{!x}}"),
        (1, 5, "abc {{!x}}"),
        (3, 3, "{{E0.a}}\n\n  {{ E0. }}"),
        (2, 1, "a\n{{#E0.a}}x{{#E0.b}}y{{/E0.b}}"),
    ],
)
def test_positions(line: int, column: int, template: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_value(template)
    assert (line, column) == (caught.value.line, caught.value.column)
    assert template.splitlines()[line - 1][column - 1 :].startswith("{{")


def test_the_place_inside_the_value_is_named() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_value({"a": 1, "b": ["{{E0}}", "x {{!c}}"]})
    assert caught.value.where == ("b", 1)
    assert str(caught.value) == (
        "template syntax error in 'b.1' at line 1, column 3: comments are not part of the template language; "
        "write a path, or a section with '#' or '^'"
    )


def test_all_syntax_errors_of_a_value_can_be_had_at_once() -> None:
    found = syntax_errors({"a": "{{!c}}", "b": "{{E0.id}}", "c": ["{{", "{{}}"]})
    assert [error.where for error in found] == [("a",), ("c", 0), ("c", 1)]
    assert syntax_errors({"a": "{{E0.id}}", "b": "plain"}) == ()


@pytest.mark.parametrize("kind", [TemplateSyntaxError, MissingStep, BadPath, EmptyData])
def test_every_error_belongs_to_the_tree(kind: type[Exception]) -> None:
    assert issubclass(kind, TemplateError)
    assert issubclass(kind, MidcourseError)
