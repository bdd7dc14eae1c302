"""What shows of approvals before a person's plan runs."""

from __future__ import annotations

from typing import Any

import pytest

from midcourse.domain.authority import ApprovalRule, Authority
from midcourse.domain.decide.approval_rules import foreseen_approval
from midcourse.domain.tools import Catalog, ToolSpec

PAY = ToolSpec("user__pay", cost=2.0)


def foresee(
    *rules: ApprovalRule, input: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None
) -> str:
    catalog = Catalog([PAY], Authority(approvals=rules))
    foreseen = foreseen_approval(PAY, input, catalog, inputs=inputs, step="E0")
    return "none" if foreseen is None else f"{'sure' if foreseen.is_certain else 'perhaps'}: {foreseen.why}"


def test_without_a_rule_that_is_about_it_none_is_needed() -> None:
    others = ApprovalRule(tool="ship"), ApprovalRule(effect="read")
    assert foresee(*others) == "none"


def test_a_rule_without_a_condition_is_certain() -> None:
    assert foresee(ApprovalRule(tool="pay")) == "sure: a rule asks for it (tool 'pay')"
    assert foresee(ApprovalRule()) == "sure: a rule asks for it (every call)"


@pytest.mark.parametrize(
    ("when", "input", "inputs", "foreseen"),
    [
        ("input.cents > 100", {"cents": 200}, None, "sure"),
        ("input.cents > 100", {"cents": 100}, None, "none"),
        ("input.cents > 100", None, None, "perhaps"),
        ("input.cents > 100", {}, None, "perhaps"),
        ("tool.cost > 1.0 && step.id == 'E0'", {}, None, "sure"),
        ("run.author == 'planner' || run.mode == 'interactive'", {}, None, "none"),
        ("run.inputs.vip", {}, {"vip": True}, "sure"),
        ("run.inputs.vip", {}, None, "perhaps"),
        ("run.started_by == 'os:mia'", {}, {}, "perhaps"),
    ],
)
def test_a_condition_counts_where_what_it_reads_is_known(
    when: str, input: dict[str, Any] | None, inputs: dict[str, Any] | None, foreseen: str
) -> None:
    assert foresee(ApprovalRule(when=when), input=input, inputs=inputs).partition(":")[0] == foreseen


def test_what_is_certain_is_said_rather_than_what_is_open() -> None:
    rules = ApprovalRule(when="input.cents > 100"), ApprovalRule(effect="irreversible")
    assert foresee(*rules) == "sure: a rule asks for it (effect irreversible)"
    assert foresee(rules[0]) == "perhaps: a rule decides about it when it is due (input.cents > 100)"
