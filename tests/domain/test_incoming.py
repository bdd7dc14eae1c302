"""What comes from outside has the types it says, or is refused with words that help; nothing is recorded."""

from __future__ import annotations

import math
import uuid
from typing import Any

import pytest

from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.errors import InvalidInputError
from midcourse.domain.goal import Goal
from midcourse.domain.incoming import FROM_OUTSIDE, checked
from midcourse.domain.plan import Plan, Step
from midcourse.domain.receipt import Receipt

from .kit import given
from .tellings import start


def starting(**fields: Any) -> m.StartRun:
    default: dict[str, Any] = {"at": 1.0, "goal": Goal("g"), "lineage": "run", "planner": "p"}
    return m.StartRun(**(default | fields))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"key": 42}, r"key is 42 \(a int\); hand in a text\. Nothing was recorded"),
        ({"key": b"k"}, r"key is b'k'"),
        ({"actor": 5}, r"actor is 5"),
        ({"tags": {"customer": 7}}, r"tags is \{'customer': 7\}.*mapping of texts to texts"),
        ({"tags": ["a"]}, r"tags is \['a'\].*mapping of texts to texts"),
        ({"goal": {"a": 1}}, r"goal is \{'a': 1\}.*Goal\("),
        ({"goal": Goal(5)}, r"goal\.text is 5 \(a int\); hand in a text"),  # type: ignore[arg-type]
        ({"goal": Goal("g", ["a"])}, r"goal\.inputs is \['a'\].*mapping of names"),  # type: ignore[arg-type]
        ({"goal": Goal("g", {"rates": [1.0, math.nan]})}, r"goal\.inputs\.rates\[1\] is nan"),
        ({"goal": Goal("g", {"x": object()})}, "not a JSON value"),
        ({"limits": 3}, r"limits is 3.*Limits\(replans=20\)"),
        ({"limits": f.Limits(replans="x")}, r"limits\.replans is 'x'.*a whole number"),  # type: ignore[arg-type]
        ({"limits": f.Limits(proposals=-1)}, r"limits\.proposals is -1.*0 or more"),
        ({"plan": [Step(tool_name="ship")]}, r"plan is \[.*hand in Plan\(\[Step"),
        ({"plan": Plan((Step("ship", {"a": 1}),))}, r"steps\[0\]\.tool_name is \{'a': 1\}.*name the fields"),  # type: ignore[arg-type]
        ({"plan": Plan((Step("", "ship", "Mum"),))}, r"steps\[0\]\.input is 'Mum'.*argument names"),  # type: ignore[arg-type]
        ({"plan": Plan((Step("", "ship", {"n": math.inf}),))}, r"plan\.steps\[0\]\.input\.n is inf"),
    ],
)
def test_a_start_of_other_types_is_refused(fields: dict[str, Any], said: str) -> None:
    story = given()
    with pytest.raises(InvalidInputError, match=said):
        story.when(starting(**fields))
    assert story.facts == []


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (m.ReceiveSignal(at=2.0, name=5), "name is 5"),  # type: ignore[arg-type]
        (m.ReceiveSignal(at=2.0, name="a", id=5), "id is 5"),  # type: ignore[arg-type]
        (m.ReceiveSignal(at=2.0, name="a", relevant="no"), "relevant is 'no'.*True or False"),  # type: ignore[arg-type]
        (m.ReceiveSignal(at=2.0, name="a", payload={"p": [-math.inf]}), r"payload\.p\[0\] is -inf"),
        (m.RequestCancel(at=2.0, reason=5), "reason is 5"),  # type: ignore[arg-type]
        (m.RequestReplan(at=2.0, reason=5), "reason is 5"),  # type: ignore[arg-type]
        (m.ProposePlan(at=2.0, epoch="1", plan=Plan()), "epoch is '1'.*a whole number"),  # type: ignore[arg-type]
        (m.SettleOutcome(at=2.0, operation="o", happened=True, reason=5), "reason is 5"),  # type: ignore[arg-type]
        (
            m.SettleOutcome(at=2.0, operation="o", happened=True, receipt=Receipt(math.nan)),
            r"receipt\.result is nan",
        ),
        (m.RetryCompensation(at=2.0, operation=5), "operation is 5"),  # type: ignore[arg-type]
        (m.WaiveCompensation(at=2.0, operation="o", reason=5), "reason is 5"),  # type: ignore[arg-type]
    ],
)
def test_a_request_of_other_types_is_refused(message: m.Message, said: str) -> None:
    story = given(start("ship"))
    before = [*story.facts]
    with pytest.raises(InvalidInputError, match=said):
        story.when(message)
    assert story.facts == before


def test_every_message_that_no_attempt_or_engine_sends_is_checked() -> None:
    inner = {
        m.Activate, m.CatchUp, m.Advance, m.AnswerNoPlan, m.AnswerGoalReached, m.ReportPlanningFailure,
        m.Report, m.ReportOpinion, m.GuideRun, m.TakeBackRun,
    }  # fmt: skip
    assert set(m.Message.__subclasses__()) - inner == FROM_OUTSIDE


def test_what_fits_is_what_a_replay_reads() -> None:
    message = starting(goal=Goal("g", {"sizes": (1, 2), "id": uuid.UUID(int=1)}), key="", tags={"a": "b"})
    inputs = {"sizes": [1, 2], "id": "00000000-0000-0000-0000-000000000001"}
    assert checked(message) == starting(goal=Goal("g", inputs), key="", tags={"a": "b"})


@pytest.mark.parametrize("steps", [[{"tool_name": "ship"}], Step(tool_name="ship"), {"a": 1}, "ship"])
def test_a_plan_is_a_list_of_steps(steps: Any) -> None:
    with pytest.raises(TypeError, match=r"write "):
        Plan(steps)


def test_a_uuid_is_taken_as_its_text() -> None:
    assert checked(starting(key=uuid.UUID(int=1))).key == str(uuid.UUID(int=1))
