"""Every sentence of the template language, as examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from midcourse.domain.templates import (
    BadPath,
    MissingStep,
    Template,
    compile_value,
    is_literal,
    possible_references,
    references,
    render,
)

SCOPE: dict[str, Any] = {
    "E0": {
        "values": [{"id": "t1", "n": 3}, {"id": "t2"}],
        "name": "Core",
        "count": 2,
        "ratio": 0.5,
        "open": True,
        "shut": False,
        "nothing": None,
        "none": [],
        "blank": "",
        "zero": 0,
        "empty": {},
        "2024": 7,
        "First Name": "Amy",
        "@type": "Team",
    },
    "E1": {
        "values": [{"title": "Login", "state": "done"}, {"title": "SSO", "state": "open"}],
        "rows": [["a", 1], ["b", 2]],
        "teams": [
            {"name": "Red", "lead": "Kim", "members": [{"who": "amy"}, {"who": "bob", "name": "Bobby"}]},
            {"name": "Blue", "members": []},
        ],
    },
    "input": {"max": 50, "team": {"key": "x"}, "verbose": True},
    "board": {"price": 12},
    "item": {"sku": "s-1"},
    "index": 4,
    "accumulator": [1, 2],
}


def rendered(value: Any, scope: Mapping[str, Any] = SCOPE) -> Any:
    return render(compile_value(value), scope)


@pytest.mark.parametrize(
    ("expected", "template"),
    [
        # keys and array indices
        ("t1", "{{E0.values.0.id}}"),
        ("t1", "{{ E0.values.0.id }}"),
        ("t1", "{{\n E0.values.0.id\n}}"),
        (7, "{{E0.2024}}"),
        ("Amy", "{{E0.First Name}}"),
        ("Team", "{{E0.@type}}"),
        # roots
        (50, "{{input.max}}"),
        (12, "{{board.price}}"),
        ("s-1", "{{item.sku}}"),
        (4, "{{index}}"),
        ([1, 2], "{{accumulator}}"),
        # .length of arrays and strings
        (2, "{{E0.values.length}}"),
        (4, "{{E0.name.length}}"),
        (0, "{{E0.none.length}}"),
        (2, "{{accumulator.length}}"),
        # a string that is exactly one tag becomes the raw JSON value
        (2, "{{E0.count}}"),
        (True, "{{E0.open}}"),
        (None, "{{E0.nothing}}"),
        ([{"id": "t1", "n": 3}, {"id": "t2"}], "{{E0.values}}"),
        ({"key": "x"}, "{{input.team}}"),
        # in mixed text values become strings, objects and arrays JSON
        (" 2", " {{E0.count}}"),
        ("Team Core has 2", "Team {{E0.name}} has {{E0.count}}"),
        ("0.5 true false", "{{E0.ratio}} {{E0.open}} {{E0.shut}}"),
        ("<>", "<{{E0.nothing}}>"),
        ('at {"key":"x"}', "at {{input.team}}"),
        ('of [{"id":"t1","n":3},{"id":"t2"}]', "of {{E0.values}}"),
        ("CoreCore", "{{E0.name}}{{E0.name}}"),
        # braces that are no tags are text
        ('{"a":2}}', '{"a":{{E0.count}}}}'),
    ],
)
def test_tags(expected: Any, template: str) -> None:
    result = rendered(template)
    assert (expected, type(expected)) == (result, type(result))


@pytest.mark.parametrize(
    ("expected", "template"),
    [
        # over arrays, with bare keys and loop variables
        (
            "Login (done), SSO (open)",
            "{{#E1.values}}{{title}} ({{state}}){{^@last}}, {{/@last}}{{/E1.values}}",
        ),
        ("0:first 1:", "{{#E1.values}}{{@index}}:{{#@first}}first {{/@first}}{{/E1.values}}"),
        ("truefalse falsetrue ", "{{#E1.values}}{{@first}}{{@last}} {{/E1.values}}"),
        ("a=1;b=2;", "{{#E1.rows}}{{0}}={{1}};{{/E1.rows}}"),
        ("xx", "{{# E1.values }}x{{/ E1.values }}"),
        # truthiness
        ("yes", "{{#E0.open}}yes{{/E0.open}}"),
        ("yes", "{{#E0.name}}yes{{/E0.name}}"),
        ("yes", "{{#E0.zero}}yes{{/E0.zero}}"),
        ("yes", "{{#E0.empty}}yes{{/E0.empty}}"),
        ("", "{{#E0.shut}}yes{{/E0.shut}}"),
        ("", "{{#E0.nothing}}yes{{/E0.nothing}}"),
        ("", "{{#E0.blank}}yes{{/E0.blank}}"),
        ("", "{{#E0.none}}yes{{/E0.none}}"),
        # over an object, once, with its keys
        ("x", "{{#input.team}}{{key}}{{/input.team}}"),
        # inverted
        ("", "{{^E0.open}}no{{/E0.open}}"),
        ("no", "{{^E0.shut}}no{{/E0.shut}}"),
        ("no", "{{^E0.nothing}}no{{/E0.nothing}}"),
        ("no", "{{^E0.blank}}no{{/E0.blank}}"),
        ("no", "{{^E0.none}}no{{/E0.none}}"),
        ("", "{{^E0.values}}no{{/E0.values}}"),
        # a bare key reads the item, then enclosing items, then the roots
        (
            "amy@Red,Kim bob@Bobby,Kim ",
            "{{#E1.teams}}{{#members}}{{who}}@{{name}},{{lead}} {{/members}}{{/E1.teams}}",
        ),
        ("44", "{{#E0.values}}{{index}}{{/E0.values}}"),
        ("4", "{{#input.verbose}}{{index}}{{/input.verbose}}"),
        # missing on an item is empty, and false in section position
        ("t1:3;t2:;", "{{#E0.values}}{{id}}:{{n}};{{/E0.values}}"),
        ("3none", "{{#E0.values}}{{#n}}{{n}}{{/n}}{{^n}}none{{/n}}{{/E0.values}}"),
        ("", "{{#accumulator}}{{key}}{{/accumulator}}"),
        # a path with a dot starts at a root wherever it stands
        ("50 50 ", "{{#E0.values}}{{input.max}} {{/E0.values}}"),
        # the loop variables are those of the innermost repetition, through sections that repeat nothing
        ("0011", "{{#E1.values}}{{#input.team}}{{@index}}{{/input.team}}{{@index}}{{/E1.values}}"),
        # a root path in section position that leads nowhere is false
        ("", "{{#E0.missing}}yes{{/E0.missing}}"),
        ("no", "{{^E0.missing}}no{{/E0.missing}}"),
        ("no", "{{^E0.values.9.id}}no{{/E0.values.9.id}}"),
        ("no", "{{^E0.nothing.id}}no{{/E0.nothing.id}}"),
        ("no", "{{^E0.count.length}}no{{/E0.count.length}}"),
        # a section is text even if it is all there is
        ("2", "{{#E0.open}}{{E0.count}}{{/E0.open}}"),
    ],
)
def test_sections(expected: str, template: str) -> None:
    assert expected == rendered(template)


def test_an_items_own_key_wins_over_a_root_of_that_name() -> None:
    scope = {"E0": [{"input": "own"}, {}], "input": "root"}
    assert rendered("{{#E0}}{{input}} {{/E0}}", scope) == "own root "


@pytest.mark.parametrize(
    "template",
    [
        "{{E7.id}}",
        "x {{E7}}",
        "{{#E7.values}}x{{/E7.values}}",
        "{{^E7.values}}x{{/E7.values}}",
        "{{#E0.values}}{{E7.id}}{{/E0.values}}",
        "{{#E0.values}}{{#E7.tags}}x{{/E7.tags}}{{/E0.values}}",
        # nothing is repeated here, so there is no item a key could be missing on
        "{{#E0.open}}{{E7}}{{/E0.open}}",
        "{{^E0.none}}{{E7}}{{/E0.none}}",
    ],
)
def test_a_root_that_does_not_exist_is_always_an_error(template: str) -> None:
    with pytest.raises(MissingStep) as caught:
        rendered(template)
    assert caught.value.step == "E7"


def test_loop_variables_need_a_repetition() -> None:
    with pytest.raises(BadPath) as caught:
        rendered("{{#input.team}}{{@index}}{{/input.team}}")
    assert str(caught.value) == "bad path '@index': there is no section over an array around it"


def test_substituted_values_are_never_parsed_again() -> None:
    scope = {"E0": {"text": "{{E1.secret}}", "list": [{"t": "{{#E1}}x{{/E1}}"}]}, "E1": {"secret": "s"}}
    assert rendered("{{E0.text}}", scope) == "{{E1.secret}}"
    assert rendered("a {{E0.text}} b", scope) == "a {{E1.secret}} b"
    assert rendered("{{#E0.list}}{{t}}{{/E0.list}}", scope) == "{{#E1}}x{{/E1}}"


def test_whole_values_keep_their_shape_order_and_literals() -> None:
    value = {
        "z": "{{input.max}}",
        "literal": {"deep": [1, None, 2.5]},
        "a": ["x", "{{E0.values.0.id}}", {"q": "team {{E0.name}}"}],
        "{{E0.name}}": "keys are not templates",
        "pair": ("{{E0.count}}", 1),
    }
    result = rendered(value)
    expected = {
        "z": 50,
        "literal": {"deep": [1, None, 2.5]},
        "a": ["x", "t1", {"q": "team Core"}],
        "{{E0.name}}": "keys are not templates",
        "pair": [2, 1],
    }
    assert expected == result
    assert list(expected) == list(result)
    assert value["z"] == "{{input.max}}", "rendering leaves the definition alone"
    assert result["literal"] is value["literal"]


@pytest.mark.parametrize("value", [{"a": ["x", {"b": 1}]}, "text }} {", [], {}, 1, None, True, {"{{k}}": 1}])
def test_a_literal_is_its_own_compiled_form(value: Any) -> None:
    assert compile_value(value) is value
    assert render(value, {}) is value
    assert is_literal(value)
    assert frozenset() == references(value) == possible_references(value)


def test_what_holds_a_template_is_not_literal() -> None:
    value = {"a": [{"b": "x {{E0.id}}"}]}
    assert not is_literal(value)
    assert not is_literal(compile_value(value))
    assert isinstance(compile_value(value), Template)


def test_references_are_the_roots_that_must_exist() -> None:
    value = {
        "a": "{{E0}} {{input.team}}",
        "b": [
            "{{#E5.comments}}{{severity}} {{E3.summary}} {{#url}}[{{E6}}]{{/url}} {{@index}}{{/E5.comments}}"
        ],
        "c": "{{^E5.comments}}none for {{E8}}{{/E5.comments}}",
    }
    compiled = compile_value(value)
    assert {"E0", "input", "E5", "E3", "E8"} == references(compiled)
    assert {"severity", "url", "E6"} == possible_references(compiled)


def test_only_roots_that_are_read_are_looked_up() -> None:
    looked_up = []

    class Lazy(Mapping[str, Any]):
        def __getitem__(self, name: str) -> Any:
            looked_up.append(name)
            return SCOPE[name]

        def __iter__(self) -> Iterator[str]:
            return iter(SCOPE)

        def __len__(self) -> int:
            return len(SCOPE)

    assert rendered({"a": "{{E0.name}}", "b": "{{input.max}} x"}, Lazy()) == {"a": "Core", "b": "50 x"}
    assert looked_up == ["E0", "input"]
