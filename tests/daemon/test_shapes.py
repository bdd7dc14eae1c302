"""Shapes of results that a store holds, as `plan validate` and `tools show` use them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from midcourse import Plan, Step
from midcourse.daemon.shapes import MOST_RESULTS, observed_shapes
from midcourse.store.memory import MemoryJournal
from midcourse.testing import TrialEngine, scripted_tool

TOOLS = """
from midcourse import ToolError, tool

@tool(effect="read")
async def search(text: str, most: int = 3) -> dict:
    "Looks for things."
    return {"items": [{"id": 1}], "total": 1}

@tool(effect="read", output_schema={"type": "object", "properties": {"left": {"type": "integer"}}})
async def stock() -> dict:
    return {"left": 3}
"""
PLAN = """
identifier: {0}
name: x
description: x
steps:
  - {{id: E, tool_name: search, input: {{text: lamp}}}}
  - {{id: S, tool_name: stock, input: {{}}}}
output: {{first: "{{{{E.{1}.0.id}}}}", left: "{{{{S.left}}}}"}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(TOOLS)
    (tmp_path / "midcourse.toml").write_text('tools = ["shop"]\nstore = "sqlite:///shop.db"\n')
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "right.yaml").write_text(PLAN.format("right", "items"))
    (tmp_path / "plans" / "wrong.yaml").write_text(PLAN.format("wrong", "itmes"))
    return tmp_path


def test_a_template_that_fits_no_result_so_far_is_a_warning(call: Any, folder: Path) -> None:
    before = call("plan", "validate")
    assert (before.code, before.out) == (0, "plans/right.yaml: valid\nplans/wrong.yaml: valid\n")
    assert not (folder / "shop.db").exists()
    assert call("plan", "run", "right", "-q").json == {"first": 1, "left": 3}
    after = call("plan", "validate")
    assert after.code == 0
    assert after.lines == [
        "plans/right.yaml: valid",
        (
            "plans/wrong.yaml:8:10: warning: {{E.itmes.0.id}} does not fit the one result of user__search: "
            "no key 'itmes' at E (did you mean 'items'?)"
        ),
        "plans/wrong.yaml: valid",
    ]  # fmt: skip


def test_a_tool_is_shown_with_its_results(call: Any, folder: Path) -> None:
    assert call("tools", "show", "search").lines == [
        "user__search", "  Looks for things.", "  effect: read", "arguments:", "  text: string",
        "  most: integer, may be left out", "results: none seen yet, and none declared (output_schema)",
    ]  # fmt: skip
    call("plan", "run", "right", "-q")
    assert call("tools", "show", "search").lines[-5:] == [
        "results, as the one result so far:", "  object", "    items: array of", "      object",
        "        id: number", "    total: number",
    ][-5:]  # fmt: skip
    assert call("tools", "show", "user__stock").lines[-3:] == [
        "results, as declared:", "  object", "    left: number",
    ]  # fmt: skip
    observed = call("tools", "show", "search", "--json").json["observed"]
    assert observed["fields"]["total"]["kinds"] == {"number": 1}


def test_arguments_are_shown_in_words(call: Any, folder: Path) -> None:
    (folder / "midcourse.toml").write_text("[packs.data]\n")
    assert call("tools", "show", "builtin__reshape").lines[3:7] == [
        "arguments:", "  value: anything", "  fields: object or null, may be left out",
        "  missing: 'fail' or 'leave_out' or 'null', may be left out",
    ]  # fmt: skip


def test_a_tool_that_is_not_there_is_said_with_what_comes_near(call: Any, folder: Path) -> None:
    answer = call("tools", "show", "serch")
    assert (answer.code, "unknown tool 'serch' (did you mean 'search'?)" in answer.err) == (2, True)


def test_a_store_that_cannot_be_read_fails_no_check(call: Any, folder: Path) -> None:
    (folder / "shop.db").write_text("this is no store")
    answer = call("plan", "validate")
    assert (answer.code, "Results of tools are not looked at: " in answer.err) == (0, True)


async def test_only_the_newest_results_of_a_tool_count() -> None:
    results = [{"old": 1}] * 5 + [{"new": 1}] * MOST_RESULTS
    async with TrialEngine(tools=[scripted_tool("look", *results, effect="read")]) as engine:
        for _ in results:
            run = await engine.start("look", plan=Plan((Step("A", "look"),)))
            await run.outcome(timeout_s=10)
            engine.clock.advance(1)
        shapes = await observed_shapes(MemoryJournal(engine.store))
    assert shapes["user__look"].kinds == {"object": MOST_RESULTS}
    assert list(shapes["user__look"].fields) == ["new"]


async def test_a_result_that_could_not_be_recorded_is_none() -> None:
    async with TrialEngine(tools=[scripted_tool("look", object(), effect="read")]) as engine:
        await (await engine.start("look", plan=Plan((Step("A", "look"),)))).outcome(timeout_s=10)
        assert await observed_shapes(MemoryJournal(engine.store)) == {}
