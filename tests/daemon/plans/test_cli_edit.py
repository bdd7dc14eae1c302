"""``midcourse plan new``, ``set`` and ``step``: changes are made whole, or not at all."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from midcourse.daemon.errors import PlanFileError
from midcourse.daemon.plans.files import LoadedPlan
from midcourse.daemon.plans.writing import create, replace

STEP = json.dumps({"id": "E0", "tool_name": "stock", "input": {"sku": "lamp"}})


def test_a_new_plan_can_run(call: Any, shop: Path) -> None:
    made = call(
        "plan",
        "new",
        "look",
        "--description",
        "Looks.",
        "--step",
        STEP,
        "--output",
        '{"left": "{{E0.left}}"}',
    )
    assert (made.code, made.out, made.err) == (0, "plans/look.yaml: written\n", "")
    assert (shop / "plans" / "look.yaml").read_text() == (
        "identifier: look\nname: look\ndescription: Looks.\nsteps:\n  - id: E0\n    tool_name: "
        "stock\n    input:\n"
        "      sku: lamp\noutput:\n  left: '{{E0.left}}'\n"
    )
    assert call("plan", "run", "look", "-q").json == {"left": 3}


def test_a_new_plan_without_steps_says_what_it_lacks(call: Any, shop: Path) -> None:
    made = call("plan", "new", "empty", "--description", "x", "--folder", "drafts", "--json")
    assert (made.code, made.json) == (0, {"file": "drafts/empty.yaml", "identifier": "empty"})
    assert made.err == "drafts/empty.yaml:4:1: 'steps' is empty; a plan has at least one step\n"
    added = call("plan", "step", "add", "drafts/empty.yaml", STEP)
    assert (added.code, added.err) == (0, "")
    assert call("plan", "validate", "drafts/empty.yaml").code == 0


def test_a_new_plan_clobbers_nothing(call: Any, shop: Path) -> None:
    before = (shop / "plans" / "order.yaml").read_bytes()
    again = call("plan", "new", "order", "--description", "x", "--step", STEP)
    assert (again.code, again.out) == (1, "")
    assert "plans/order.yaml has the identifier 'order' already; nothing was written" in again.err
    (shop / "plans" / "taken.yaml").write_text("identifier: other\n")
    taken = call("plan", "new", "taken", "--description", "x", "--step", STEP)
    assert (taken.code, "plans/taken.yaml exists; nothing was written" in taken.err) == (1, True)
    assert (shop / "plans" / "order.yaml").read_bytes() == before
    assert (shop / "plans" / "taken.yaml").read_text() == "identifier: other\n"
    assert [path.name for path in (shop / "plans").iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("identifier", ["a b", "../escape", "a/b"])
def test_an_identifier_is_no_path(call: Any, shop: Path, identifier: str) -> None:
    made = call("plan", "new", identifier, "--description", "x")
    assert (made.code, "must be letters, digits, '_' and '-'" in made.err) == (1, True)
    assert sorted(path.name for path in shop.rglob("*.yaml")) == ["order.yaml"]


def test_a_field_is_set(call: Any, shop: Path) -> None:
    path = shop / "plans" / "order.yaml"
    path.chmod(0o640)
    changed = call("plan", "set", "order", "description", "Reserves: a thing.")
    assert (changed.code, changed.out) == (0, "plans/order.yaml: written\n")
    assert changed.err == "The comments of plans/order.yaml are not kept\n"
    assert "description: 'Reserves: a thing.'\n" in path.read_text()
    assert "# What" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert call("plan", "set", "order", "output", "--unset").code == 0
    assert call("plan", "set", "order", "exemplars", '["order a lamp"]').err == ""
    assert call("plan", "show", "order", "--json").json["exemplars"] == ["order a lamp"]


def test_an_identifier_that_is_taken_is_refused(call: Any, write: Any) -> None:
    write("other", f"  - {STEP}\n")
    changed = call("plan", "set", "order", "identifier", "other")
    assert (changed.code, "plans/other.yaml has the identifier 'other' already" in changed.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("set", "order", "output", '{"a": "{{E9}}"}'), "a template reads 'E9', which is no step"),
        (("step", "rm", "order", "E1"), "a template reads 'E1', which is no step"),
        (("step", "add", "order", STEP), "two steps have the id 'E0'"),
        (("step", "add", "order", STEP.replace("E0", "E3").replace("stock", "stok")), "unknown tool 'stok'"),
        (("step", "update", "order", "E0", '{"input": {}}'), "user__stock needs the argument 'sku'"),
        (("step", "rename", "order", "E0", "0"), "step id '0' must be letters"),
        (("step", "rename", "order", "E0", "E2"), "two steps have the id 'E2'"),
        (("step", "rm", "order", "E7"), "the plan has no step 'E7'"),
        (("set", "order", "colour", '"red"'), "a plan file has no field 'colour'"),
    ],
)
def test_a_change_that_introduces_problems_is_refused(
    call: Any, shop: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = (shop / "plans" / "order.yaml").read_bytes()
    changed = call("plan", *arguments)
    assert (changed.code, changed.out, said in changed.err) == (1, "", True)
    assert (shop / "plans" / "order.yaml").read_bytes() == before


def test_problems_that_were_there_do_not_hold_a_change_up(call: Any, write: Any) -> None:
    path = write(
        "broken",
        (
            "  - {id: E0, tool_name: stok, input: {}}\n  - {id: E1, tool_name: notify, input: {text: "
            "'{{E7}}'}}\n"
        ),
    )
    assert call("plan", "set", "broken", "name", "Better").code == 0
    assert "name: Better\n" in path.read_text()
    assert call("plan", "step", "update", "broken", "E1", '{"input": {"text": "x"}}').code == 0
    assert (
        call("plan", "step", "update", "broken", "E0", '{"toolName": "stock", "input": {"sku": "a"}}').code
        == 0
    )
    assert call("plan", "validate", "broken").code == 0


def test_steps_are_added_changed_renamed_and_removed(call: Any, shop: Path) -> None:
    more = json.dumps({"id": "N", "tool_name": "stock", "input": {"sku": "{{E0.sku}}"}})
    assert call("plan", "step", "add", "order", more, "--after", "E0").code == 0
    assert call("plan", "step", "update", "order", "N", '{"reasoning": "again", "timeout_s": 3}').code == 0
    assert call("plan", "step", "rename", "order", "E0", "first").code == 0
    assert call("plan", "step", "rename", "order", "E1", "held").code == 0
    document = call("plan", "show", "order", "--json").json
    assert [each["id"] for each in document["steps"]] == ["first", "N", "held", "E2"]
    assert document["steps"][1] == {
        "id": "N",
        "tool_name": "stock",
        "input": {"sku": "{{first.sku}}"},
        "reasoning": "again",
        "timeout_s": 3,
    }
    assert document["steps"][3]["input"]["text"] == "{{input.who}}: {{held.id}}, {{first.left}} left"
    assert document["output"]["reservation"] == "{{held.id}}"
    assert call("plan", "step", "rm", "order", "N").code == 0
    assert call("plan", "run", "order", "-i", "sku=lamp", "-q").json["reservation"] == "R-lamp"


def test_a_file_that_is_no_yaml_is_left_alone(call: Any, shop: Path) -> None:
    (shop / "plans" / "bad.yaml").write_text("identifier: [")
    changed = call("plan", "set", "plans/bad.yaml", "name", "x")
    assert (changed.code, "cannot be read as a plan, so it cannot be changed" in changed.err) == (1, True)
    assert (shop / "plans" / "bad.yaml").read_text() == "identifier: ["


DOCUMENT = {"identifier": "a", "name": "a", "description": "a", "steps": [json.loads(STEP)]}


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    create(path, DOCUMENT)
    loaded = LoadedPlan(path, path.read_bytes())
    path.write_text("somebody else's")
    with pytest.raises(PlanFileError, match="was changed by somebody else; nothing was written"):
        replace(path, DOCUMENT, read=loaded.content)
    assert [each.name for each in tmp_path.iterdir()] == ["a.yaml"]
    assert path.read_text() == "somebody else's"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    create(tmp_path / "real.yaml", DOCUMENT)
    link = tmp_path / "link.yaml"
    link.symlink_to("real.yaml")
    replace(link, {**DOCUMENT, "name": "b"}, read=link.read_bytes())
    assert link.is_symlink()
    assert "name: b\n" in (tmp_path / "real.yaml").read_text()
