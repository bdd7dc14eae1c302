"""Reviewers and judges of an engine on a real store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from midcourse import (
    Authority,
    Consultation,
    Engine,
    Goal,
    InvalidInputError,
    NoPlan,
    Opinion,
    Plan,
    PlanningContext,
    Requirement,
    ReviewRule,
    Settings,
    Step,
    tool,
)
from midcourse.domain import facts as f
from midcourse.testing import wait_for_fact


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'runs.db'}"


@tool(effect="read")
async def draw(n: int) -> int:
    return n


def drawing(*, review: str) -> Plan:
    return Plan([Step("A", "draw", {"n": 3}, review=review), Step("B", "draw", {"n": "{{A}}"})])


async def test_a_step_is_done_again_until_its_reviewer_is_content(store: str) -> None:
    seen: list[tuple[int, object]] = []

    async def strict(about: Consultation) -> Opinion:
        assert about.receipt is not None
        seen.append((about.round, about.receipt.result))
        return Opinion("ok") if about.round == 2 else Opinion("step", "once more")

    async with Engine(store, tools=[draw], reviewers={"strict": strict}) as engine:
        run = await engine.start("draw", plan=drawing(review="strict"))
        assert (await run.outcome()).status == "completed"
        assert seen == [(1, 3), (2, 3)]


async def test_a_reviewer_that_raises_is_asked_again_and_then_a_person_chooses(store: str) -> None:
    calls = []

    def broken(about: Consultation) -> str:
        calls.append(about.step)
        raise RuntimeError("no light")

    async with Engine(store, tools=[draw], reviewers={"broken": broken}) as engine:
        run = await engine.start("draw", plan=drawing(review="broken"))
        escalated = await wait_for_fact(run, f.ReviewEscalated)
        assert escalated.fact.reason == "it could not be reviewed: it raised RuntimeError: no light"
        assert len(calls) == 3
        await run.review("A", "continue", reason="I looked myself", by="alice")
        assert (await run.outcome()).status == "completed"


async def test_a_review_by_a_person_outlives_the_process(store: str) -> None:
    async with Engine(store, tools=[draw]) as engine:
        run = await engine.start("draw", plan=drawing(review="person"))
        await wait_for_fact(run, f.ConsultationRequested)
    async with Engine(store, tools=[draw]) as engine:
        waits = await engine.attention()
        assert [(item.kind, item.subject) for each in waits for item in each.items] == [("review", "A")]
        run = engine.run(run.id)
        await run.review("A", "ok", by="alice")
        assert (await run.outcome()).status == "completed"


async def test_a_review_that_was_owed_is_asked_for_by_an_engine_that_has_the_reviewer(store: str) -> None:
    async with Engine(store, tools=[draw], reviewers={"late": lambda _about: None}) as engine:
        engine.pause()
        run = await engine.start("draw", plan=drawing(review="late"))
    async with Engine(store, tools=[draw], reviewers={"late": lambda _about: "ok"}) as engine:
        assert (await engine.run(run.id).outcome()).status == "completed"


async def test_plans_are_reviewed_and_the_planner_is_told_what_was_wrong(store: str) -> None:
    refusals: list[tuple[str, ...]] = []

    def plan(context: PlanningContext) -> Plan | NoPlan:
        refusals.append(context.refusals)
        return Plan([Step(tool_name="draw", input={"n": len(refusals)})])

    def modest(about: Consultation) -> Opinion:
        assert about.plan is not None
        is_modest = about.plan.steps[0].input["n"] > 1
        return Opinion("ok") if is_modest else Opinion("refuse", "one is too few")

    async with Engine(
        store, tools=[draw], planners={"p": plan}, reviewers={"modest": modest}, plan_reviewers=["modest"]
    ) as engine:
        run = await engine.start("draw")
        assert (await run.outcome()).result == 2
        assert refusals == [(), ("reviewer modest: one is too few",)]


async def test_a_judge_counts_before_a_run_is_delivered(store: str) -> None:
    def judge(about: Consultation) -> Opinion:
        assert about.requirement is not None
        drawn = [entry.operation for entry in about.ledger if entry.receipt.result == 2]
        return Opinion("ok", cites=tuple(drawn)) if drawn else Opinion("gap", "no two was drawn")

    def plan(context: PlanningContext) -> Plan:
        return Plan([Step(tool_name="draw", input={"n": 2 if context.gaps else 1})])

    goal = Goal("draw", {}, (Requirement(id="two", text="a two", evidence={"judge": "Was a two drawn?"}),))
    async with Engine(store, tools=[draw], planners={"p": plan}, reviewers={"judge": judge}) as engine:
        run = await engine.start(goal)
        assert (await run.outcome()).result == 2
        gaps = [
            record.fact.gaps async for record in run.facts() if isinstance(record.fact, f.CoverageChecked)
        ]
        assert gaps == [(f.Gap("two", "the judge finds it open: no two was drawn"),), ()]


@pytest.mark.parametrize(
    "said",
    [Opinion("ok", cites=5), Opinion("step", "x", None), 7, Opinion("splendid")],  # type: ignore[arg-type]
)
async def test_an_answer_that_is_none_is_no_pass_and_ends_no_engine(store: str, said: object) -> None:
    async with Engine(store, tools=[draw], reviewers={"odd": lambda _about: said}) as engine:
        run = await engine.start("draw", plan=drawing(review="odd"))
        await wait_for_fact(run, f.ReviewEscalated)
        other = await engine.start("draw", plan=Plan([Step("A", "draw", {"n": 1})]))
        assert (await other.outcome()).status == "completed"


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit, KeyError])
async def test_whatever_a_reviewer_raises_its_run_does_not_hang(
    store: str, error: type[BaseException]
) -> None:
    async def broken(_about: Consultation) -> str:
        raise error

    async with Engine(store, tools=[draw], reviewers={"broken": broken}) as engine:
        run = await engine.start("draw", plan=drawing(review="broken"))
        escalated = await wait_for_fact(run, f.ReviewEscalated)
        assert error.__name__ in escalated.fact.reason


async def test_a_reviewer_that_does_not_answer_in_time_is_no_pass(store: str) -> None:
    async def asleep(_about: Consultation) -> str:
        await asyncio.Event().wait()
        return "ok"

    settings = Settings(review_timeout_s=0.001)
    async with Engine(store, tools=[draw], reviewers={"asleep": asleep}, settings=settings) as engine:
        run = await engine.start("draw", plan=drawing(review="asleep"))
        escalated = await wait_for_fact(run, f.ReviewEscalated)
        assert escalated.fact.reason == "it could not be reviewed: it raised TimeoutError"


async def test_one_text_is_a_list_of_one_problem(store: str) -> None:
    refusals: list[tuple[str, ...]] = []

    def plan(context: PlanningContext) -> Plan:
        refusals.append(context.refusals)
        return Plan([Step(tool_name="draw", input={"n": len(refusals)})])

    def modest(_about: Consultation) -> Opinion:
        return Opinion("ok") if len(refusals) > 1 else Opinion("refuse", "no", "dear")  # type: ignore[arg-type]

    parts = {"planners": {"p": plan}, "reviewers": {"modest": modest}, "plan_reviewers": ["modest"]}
    async with Engine(store, tools=[draw], **parts) as engine:  # type: ignore[arg-type]
        run = await engine.start("draw")
        assert (await run.outcome()).status == "completed"
    assert refusals == [(), ("reviewer modest: dear",)]


class Shop:
    async def plan(self, _context: PlanningContext) -> Plan:
        return Plan([Step("A", "draw", {"n": 1})])

    def look(self, _about: Consultation) -> str:
        return "ok"


async def test_a_planner_that_is_not_registered_does_not_review_its_own_plans_either(store: str) -> None:
    shop = Shop()
    async with Engine(store, tools=[draw], reviewers={"look": shop.look}, plan_reviewers=["look"]) as engine:
        with pytest.raises(InvalidInputError, match="would review its own plans"):
            await engine.start("draw", planner=shop, ephemeral=True)


SHOP = Shop()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"plan_reviewers": ["who"]}, r"'who' is not among the reviewers \(there are: none\)"),
        ({"reviewers": {"person": print}}, "no reviewer can be called 'person'"),
        (
            {"planners": {"p": print}, "reviewers": {"r": print}, "plan_reviewers": ["r"]},
            "planner 'p' would review its own plans as 'r'",
        ),
        (
            {"authority": Authority(reviews=(ReviewRule(tool="ship*", by="taste"),))},
            r"the rule for 'ship\*' names the reviewer 'taste', who is none \(there are: person\)",
        ),
        (
            {"planners": {"p": SHOP}, "reviewers": {"r": SHOP.look}, "plan_reviewers": ["r"]},
            "planner 'p' would review its own plans as 'r'",
        ),
        (
            {"planners": {"p": SHOP.plan}, "reviewers": {"r": SHOP.plan}, "plan_reviewers": ["r"]},
            "planner 'p' would review its own plans as 'r'",
        ),
    ],
)
def test_reviewers_that_cannot_be_are_refused(store: str, options: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        Engine(store, **options)  # type: ignore[arg-type]


async def test_a_judge_that_raises_has_found_no_gap_and_the_next_engine_asks_it_after_news(
    store: str,
) -> None:
    def broken(about: Consultation) -> Opinion:
        raise RuntimeError("no light")

    def judge(about: Consultation) -> Opinion:
        return Opinion("ok", cites=(about.ledger[-1].operation,))

    required = Requirement(id="drawn", text="it is drawn", evidence={"judge": "Was it drawn?"})
    plan = Plan([Step("A", "draw", {"n": 3})])
    async with Engine(store, tools=[draw], reviewers={"judge": broken}) as engine:
        run = await engine.start(Goal("draw", {}, (required,)), plan=plan)
        await wait_for_fact(run, f.RunStuck)
        waits = await engine.attention()
        why = "requirement 'drawn' could not be judged: it raised RuntimeError: no light"
        assert [(item.kind, item.subject) for each in waits for item in each.items] == [("stuck", why)]
    async with Engine(store, tools=[draw], reviewers={"judge": judge}) as engine:
        run = engine.run(run.id)
        await run.signal("light")
        assert (await run.outcome()).result == 3


async def test_the_last_fact_before_delivery_is_that_no_requirement_is_open(store: str) -> None:
    expr = "ledger.exists(e, e.result == 3) && !ledger.exists(e, e.result == 4)"
    required = Requirement(id="drawn", text="three", evidence={"expr": expr})
    async with Engine(store, tools=[draw]) as engine:
        run = await engine.start(Goal("draw", {}, (required,)), plan=Plan([Step("A", "draw", {"n": 3})]))
        assert (await run.outcome()).status == "completed"
        facts = [record.fact async for record in run.facts()]
        assert facts[-2:] == [f.CoverageChecked(), f.RunCompleted(3)]
