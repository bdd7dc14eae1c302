"""``runs list`` and ``runs show``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
Stories = Callable[[str], Any]


@pytest.fixture
def stories(store: Path, story: Any) -> Stories:
    return lambda run_id: type(story)(store, run_id)


@pytest.fixture
def three(stories: Stories) -> list[str]:
    """A completed run, one that waits for a person, and one under way."""
    done, stopped, busy = (stories(f"01fzzzzzzzzzzzz{n}") for n in "abc")
    done.start(key="first", tags={"shop": "oslo"})
    done.plan(("notify", {"text": "hello"}))
    done.succeed("sent")
    stopped.start(key="second", tags={"shop": "bergen"})
    stopped.plan(("notify", {"text": "hello"}))
    stopped.lose("timed out")
    busy.start(key="third")
    return [done.run.id, stopped.run.id, busy.run.id]


def ids(answer: Any) -> list[str]:
    return [run["run_id"] for run in answer.json["runs"]]


def test_list_is_newest_first(on_store: Call, three: list[str]) -> None:
    answer = on_store("runs", "list")
    assert [line.split()[:2] for line in answer.lines] == [
        ["RUN", "STATUS"],
        [three[2], "planning"],
        [three[1], "attention"],
        [three[0], "completed"],
    ]
    assert answer.err == ""
    assert ids(on_store("runs", "list", "--json")) == three[::-1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--status", "completed", "--status", "planning"), [2, 0]),
        (("--attention",), [1]),
        (("--key", "first"), [0]),
        (("--tag", "shop=bergen"), [1]),
        (("--goal", "ORDER"), [2, 1, 0]),
        (("--goal", "nothing like it"), []),
        (("--since", "2030-03-17T17:46:40Z"), [2, 1, 0]),
        (("--until", "2030-03-17T17:46:40Z"), []),
        (("--since", "3d"), [2, 1, 0]),
    ],
)
def test_list_filters(
    on_store: Call, three: list[str], options: tuple[str, ...], expected: list[int]
) -> None:
    assert ids(on_store("runs", "list", "--json", *options)) == [three[n] for n in expected]


def test_list_says_on_stderr_that_there_is_nothing(on_store: Call, three: list[str]) -> None:
    answer = on_store("runs", "list", "--key", "fourth")
    assert (answer.code, answer.out, answer.err) == (0, "", "No runs\n")


def test_list_by_pages(on_store: Call, three: list[str]) -> None:
    first = on_store("runs", "list", "--limit", "2")
    assert first.err == f"More with --cursor {three[1]}\n"
    second = on_store("runs", "list", "--limit", "2", "--cursor", three[1], "--json")
    assert (ids(second), second.json["cursor"]) == ([three[0]], "")


def test_show(on_store: Call, unknown: Any) -> None:
    answer = on_store("runs", "show", unknown.run.id)
    operation = next(iter(unknown.run.unknown))
    assert answer.err == ""
    assert answer.lines[0] == f"Run {unknown.run.id}  attention  version 15, epoch 13"
    assert "  tags       shop=oslo" in answer.lines
    runs = f"    midcourse --store sqlite:///{unknown.store} runs"
    assert f"{runs} settle {unknown.run.id} {operation} --happened RESULT" in answer.lines
    plan = answer.lines.index("Plan, revision 2")
    assert [line.split() for line in answer.lines[plan + 1 : plan + 4]] == [
        ["✓", "1", "E0", "reserve", "done", '{"sku":"lamp"}'],
        ["?", "2", "E2", "sea", "unknown", '{"to":"island"}'],
        ["·", "3", "E3", "notify", "pending", '{"text":"by', 'sea"}'],
    ]
    revisions = answer.lines.index("Revisions")
    assert answer.lines[revisions + 1 : revisions + 11] == [
        "  1  by planner from epoch 1, at version 4, stability 2",
        "       because start",
        "       its plan: the fastest way",
        "     + added E0 reserve, E1 express",
        "  2  by planner from epoch 10, at version 13, stability 3",
        "       because tool: no express to the island",
        "       its plan: sea goes there",
        "     = kept E0 reserve",
        "     + added E2 sea, E3 notify",
        "     - failed E1 express",
    ]
    ledger = answer.lines[answer.lines.index("Ledger") + 1].split()
    assert ledger[:4] + ledger[5:] == ["committed", "v6", "E0", "reversible", "reservation", "R-1"]


def test_show_as_json(on_store: Call, unknown: Any) -> None:
    document = on_store("runs", "show", unknown.run.id, "--json").json
    assert [step["state"] for step in document["steps"]] == ["done", "unknown", "pending"]
    assert (document["id"], document["status"], document["version"]) == (unknown.run.id, "attention", 15)
    assert [item["kind"] for item in document["attention"]] == ["unknown_outcome"]
    second = document["revisions"][1]
    assert {name: [step["id"] for step in second[name]] for name in ("kept", "added", "superseded")} == {
        "kept": ["E0"],
        "added": ["E2", "E3"],
        "superseded": ["E1"],
    }
    assert (second["asked"], second["reason"], second["stability"]) == (
        "tool: no express to the island",
        "sea goes there",
        3,
    )


def test_show_a_rejected_proposal(on_store: Call, replanned: Any) -> None:
    from midcourse.domain import messages as m
    from midcourse.domain.plan import Plan, Step

    stale = Plan((Step(tool_name="notify", input={"text": "?"}),))
    replanned.lose("timed out")
    replanned.tell(m.SettleOutcome, operation=next(iter(replanned.run.unknown)), happened=True)
    replanned.succeed("sent")
    again = type(replanned)(replanned.store, "01gzzzzzzzzzzzz0")
    again.start(key="other")
    again.tell(m.ReceiveSignal, name="news")
    again.tell(m.ProposePlan, epoch=1, plan=stale)
    answer = on_store("runs", "show", "key:other")
    assert "  ✗  proposal from epoch 1 rejected as stale, at version 5" in answer.lines
    again.tell(m.ProposePlan, epoch=1, plan=stale)
    again.tell(m.ProposePlan, epoch=1, plan=stale)
    folded = on_store("runs", "show", "key:other").lines
    assert [line for line in folded if "✗" in line] == [
        "  ✗  proposals rejected 3 times as stale, at versions 5 to 10"
    ]
    rejection = on_store("runs", "show", "key:other", "--json").json["rejections"]
    assert [(each["code"], each["epoch"]) for each in rejection] == [("stale", 1)] * 3


def test_show_what_a_run_has_to_show(on_store: Call, story: Any) -> None:
    from midcourse.domain import messages as m
    from midcourse.domain.goal import Goal, Requirement
    from midcourse.domain.plan import GoalReached

    required = (
        Requirement(id="sent", text="it is on its way", evidence={"operation": "sea"}),
        Requirement(id="told", text="the customer knows", evidence={"expr": "ledger.size() > 1"}),
    )
    goal = Goal("deliver", {}, required)
    story.tell(m.StartRun, goal=goal, lineage=story.run.id, planner="orders", key="k")
    story.tell(m.AnswerGoalReached, epoch=story.run.epoch, answer=GoalReached())

    def shown() -> list[list[str]]:
        lines = on_store("runs", "show", "key:k").lines
        first = lines.index("Requirements") + 1
        return [line.split() for line in lines[first : first + 2]]

    sent = ["·", "sent", "it", "is", "on", "its", "way", "(operation:", "sea)"]
    told = ["·", "told", "the", "customer", "knows", "(expr:", "ledger.size()", ">", "1)"]
    missing = ["no", "committed", "operation", "is", "like", "'sea'"]
    assert shown()[0] == ["✗", *sent[1:], *missing]
    story.plan(("sea", {"to": "island"}), ("notify", {"text": "by sea"}))
    assert shown() == [sent, told]
    story.succeed("booked")
    story.succeed("sent")
    assert shown() == [["✓", *sent[1:]], ["✓", *told[1:]]]
    checked = [line for line in on_store("audit", "facts", "key:k").lines if "coverage_checked" in line]
    assert checked[1].endswith("no requirement is open")


def test_a_run_is_named_by_id_beginning_or_key(on_store: Call, three: list[str]) -> None:
    for reference in (three[1], "01fzzzzzzzzzzzzb", "key:second"):
        assert on_store("runs", "show", reference, "--json").json["id"] == three[1]


def test_an_unknown_run(on_store: Call, three: list[str]) -> None:
    for reference, said in (("zzz", "run 'zzz'"), ("key:zzz", "run with the key 'zzz'"), ("", "run ''")):
        answer = on_store("runs", "show", reference)
        assert (answer.code, answer.out) == (1, "")
        assert f"has no {said}; `midcourse runs list` shows" in answer.err


def test_an_ambiguous_beginning_lists_the_candidates(on_store: Call, three: list[str]) -> None:
    answer = on_store("runs", "show", "01fz")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == f"Error: run '01fz' could be any of {', '.join(three[::-1])}; write more of the id\n"


def test_ages_are_as_long_as_they_say(on_store: Call, three: list[str]) -> None:
    assert ids(on_store("runs", "list", "--json", "--until", "0s")) == []
