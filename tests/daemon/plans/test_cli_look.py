"""``midcourse plan list``, ``show``, ``validate``, ``dry-run`` and ``schema``."""

import json
from pathlib import Path
from typing import Any

import pytest

ORDER_LINES = [
    "plan__order  Order",
    "  Reserves a thing and tells somebody.",
    "  input sku: string, required",
    "  input quantity: integer, default 2",
    '  input who: string, default "Mia"',
    "  ├─ E0  stock  sku={{input.sku}}",
    "  ├─ E1  user__reserve  sku={{input.sku}} quantity={{input.quantity}}",
    "  └─ E2  user__notify  text={{input.who}}: {{E1.id}}, {{E0.left}} left",
    "  output: reservation, quantity",
]
BODIES = """\
  - id: E0
    tool_name: stock
    input: {sku: lamp}
  - id: E1
    tool_name: map
    input:
      over: "{{E0.shelves}}"
      concurrency: 2
      do:
        - {id: E2, tool_name: reserve, input: {sku: "{{item}}"}}
        - {id: E3, tool_name: notify, input: {text: "{{E2.id}}"}}
  - id: E4
    tool_name: decide
    input:
      if: {value: "{{E1.count}}", op: gt, to: 0}
      then: {tool_name: notify, input: {text: some}}
      else: {tool_name: exit, input: {status: error, message: none}}
  - id: E5
    tool_name: exit
    input: {when: {expr: E1.count > 3}, status: success}
"""


def test_the_plans_there_are(call: Any, shop: Path, write: Any) -> None:
    write("broken", "  - {id: E0, tool_name: lok, input: {}}\n")
    (shop / "plans" / "notes.txt").write_text("no plan")
    listed = call("plan", "list")
    assert (listed.code, listed.err) == (0, "")
    assert [line.split()[:2] for line in listed.lines] == [
        ["PLAN", "STATE"],
        ["broken", "1"],
        ["order", "ok"],
    ]
    assert call("plan", "list", "--json").json[1] == {
        "identifier": "order",
        "name": "Order",
        "description": "Reserves a thing and tells somebody.",
        "file": "plans/order.yaml",
        "steps": 3,
        "valid": True,
        "problems": 0,
    }


def test_without_plans_it_says_where_it_looked(call: Any, tmp_path: Path) -> None:
    listed = call("plan", "list")
    assert (listed.code, listed.out) == (0, "")
    assert listed.err == "No plan files in plans; midcourse plan new writes one\n"


def test_the_folders_are_those_of_the_configuration(call: Any, shop: Path) -> None:
    (shop / "plans").rename(shop / "more")
    (shop / "midcourse.toml").write_text('tools = ["shop"]\n[plans]\nfolders = ["none", "more"]\n')
    (shop / "elsewhere").mkdir()
    assert call("plan", "list").lines[1].split()[3] == "more/order.yaml"
    config = str(shop / "midcourse.toml")
    there = call("--config", config, "plan", "list", "--json", cwd=shop / "elsewhere").json
    assert there[0]["file"] == str(shop / "more" / "order.yaml")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("plans = 1", "plans: must be a table such as folders = ['plans']"),
        ("[plans]\nfolder = 1", "plans.folder: unknown key; allowed is folders"),
        ("[plans]\nfolders = 'x'", "plans.folders: must be a list such as ['plans']"),
    ],
)
def test_a_configuration_of_folders_that_is_none(call: Any, tmp_path: Path, table: str, said: str) -> None:
    (tmp_path / "midcourse.toml").write_text(table)
    listed = call("plan", "list")
    assert (listed.code, said in listed.err) == (2, True)


def test_a_plan_as_a_tree(call: Any, shop: Path) -> None:
    assert call("plan", "show", "order").lines == ORDER_LINES
    assert call("plan", "show", "plans/order.yaml").lines == ORDER_LINES


def test_bodies_as_a_tree_and_as_mermaid(call: Any, write: Any) -> None:
    write("bodies", BODIES)
    assert call("plan", "show", "bodies").lines[2:] == [
        "  ├─ E0  stock  sku=lamp",
        "  ├─ E1  map  over={{E0.shelves}} concurrency=2",
        "  │  └─ do",
        "  │     ├─ E2  reserve  sku={{item}}",
        "  │     └─ E3  notify  text={{E2.id}}",
        "  ├─ E4  decide  if=({{E1.count}} gt 0)",
        "  │  ├─ then",
        "  │  │  └─ notify  text=some",
        "  │  └─ else",
        "  │     └─ exit  status=error message=none",
        "  └─ E5  exit  when=(E1.count > 3) status=success",
    ]
    assert call("plan", "show", "bodies", "--mermaid").lines == [
        "flowchart TD",
        '    s_E0["E0: stock"]',
        '    s_E1{{"E1: map"}}',
        '    subgraph s_E1_do["do"]',
        '        s_E1_do_E2["E2: reserve"]',
        '        s_E1_do_E3["E3: notify"]',
        "        s_E1_do_E2 --> s_E1_do_E3",
        "    end",
        "    s_E1 -.-> s_E1_do",
        '    s_E4{{"E4: decide"}}',
        '    subgraph s_E4_then["then"]',
        '        s_E4_then_call["notify"]',
        "    end",
        "    s_E4 -.-> s_E4_then",
        '    subgraph s_E4_else["else"]',
        '        s_E4_else_call{{"exit"}}',
        "    end",
        "    s_E4 -.-> s_E4_else",
        '    s_E5{{"E5: exit"}}',
        "    s_E0 --> s_E1",
        "    s_E1 --> s_E4",
        "    s_E4 --> s_E5",
    ]


def test_a_dag_as_mermaid_has_the_arrows_of_needs_and_templates(call: Any, write: Any) -> None:
    write(
        "dag",
        "  - {id: a, tool_name: stock, input: {sku: x}, needs: []}\n"
        "  - {id: b, tool_name: stock, input: {sku: y}}\n"
        "  - {id: c, tool_name: notify, input: {text: '{{b.sku}}'}, needs: [a]}\n",
    )
    assert call("plan", "show", "dag", "--mermaid").lines[4:] == ["    s_a --> s_c", "    s_b --> s_c"]


def test_a_plan_as_its_document(call: Any, shop: Path) -> None:
    document = call("plan", "show", "order", "--json").json
    assert list(document) == ["identifier", "name", "description", "input_schema", "steps", "output"]
    assert document["steps"][1]["tool_name"] == "user__reserve"


def test_a_plan_that_cannot_be_shown_says_why(call: Any, write: Any) -> None:
    path = write("broken", "  - {id: E0, tool_name: lok}\n")
    shown = call("plan", "show", "broken")
    assert (shown.code, shown.out) == (1, "")
    assert "plans/broken.yaml:5:5: step E0: a step needs the field 'input': an object" in shown.err
    assert path.exists()


def test_a_valid_plan(call: Any, shop: Path) -> None:
    checked = call("plan", "validate")
    assert (checked.code, checked.out, checked.err) == (0, "plans/order.yaml: valid\n", "")


def test_a_wrong_plan_of_form_says_all_of_it_with_places(call: Any, write: Any) -> None:
    write(
        "broken",
        "  - id: E0\n    tool_name: stock\n    input:\n      sku: '{{E1.a}}'\n"
        "  - {id: E0, tool_name: 'a b', input: {}}\n",
        output="{a: '{{E9}}'}",
    )
    checked = call("plan", "validate", "broken")
    assert (checked.code, checked.err) == (1, "")
    assert [line.split(" ")[0] for line in checked.lines] == [
        "plans/broken.yaml:4:10:",
        "plans/broken.yaml:9:7:",
        "plans/broken.yaml:10:6:",
        "plans/broken.yaml:10:14:",
        "plans/broken.yaml:",
    ]
    assert checked.lines[-1] == "plans/broken.yaml: 4 problems"
    document = call("plan", "validate", "broken", "order", "--json").json
    assert [(each["identifier"], each["valid"]) for each in document["plans"]] == [
        ("broken", False),
        ("order", True),
    ]
    assert document["plans"][0]["problems"][1] == {
        "file": "plans/broken.yaml",
        "line": 9,
        "column": 7,
        "path": ["steps", 0, "input", "sku"],
        "step": "E0",
        "severity": "error",
        "message": "a template reads 'E1', which is no step (available: board, input)",
    }


def test_a_wrong_plan_of_names_says_all_of_it_with_places(call: Any, write: Any) -> None:
    write("other", "  - {id: E0, tool_name: stock, input: {sku: a}}\n")
    write(
        "broken",
        "  - {id: E0, tool_name: stok, input: {}}\n  - {id: E1, tool_name: user__stock, input: {skv: a}}\n"
        "  - {id: E2, tool_name: plan__othr, input: {}}\n  - {id: E3, tool_name: linear__x, input: {}}\n",
    )
    checked = call("plan", "validate", "broken")
    assert checked.lines == [
        "plans/broken.yaml:5:14: step E0: unknown tool 'stok' (did you mean 'stock'?)",
        "plans/broken.yaml:6:38: step E1: user__stock needs the argument 'sku'",
        "plans/broken.yaml:6:46: step E1: user__stock takes no argument 'skv' (did you mean 'sku'?)",
        "plans/broken.yaml:7:14: step E2: unknown plan 'plan__othr' (did you mean 'plan__other'?)",
        "plans/broken.yaml:8:14: step E3: needs MCP server 'linear', which is not configured",
        "plans/broken.yaml: 5 problems",
    ]


def test_a_server_that_is_not_there_is_a_note_to_validate_and_refused_by_run(call: Any, write: Any) -> None:
    write("remote", "  - {id: E0, tool_name: linear__list, input: {}}\n", requires_servers="[linear]")
    checked = call("plan", "validate", "remote")
    said = "plans/remote.yaml:4:20: {}needs MCP server 'linear', which is not configured"
    assert (checked.code, checked.lines[0]) == (
        0,
        f"{said.format('note: ')}; the plan cannot run until it is",
    )
    ran = call("plan", "run", "remote")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[0] == said.format("")
    write("caller", "  - {id: E0, tool_name: plan__remote, input: {}}\n")
    assert (
        "plan 'plan__remote' cannot be called: it needs MCP server 'linear'"
        in call("plan", "validate", "caller").out
    )


def test_schemas_are_checked(call: Any, write: Any) -> None:
    write("broken", "  - {id: E0, tool_name: stock, input: {sku: a}}\n", input_schema="{type: objekt}")
    checked = call("plan", "validate", "broken")
    assert checked.code == 1
    said = "plans/broken.yaml:4:16: is no JSON Schema: there is no type 'objekt' (did you mean 'object'?)"
    assert checked.lines[0] == said


def test_schemas_are_checked_in_bodies_and_beside_other_problems(call: Any, write: Any) -> None:
    schema = "{type: object, properties: {a: {type: strig}}}"
    agent = f"tool_name: agent, input: {{prompt: x, outputSchema: {schema}}}"
    write("broken", f"  - {{id: E0, tool_name: map, input: {{over: [], do: {{{agent}}}}}}}\n  - nothing\n")
    said = "is no JSON Schema: there is no type 'strig' (did you mean 'string'?)"
    lines = call("plan", "validate", "broken").lines
    assert [line.split(" ", 1)[1] for line in lines[:2]] == [
        f"step E0: {said}",
        "step #2: a step must be an object, not the string 'nothing'",
    ]
    assert lines[0].startswith("plans/broken.yaml:5:")
    assert lines[2:] == ["plans/broken.yaml: 2 problems"]


def test_a_plan_that_is_not_there(call: Any, shop: Path) -> None:
    named = call("plan", "validate", "ordr")
    assert named.code == 2
    assert "there is no plan 'ordr' in plans (did you mean 'order'?); a file may be named, too" in named.err
    assert "plans/x.yaml cannot be read: No such file" in call("plan", "show", "plans/x.yaml").err


def test_two_files_of_one_name(call: Any, shop: Path) -> None:
    (shop / "plans" / "again.yml").write_text((shop / "plans" / "order.yaml").read_text())
    shown = call("plan", "show", "order")
    assert shown.code == 2
    assert "plans/again.yml and plans/order.yaml both have the identifier 'order'" in shown.err


def test_json_files_are_plans(call: Any, shop: Path) -> None:
    steps = [{"id": "E0", "tool_name": "stock", "input": {"sku": "x", "more": 1}}]
    document = {"identifier": "j", "name": "J", "description": "A plan.", "steps": steps}
    (shop / "plans" / "j.json").write_text(json.dumps(document, indent=1))
    said = "plans/j.json:11:5: step E0: user__stock takes no argument 'more' (it takes: sku)"
    assert call("plan", "validate", "j").lines[0] == said


def test_what_a_plan_would_do(call: Any, shop: Path) -> None:
    shown = call("plan", "dry-run", "order", "--input", "sku=lamp")
    assert (shown.code, shown.err) == (0, "")
    assert [line.split() for line in shown.lines[:4]] == [
        ["STEP", "EFFECT", "UNDO", "OPERATION"],
        ["E0", "read", "–", 'user__stock(sku="lamp").0'],
        ["E1", "reversible", "user__release", 'user__reserve(sku="lamp").0'],
        [
            "E2",
            "irreversible",
            "–",
            "user__notify",
            '{"text":"{{input.who}}:',
            "{{E1.id}},",
            "{{E0.left}}",
            'left"}',
        ],
    ]
    assert shown.lines[5:] == [
        "3 steps: 1 read, 1 reversible, 1 irreversible",
        "If it fails or is cancelled, what is reversible is undone",
        "Approvals: none; no rule asks for one",
    ]
    assert not (shop / "shop.db").exists()


def test_equal_calls_are_numbered_as_the_engine_numbers_them(call: Any, write: Any) -> None:
    write(
        "twice",
        "  - {id: E0, tool_name: reserve, input: {sku: a, quantity: 1}}\n"
        "  - {id: E1, tool_name: reserve, input: {sku: a, quantity: 2}}\n"
        "  - {id: E2, tool_name: notify, input: {text: '{{E0.id}}'}}\n"
        "  - {id: E3, tool_name: notify, input: {text: hello}}\n",
    )
    steps = call("plan", "dry-run", "twice", "--json").json["steps"]
    assert [step.get("operation", "") for step in steps] == [
        'user__reserve(sku="a").0',
        'user__reserve(sku="a").1',
        "",
        "",
    ]


def test_without_inputs_what_they_decide_stays_open(call: Any, shop: Path) -> None:
    document = call("plan", "dry-run", "order", "--json").json
    assert [step.get("operation", "") for step in document["steps"]] == ["", "", ""]
    assert document["steps"][1]["undo"] == "user__release"
    assert call("plan", "dry-run", "order", "{}").code == 3


def test_the_approvals_that_rules_will_ask_for(call: Any, shop: Path, write: Any) -> None:
    (shop / "midcourse.toml").write_text(
        'tools = ["shop"]\n[[authority.approvals]]\ntool = "reserve"\nwhen = "input.quantity > 2"\n'
        '[[authority.approvals]]\ntool = "notify"\n'
    )
    write(
        "asked",
        "  - {id: E0, tool_name: reserve, input: {sku: a, quantity: 3}}\n"
        "  - {id: E1, tool_name: reserve, input: {sku: b, quantity: 2}}\n"
        "  - {id: E2, tool_name: reserve, input: {sku: c, quantity: '{{E0.quantity}}'}}\n"
        "  - {id: E3, tool_name: notify, input: {text: '{{E0.id}}'}, when_unapproved: skip}\n",
    )
    many = "input.quantity > 2"
    assert call("plan", "dry-run", "asked").lines[8:] == [
        "Approvals of a person:",
        f"  E0  a rule asks for it (tool 'reserve', {many})",
        f"  E2  perhaps: a rule decides about it when it is due (tool 'reserve', {many})",
        "  E3  a rule asks for it (tool 'notify')",
    ]
    approvals = call("plan", "dry-run", "asked", "--json").json["approvals"]
    assert [each["is_certain"] for each in approvals] == [True, False, True]
    assert approvals[2] == {
        "step": "E3",
        "is_certain": True,
        "why": "a rule asks for it (tool 'notify')",
        "when_unapproved": "skip",
    }


def test_the_steps_of_called_plans_are_shown_with_the_inputs_they_will_have(
    call: Any, shop: Path, write: Any
) -> None:
    write(
        "caller",
        "  - {id: E0, tool_name: plan__order, input: {sku: lamp}}\n"
        "  - {id: E1, tool_name: map, input: {over: [a], do: {tool_name: plan__order, input: {sku: x}}}}\n"
        "  - {id: E2, tool_name: plan__order, input: {sku: '{{E0.reservation}}'}}\n",
    )
    steps = call("plan", "dry-run", "caller", "--json").json["steps"]
    assert [(step["step"], step.get("operation", "")) for step in steps] == [
        ("E0", ""),
        ("E0/E0", 'user__stock(sku="lamp").0'),
        ("E0/E1", 'user__reserve(sku="lamp").0'),
        ("E0/E2", ""),
        ("E1", ""),
        ("E1/do", ""),
        ("E1/do/E0", ""),
        ("E1/do/E1", ""),
        ("E1/do/E2", ""),
        ("E2", ""),
        ("E2/E0", ""),
        ("E2/E1", ""),
        ("E2/E2", ""),
    ]
    assert steps[2]["input"] == {"sku": "lamp", "quantity": 2}
    assert steps[11]["input"] == {"sku": "{{input.sku}}", "quantity": "{{input.quantity}}"}


def test_the_schema_is_for_editors(call: Any, tmp_path: Path) -> None:
    schema = call("plan", "schema").json
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["required"] == ["identifier", "name", "description", "steps"]
