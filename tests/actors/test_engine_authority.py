"""An engine under an authority: what waits for people, and how they answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from midcourse import (
    ApprovalRule,
    Authority,
    AuthorityInvalid,
    Engine,
    MessageRefused,
    Plan,
    RunHandle,
    Step,
    ToolLimit,
)
from midcourse.domain import facts as f
from midcourse.testing import ScriptedPlanner, ScriptedTool, TrialEngine, scripted_tool, wait_for_fact

PAY = Authority(approvals=(ApprovalRule(tool="pay"),), approvers=("host:*",))
ONE_STEP = Plan((Step("pay", "pay", {"amount": 5}),))


def pay(*outcomes: Any) -> ScriptedTool:
    return scripted_tool("pay", *outcomes, arguments=["amount"])


async def asked(run: RunHandle, after: int = 0) -> str:
    """The subject of the approval a run waits for."""
    return (await wait_for_fact(run, f.ApprovalRequested, after=after)).fact.subject


async def test_a_step_that_is_approved_runs_with_what_was_seen() -> None:
    tool = pay("paid")
    async with TrialEngine(tools=[tool], authority=PAY) as engine:
        run = await engine.start("pay", plan=ONE_STEP, by="alice")
        subject = await asked(run)
        assert tool.calls == []
        (approval,) = (await run.state()).approvals
        assert (approval.subject, approval.tool, approval.input) == (subject, "user__pay", {"amount": 5})
        await run.approve(subject, by="bob")
        assert (await run.outcome(timeout_s=10)).result == "paid"
    assert [call.arguments for call in tool.calls] == [{"amount": 5}]


async def test_a_step_that_is_denied_fails_with_the_reason() -> None:
    tool = pay("paid")
    async with TrialEngine(tools=[tool], authority=PAY) as engine:
        run = await engine.start("pay", plan=ONE_STEP)
        await run.deny(await asked(run), by="bob", reason="too dear")
        outcome = await run.outcome(timeout_s=10)
    assert outcome.failure is not None
    assert outcome.failure.message == "step 'pay' (user__pay) was denied by host:bob: too dear"
    assert tool.calls == []


async def test_a_name_nobody_authenticated_is_refused_by_default() -> None:
    authority = Authority(approvals=PAY.approvals)
    async with TrialEngine(tools=[pay()], authority=authority) as engine:
        run = await engine.start("pay", plan=ONE_STEP)
        subject = await asked(run)
        with pytest.raises(MessageRefused, match="host:token:alice may not answer"):
            await run.approve(subject, by="token:alice")


async def test_the_one_who_started_a_run_does_not_approve_its_steps_under_four_eyes() -> None:
    async with TrialEngine(tools=[pay("paid")], authority=PAY) as engine:
        run = await engine.start("pay", plan=ONE_STEP, by="alice")
        subject = await asked(run)
        with pytest.raises(MessageRefused, match="under four eyes somebody else approves"):
            await run.approve(subject, by="alice")
        await run.approve(subject, by="bob")
        assert (await run.outcome(timeout_s=10)).completed


async def test_a_plan_in_interactive_mode_begins_when_a_person_approves() -> None:
    planner = ScriptedPlanner(ONE_STEP, ONE_STEP)
    tool = pay("paid")
    authority = Authority(approvers=("host:*",), interactive=())
    async with TrialEngine(tools=[tool], planners={"p": planner}, authority=authority) as engine:
        run = await engine.start("pay", mode="interactive")
        first = await asked(run)
        state = await run.state()
        assert (state.status, state.revision, state.approvals[0].plan) == ("attention", 0, ONE_STEP_NAMED)
        await run.deny(first, by="bob", reason="once more")
        record = await wait_for_fact(run, f.ApprovalRequested, where=lambda fact: fact.subject != first)
        assert planner.contexts[1].refusals == ("the plan was denied by host:bob: once more",)
        await run.approve(record.fact.subject, by="bob")
        assert (await run.outcome(timeout_s=10)).result == "paid"


ONE_STEP_NAMED = Plan((Step("pay", "user__pay", {"amount": 5}),))


async def test_an_approval_outlives_its_engine() -> None:
    tool = pay("paid")
    async with TrialEngine(tools=[tool], authority=PAY) as engine:
        run = await engine.start("pay", plan=ONE_STEP)
        subject = await asked(run)
    async with TrialEngine(tools=[tool], authority=PAY, store=engine.store, clock=engine.clock) as later:
        again = later.run(run.id)
        assert [item.subject for item in (await again.state()).attention] == [subject]
        await again.approve(subject, by="bob")
        assert (await again.outcome(timeout_s=10)).result == "paid"


async def test_the_attention_list_says_what_waits_what_to_do_and_since_when() -> None:
    async with TrialEngine(tools=[pay("paid")], authority=PAY) as engine:
        before = engine.clock()
        steps = (Step("a", "pay", {"amount": 1}), Step("b", "pay", {"amount": 2}))
        run = await engine.start("pay", plan=Plan(steps))
        first = await asked(run)
        engine.clock.advance(60.0)
        other = await engine.start("pay", plan=ONE_STEP)
        await asked(other)
        listed = {each.run.run_id: each.items for each in await engine.attention()}
        assert [(item.kind, item.subject, item.since) for item in listed[run.id]] == [
            ("approval", first, before)
        ]
        assert [item.since for item in listed[other.id]] == [before + 60.0]
        assert listed[run.id][0].remedy.startswith("approve it, or deny it")
        engine.clock.advance(60.0)
        await run.approve(first, by="bob")
        record = await wait_for_fact(run, f.ApprovalRequested, where=lambda fact: fact.step == "b")
        listed = {each.run.run_id: each.items for each in await engine.attention()}
        assert [(item.subject, item.since) for item in listed[run.id]] == [
            (record.fact.subject, before + 120.0)
        ]


async def test_what_waits_for_time_is_admitted_and_what_is_over_a_limit_fails() -> None:
    authority = Authority(limits=(ToolLimit(tool="pay", at_once=1, calls_per_run=2),))
    tool = pay("one", "two")
    async with TrialEngine(tools=[tool], authority=authority) as engine:
        steps = [Step(f"p{n}", "pay", {"amount": n}, needs=()) for n in range(3)]
        run = await engine.start("pay", plan=Plan(steps))
        outcome = await run.outcome(timeout_s=10)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.step) == ("limit", "p2")


def test_an_authority_that_cannot_be_used_is_refused_with_the_place() -> None:
    authority = Authority(approvals=(ApprovalRule(when="input.amount >"),))
    with pytest.raises(AuthorityInvalid, match=r"approvals\[0\]\.when: 'input\.amount >' is not in the"):
        Engine("sqlite:///unused.db", authority=authority)


async def test_approvals_from_other_threads() -> None:
    async with TrialEngine(tools=[pay("paid")], authority=PAY) as engine:
        run = await engine.start("pay", plan=ONE_STEP)
        subject = await asked(run)

        def approve() -> None:
            engine.threadsafe.run(run.id).approve(subject, by="bob").result(10)

        await asyncio.to_thread(approve)
        assert (await run.outcome(timeout_s=10)).completed
