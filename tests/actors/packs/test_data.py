"""The pack ``data``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Outcome, Plan, Step, ToolError
from midcourse.actors.packs import data_pack
from midcourse.actors.packs.data import reshape as reshape_tool


async def run(folder: Path, *steps: Step, clock: Any = lambda: 0.0) -> Outcome:
    async with Engine(f"sqlite:///{folder / 'runs.db'}", tools=data_pack(clock=clock)) as engine:
        return await (await engine.start("it", plan=Plan(steps))).outcome(timeout_s=20)


def reshape(**input: Any) -> Step:
    return Step("A", "builtin__reshape", input)


PEOPLE = [
    {"id": 1, "who": {"name": "Mia"}, "tags": ["x", "y"]},
    {"id": 2, "who": {"name": "Tom"}, "tags": []},
]


async def test_a_value_is_built_of_templates(tmp_path: Path) -> None:
    first = Step("E", "builtin__reshape", {"value": PEOPLE})
    second = reshape(value={"first": "{{E.0.who.name}}", "all": "{{E}}", "line": "{{E.length}} people"})
    outcome = await run(tmp_path, first, second)
    assert outcome.result == {"first": "Mia", "all": PEOPLE, "line": "2 people"}


async def test_the_objects_of_a_list_get_other_fields(tmp_path: Path) -> None:
    fields = {"name": "who.name", "many": "tags.length", "whole": "."}
    outcome = await run(tmp_path, reshape(value=PEOPLE, fields=fields))
    assert outcome.result == [
        {"name": "Mia", "many": 2, "whole": PEOPLE[0]}, {"name": "Tom", "many": 0, "whole": PEOPLE[1]}
    ]  # fmt: skip


async def test_one_object_gets_other_fields(tmp_path: Path) -> None:
    assert (await run(tmp_path, reshape(value=PEOPLE[0], fields={"a": "tags.1"}))).result == {"a": "y"}


@pytest.mark.parametrize(
    ("missing", "result"), [("null", [{"t": "x"}, {"t": None}]), ("leave_out", [{"t": "x"}, {}])]
)
async def test_what_is_missing_can_be_null_or_left_out(tmp_path: Path, missing: str, result: Any) -> None:
    outcome = await run(tmp_path, reshape(value=PEOPLE, fields={"t": "tags.0"}, missing=missing))
    assert outcome.result == result


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"n": "who.nam"}, "fields.n of value.0: bad path 'value.who.nam': no key 'nam'"),
        ({"n": "who..name"}, "has a dot with nothing on one side"),
    ],
)
async def test_a_path_that_leads_nowhere_fails(tmp_path: Path, fields: Any, problem: str) -> None:
    outcome = await run(tmp_path, reshape(value=PEOPLE, fields=fields))
    assert outcome.failure is not None
    assert problem in outcome.failure.message


async def test_the_time_is_that_of_the_zone(tmp_path: Path) -> None:
    now = Step("N", "builtin__now", {"zone": "Asia/Tokyo"})
    assert (await run(tmp_path, now, clock=lambda: 1_800_000_000.5)).result == {
        "iso": "2027-01-15T17:00:00.500+09:00", "unix": 1_800_000_000.5, "date": "2027-01-15",
        "time": "17:00:00", "weekday": 5, "zone": "Asia/Tokyo",
    }  # fmt: skip


async def test_a_path_is_no_template() -> None:
    with pytest.raises(ToolError, match=r"is no path; write it without braces"):
        await reshape_tool(PEOPLE, {"n": "who}}{{value"})


@pytest.mark.parametrize("zone", ["Mars/Base", "", "../x", "Europe"])
async def test_a_zone_that_is_none_fails(tmp_path: Path, zone: str) -> None:
    outcome = await run(tmp_path, Step("N", "builtin__now", {"zone": zone}))
    assert outcome.failure is not None
    assert f"there is no time zone {zone!r}" in outcome.failure.message


async def test_the_time_of_a_run_is_recorded_and_does_not_go_on(tmp_path: Path) -> None:
    times = iter([1.0])
    await run(tmp_path, Step("N", "builtin__now"), Step("A", "builtin__reshape", {"value": "{{N.unix}}"}),
              clock=lambda: next(times))  # fmt: skip
    async with Engine(
        f"sqlite:///{tmp_path / 'runs.db'}", tools=data_pack(clock=lambda: next(times))
    ) as engine:
        [listed] = (await engine.runs()).runs
        assert (await engine.run(listed.run_id).outcome(timeout_s=20)).result == 1.0
