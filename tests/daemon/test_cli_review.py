"""``runs review`` and what ``runs show`` says of a step that is reviewed, with no engine about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from midcourse.daemon.cli.render_run import MARKS
from midcourse.domain import messages as m
from midcourse.domain.goal import Goal
from midcourse.domain.plan import Plan, Step
from midcourse.domain.receipt import Receipt
from midcourse.domain.step_view import StepState

Call = Callable[..., Any]


@pytest.fixture
def waiting(story: Any) -> Any:
    """A run whose one step is done and waits for a person's review."""
    plan = Plan((Step("tell", "notify", {"text": "hello"}, review="person"),))
    story.tell(m.StartRun, goal=Goal("tell", {}), lineage=story.run.id, plan=plan, key="order-42")
    (operation,) = story.run.running
    story.tell(m.ReportSuccess, operation=operation, attempt=1, receipt=Receipt("sent"))
    return story


def test_every_state_of_a_step_can_be_shown() -> None:
    assert set(get_args(StepState)) <= set(MARKS)


def test_show_says_what_is_to_be_reviewed_and_how(on_store: Call, waiting: Any) -> None:
    shown = on_store("runs", "show", "key:order-42")
    assert shown.code == 0
    assert "Needs a person: review: tell" in shown.lines
    runs = f"    midcourse --store sqlite:///{waiting.store} runs"
    assert f"{runs} review {waiting.run.id} tell ok|step|plan --reason REASON" in shown.lines
    (line,) = [each for each in shown.lines if "notify" in each and "tell" in each and "1" in each.split()]
    assert line.split()[:5] == ["?", "1", "tell", "notify", "review"]


def test_a_person_reviews_a_step(on_store: Call, waiting: Any) -> None:
    answer = on_store("runs", "review", "key:order-42", "tell", "ok", "--reason", "I looked")
    assert (answer.code, answer.out) == (0, f"{waiting.run.id}: opinion_given\n")
    again = on_store("runs", "review", "key:order-42", "tell", "ok")
    assert (again.code, again.out) == (0, "")
    other = on_store("runs", "review", "key:order-42", "tell", "plan")
    assert other.code == 1
    assert "said 'ok' of step 'tell', and it is acted upon" in other.err


def test_a_choice_that_is_none_here_is_refused_with_those_that_are(on_store: Call, waiting: Any) -> None:
    answer = on_store("runs", "review", "key:order-42", "tell", "continue")
    assert answer.code == 1
    assert f"run {waiting.run.id}: of step 'tell' you may say ok, step, plan, not 'continue'" in answer.err
