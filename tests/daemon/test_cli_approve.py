"""``runs approve``, ``runs deny``, and what waits for people, with no engine about."""

import os
import pwd
from collections.abc import Callable
from typing import Any

import pytest

from midcourse.domain import messages as m
from midcourse.domain.authority import ApprovalRule, Authority
from midcourse.domain.goal import Goal
from midcourse.domain.plan import Plan, Step
from midcourse.domain.tools import Catalog

from .conftest import CATALOG

Call = Callable[..., Any]

ME = f"os:{pwd.getpwuid(os.getuid()).pw_name}"
RULES = (ApprovalRule(tool="notify"),)


def begin(story: Any, authority: Authority, actor: str = "token:starter") -> str:
    """Start a run whose one step waits for approval; return what the approval is called."""
    story.catalog = Catalog(CATALOG, authority)
    plan = Plan((Step("tell", "notify", {"text": "hello"}),))
    goal = Goal("tell", {})
    story.tell(m.StartRun, goal=goal, lineage=story.run.id, plan=plan, key="order-42", actor=actor)
    name: str = story.run.approvals["tell"].subject
    return name


@pytest.fixture
def last(on_store: Call) -> Callable[[], dict[str, Any]]:
    """The last fact of the run, as JSON."""
    return lambda: on_store("audit", "facts", "key:order-42", "--json").json_lines[-1]


def test_approve(on_store: Call, story: Any, last: Any) -> None:
    name = begin(story, Authority(approvals=RULES, approvers=("os:*",)))
    answer = on_store("runs", "approve", "key:order-42", name)
    assert (answer.code, answer.out) == (0, f"{story.run.id}: approval_given\n")
    assert (last()["actor"], last()["data"]) == (ME, {"subject": name, "by": ME})
    again = on_store("runs", "approve", "key:order-42", name)
    assert (again.code, again.out) == (0, "")


def test_deny_with_a_reason(on_store: Call, story: Any, last: Any) -> None:
    name = begin(story, Authority(approvals=RULES, approvers=("os:*",)))
    answer = on_store("runs", "deny", "key:order-42", name, "--reason", "too late", "--json")
    assert answer.json == {"run": story.run.id, "recorded": ["approval_denied", "step_failed"]}
    assert last()["data"]["failure"]["message"].endswith(f"was denied by {ME}: too late")


def test_a_user_of_the_machine_approves_nothing_unless_configured(
    on_store: Call, story: Any, last: Any
) -> None:
    name = begin(story, Authority(approvals=RULES))
    answer = on_store("runs", "approve", "key:order-42", name)
    assert (answer.code, answer.out, last()["topic"]) == (1, "", "approval_requested")
    assert f"{ME} may not answer {name!r}; those who may: token:*" in answer.err


def test_the_one_who_started_the_run_does_not_approve(on_store: Call, story: Any) -> None:
    name = begin(story, Authority(approvals=RULES, approvers=("os:*",)), actor=ME)
    answer = on_store("runs", "approve", "key:order-42", name)
    assert answer.code == 1
    assert "under four eyes somebody else approves" in answer.err


def test_what_was_never_asked_for(on_store: Call, story: Any) -> None:
    name = begin(story, Authority(approvals=RULES))
    answer = on_store("runs", "approve", "key:order-42", "tell")
    assert answer.code == 1
    assert f"the approval 'tell' was never asked for (waiting: {name})" in answer.err


def test_show_says_what_is_to_be_approved_and_how(on_store: Call, story: Any) -> None:
    name = begin(story, Authority(approvals=RULES))
    shown = on_store("runs", "show", "key:order-42")
    assert f"Needs a person: approval: {name}" in shown.lines
    assert f"    midcourse --store sqlite:///{story.store} runs approve {story.run.id} {name}" in shown.lines
    assert (
        f"    midcourse --store sqlite:///{story.store} runs deny {story.run.id} {name} --reason REASON"
        in shown.lines
    )
    at = shown.lines.index("Waits for approval")
    assert shown.lines[at + 1 : at + 4] == [
        f"  {name}",
        '    step tell: user__notify {"text":"hello"}',
        "    because a rule asks for it (tool 'notify')",
    ]


def test_list_attention_says_what_waits_since_when_and_what_settles_it(on_store: Call, story: Any) -> None:
    name = begin(story, Authority(approvals=RULES))
    listed = on_store("runs", "list", "--attention")
    assert f"Needs a person: approval: {name} (for " in listed.out
    assert f"    midcourse --store sqlite:///{story.store} runs approve {story.run.id} {name}" in listed.lines
    document = on_store("runs", "list", "--attention", "--json").json
    (item,) = document["attention"][story.run.id]
    assert (item["kind"], item["subject"], item["since"]) == ("approval", name, 1_900_000_000.0)
    assert [run["run_id"] for run in document["runs"]] == [story.run.id]
