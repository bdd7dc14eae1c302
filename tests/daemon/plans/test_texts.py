"""Reading YAML and JSON with places, and writing what reads back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midcourse.daemon.plans.files import LoadedPlan
from midcourse.daemon.plans.json_text import read_json
from midcourse.daemon.plans.writing import as_text
from midcourse.daemon.plans.yaml_text import read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-1", -1),
        ("+1", 1),
        ("0o14", 12),
        ("0x1F", 31),
        ("010", 10),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2024-01-31", "2024-01-31"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("n", "n"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("'1'", "1"),
        ('"true"', "true"),
        ("!!str 1", "1"),
        ("! 1", "1"),
        ("-", "-"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
    ],
)
def test_words_are_read_as_yaml_1_2_reads_them(text: str, value: Any) -> None:
    read = read_yaml(f"a: {text}\n", "f").value["a"] if text != "-" else "-"
    assert (read, type(read)) == (value, type(value))


def test_blocks_anchors_and_flow() -> None:
    text = "a: &x [1, {b: 2}]\nc: *x\nd: |\n  one\n  two\ne: >-\n  one\n  two\n1: f\n"
    assert read_yaml(text, "f").value == {
        "a": [1, {"b": 2}], "c": [1, {"b": 2}], "d": "one\ntwo\n", "e": "one two", "1": "f",
    }  # fmt: skip


def said(text: str) -> list[str]:
    return [str(each) for each in read_yaml(text, "f").problems]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb:\n  c: 2\n  c: 3\n", "f:4:3: the key 'c' is there twice, in line 3 too; write it once"),
        (
            "a: [1\nb: 2\n",
            "f:2:2: is not YAML: while parsing a flow sequence, did not find expected ',' or ']'",
        ),
        (
            "a:\n\t- 1\n",
            (
                "f:2:1: is not YAML: while scanning for the next token, found character that cannot start "
                "any token"
            ),
        ),
        ("a: 1\n---\nb: 2\n", "f:2:1: holds more than one document; a plan file holds one"),
        ("a: .inf\n", "f:1:4: .inf is no number that JSON can carry; quote it, or write null"),
        ("a: 1e999\n", "f:1:4: 1e999 is too large a number; quote it"),
        (
            "a: !!python/object:os.system x\n",
            (
                "f:1:4: tags such as 'tag:yaml.org,2002:python/object:os.system' are "
                "not for plan files; leave it out"
            ),
        ),
        (
            "a: &x {}\nb:\n  <<: *x\n",
            "f:3:3: merge keys ('<<') are not part of YAML 1.2; write the fields out",
        ),
        ("a: *x\n", "f:1:4: alias *x is used inside its own anchor, or before it"),
        ("a: &x [*x]\n", "f:1:8: alias *x is used inside its own anchor, or before it"),
        ("? [1, 2]\n: 3\n", "f:1:3: a key must be a text"),
    ],
)
def test_what_is_no_yaml_for_a_plan(text: str, problem: str) -> None:
    assert said(text) == [problem]


def test_all_keys_that_are_there_twice_are_named() -> None:
    assert said("a: 1\na: 2\nb: {c: 1, c: 2}\na: 3\n") == [
        "f:2:1: the key 'a' is there twice, in line 1 too; write it once",
        "f:3:11: the key 'c' is there twice, in line 3 too; write it once",
        "f:4:1: the key 'a' is there twice, in line 1 too; write it once",
    ]


def test_aliases_cannot_make_a_document_larger_than_memory() -> None:
    levels = [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10) if n else '1, 1, 1, 1, 1, 1, 1, 1, 1, 1'}]"
        for n in range(12)
    ]
    assert said("\n".join(levels)) == [
        "f:1:1: its aliases make it larger than 1000000 values; write them out"
    ]


def test_places_of_yaml() -> None:
    mark = read_yaml("a:\n  - b: 1\n    toolName: x\n  -   [2,  3]\n", "f").mark
    places = {
        path: (mark.at(path).line, mark.at(path).column)
        for path in [
            ("a",),
            ("a", 0),
            ("a", 0, "b"),
            ("a", 0, "tool_name"),
            ("a", 1, 1),
            ("a", 0, "c"),
            ("z",),
        ]
    }
    assert places == {
        ("a",): (1, 1), ("a", 0): (2, 5), ("a", 0, "b"): (2, 5), ("a", 0, "tool_name"): (3, 5),
        ("a", 1, 1): (4, 12), ("a", 0, "c"): (2, 5), ("z",): (1, 1),
    }  # fmt: skip


def test_places_of_json() -> None:
    mark = read_json('{"a": [\n {"b": {}, "c": "}"},\n  [2, -3.5e1, null]]}', "f").mark
    places = [
        (mark.at(path).line, mark.at(path).column)
        for path in [("a",), ("a", 0), ("a", 0, "c"), ("a", 1), ("a", 1, 1), ("a", 1, 2)]
    ]
    assert places == [(1, 2), (2, 2), (2, 12), (3, 3), (3, 7), (3, 15)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,\n "a": 2}', "f:2:2: the key 'a' is there twice; write it once"),
        ('{"a": 1,\n}', "f:"),
        ('{"a": NaN}', "f:1:1: is not JSON: NaN is no number that JSON can carry"),
        ('{"a": 1e999}', "f:1:1: is not JSON: a is inf"),
        ("", "f:1:1: is not JSON: Expecting value"),
    ],
)
def test_what_is_no_json_for_a_plan(text: str, problem: str) -> None:
    [found] = read_json(text, "f").problems
    assert str(found).startswith(problem)


def test_deep_documents_are_refused_and_break_nothing() -> None:
    deep = "[" * 100_000
    assert "is not JSON" in str(read_json(deep, "f").problems[0])
    for read, text in ((read_yaml, "[" * 500 + "]" * 500), (read_json, "[" * 500 + "]" * 500)):
        assert "is nested more than 128 levels deep" in str(read(text, "f").problems[0])
    steps = (
        b"steps: [{id: E0, tool_name: user__x, input: {a: " + b"[" * 110 + b"'{{E1}}'" + b"]" * 110 + b"}}]"
    )
    nested = LoadedPlan(Path("a.yaml"), b"identifier: a\nname: a\ndescription: a\n" + steps)
    assert ["nested more than 100 levels deep" in str(each) for each in nested.problems] == [True]


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    loaded = LoadedPlan(tmp_path / "a.yaml", b"a: 1\nb: \xff\n")
    assert [str(each) for each in loaded.problems] == [
        f"{tmp_path / 'a.yaml'}:2:1: is not UTF-8: invalid start byte; save it as UTF-8"
    ]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")) | st.sampled_from("\n\t ")
    )
    | st.sampled_from(
        ["yes", "1e3", "0o7", "1:30", "2024-01-31", "null", "~", "- a", "#a", "a: b", "{{E0.a}}", "<<", "="]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc<~=1", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(value=JSON)
def test_what_is_written_reads_back(value: Any) -> None:
    step = {"id": "E0", "tool_name": "user__work", "input": {"value": value}}
    document = {"identifier": "x", "name": "x", "description": "x", "steps": [step]}
    for name in ("plan.yaml", "plan.json"):
        text = as_text(document, Path(name))
        read = read_json if name.endswith("json") else read_yaml
        assert json.dumps(read(text, name).value) == json.dumps(document)
