"""``runs schedule`` with plan files: what is started, and what is refused before anything is recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from midcourse import Goal, Limits, Requirement, open_journal
from midcourse.actors.schedule_stream import load_schedule
from midcourse.domain.schedules.facts import Terms

SHOP = """
from midcourse import tool


@tool(effect="read")
async def look(what: str) -> str:
    return f"{what}: all is well"
"""
REPORT = """\
identifier: report
name: Report
description: Looks at things.
input_schema:
  type: object
  required: [what]
  properties: {what: {type: string}, how: {type: string, default: closely}}
requirements: [{id: seen, text: somebody looked, evidence: {operation: look*}}]
steps:
  - {id: E0, tool_name: look, input: {what: "{{input.what}} {{input.how}}"}}
output: {said: "{{E0}}"}
"""
DAILY = ("--store", "sqlite:///shop.db", "runs", "schedule", "add", "daily", "--cron", "0 7 * * *")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "midcourse.toml").write_text('tools = ["shop"]\nlimits.replans = 3\n')
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "report.yaml").write_text(REPORT)
    return tmp_path


def test_a_plan_file_with_its_inputs_requirements_and_the_limits_of_the_configuration(
    call: Any, shop: Path
) -> None:
    added = call(*DAILY, "--plan", "report", "--inputs", '{"what": "orders"}', "--json")
    assert added.code == 0, added.err
    terms = asyncio.run(terms_of("daily", shop))
    seen = Requirement(id="seen", text="somebody looked", evidence={"operation": "look*"})
    assert terms.start.goal == Goal("Report", {"what": "orders", "how": "closely"}, (seen,))
    assert terms.start.limits == Limits(replans=3)
    assert terms.start.plan is not None
    assert terms.start.plan.steps[0].tool_name == "look"
    assert terms.start.plan.output == {"said": "{{E0}}"}


async def terms_of(name: str, folder: Path) -> Terms:
    async with open_journal(f"sqlite:///{folder / 'shop.db'}", read_only=True) as journal:
        terms = (await load_schedule(journal, name)).schedule.terms
    assert terms is not None
    return terms


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--plan", "report"), 'plan report needs other inputs: "what" is a required property'),
        (("--plan", "reprt"), "there is no plan 'reprt' in plans (did you mean 'report'?)"),
        (("--plan", "bare.json"), "say --goal TEXT: what the runs are for"),
        (("--plan", "wrong.yaml"), "wrong.yaml:4:18: step E0: unknown tool 'lok' (did you mean 'look'?)"),
        (("--plan", "report", "--planner", "p"), "say one of --plan PLAN and --planner NAME"),
    ],
)
def test_what_cannot_be_started_is_refused(call: Any, shop: Path, more: tuple[str, ...], said: str) -> None:
    (shop / "bare.json").write_text('{"steps": [{"tool_name": "look", "input": {"what": "x"}}]}')
    (shop / "wrong.yaml").write_text(
        "identifier: wrong\nname: W\ndescription: W.\nsteps: [{id: E0, tool_name: lok, input: {}}]\n"
    )
    refused = call(*DAILY, *more)
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err
    assert not (shop / "shop.db").exists()


def test_steps_without_a_plan_file_need_a_goal_in_words(call: Any, shop: Path) -> None:
    (shop / "bare.json").write_text('{"steps": [{"tool_name": "look", "input": {"what": "x"}}]}')
    assert call(*DAILY, "--plan", "bare.json", "--goal", "look").code == 0
