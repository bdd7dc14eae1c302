"""The catalogue of facts."""

from __future__ import annotations

import msgspec
import pytest

from midcourse.domain import facts as f
from midcourse.domain.decide import _RULES
from midcourse.domain.evolve import _EVOLVE
from midcourse.domain.messages import Message, Report

MOVE_THE_EPOCH = {
    f.RunStarted,
    f.CatalogChanged,
    f.UnwindingBegan,
    f.ReplanRequested,
    f.PlanAccepted,
    f.BoardUpdated,
    f.StepCompleted,
    f.StepSatisfied,
    f.StepFailed,
    f.OutcomeSettled,
    f.ReceiptArrivedLate,
    f.CompensationCompleted,
    f.CompensationWaived,
    f.ReplanJoined,
    f.ChildEnded,
    f.WaitEnded,
    f.ControlEnded,
    f.ExitReached,
    f.QuestionAnswered,
    f.ResultInjected,
    f.ReplanRuleFailed,
    f.ApprovalDenied,
    f.StepSkipped,
}


def test_every_fact_has_a_topic_of_its_own() -> None:
    assert len(f.BY_TOPIC) == len(f.FACTS)
    assert f.BY_TOPIC["step_completed"] is f.StepCompleted
    assert f.BY_TOPIC["compensation_issued"] is f.CompensationIssued


def test_every_fact_is_published() -> None:
    assert {fact.__name__ for fact in f.FACTS} <= set(f.__all__)


def test_every_fact_changes_the_state_by_a_rule() -> None:
    assert set(_EVOLVE) == set(f.FACTS)


def test_every_message_is_answered_by_a_rule() -> None:
    messages = {*Message.__subclasses__(), *Report.__subclasses__()} - {Report}
    assert set(_RULES) == messages


@pytest.mark.parametrize("fact", f.FACTS)
def test_facts_move_the_epoch_as_declared(fact: type[f.Fact]) -> None:
    if fact is f.SignalReceived:
        assert [f.SignalReceived("x", relevant=relevant).moves_epoch for relevant in (True, False)] == [
            True,
            False,
        ]
    else:
        assert fact.moves_epoch is (fact in MOVE_THE_EPOCH)


@pytest.mark.parametrize("fact", f.FACTS)
def test_facts_are_frozen(fact: type[f.Fact]) -> None:
    assert fact.__struct_config__.frozen


def test_what_is_default_is_not_stored() -> None:
    assert msgspec.json.encode(f.SignalReceived("x")) == b'{"name":"x"}'
