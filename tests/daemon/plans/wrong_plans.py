"""Plans that are wrong in one way each, and the table of what is said of them.

Run as a program, it writes the table into ``docs/plans.md``.
"""

from pathlib import Path

from midcourse.daemon.plans.files import LoadedPlan
from midcourse.domain.plan_file import PlanFile, Surroundings, read_plan_file
from midcourse.domain.tools import Catalog, ToolSpec

DOCS = Path(__file__).resolve().parents[3] / "docs" / "plans.md"
BEGIN = "<!-- wrong plans: made by tests/daemon/plans/wrong_plans.py -->\n"
END = "<!-- end of wrong plans -->"

_HEAD = "identifier: p\nname: P\ndescription: A plan.\n"
_STEP = "  - {id: E0, tool_name: user__stock, input: {sku: a}}\n"
_ASK = "prompt: ok?, output_schema: "


def _steps(*steps: str, head: str = _HEAD) -> str:
    return f"{head}steps:\n" + "".join(f"  - {{{step}}}\n" for step in steps)


WRONG = {
    "not YAML": "identifier: [p\n",
    "a key that is there twice": f"{_HEAD}name: Q\nsteps:\n{_STEP}",
    "a field that is not known": f"{_HEAD}step:\n{_STEP}",
    "a field that is missing": f"identifier: p\nname: P\nsteps:\n{_STEP}",
    "a value of another type": f"{_HEAD}exemplars: order\nsteps:\n{_STEP}",
    "an identifier that is no name": f"identifier: my plan\nname: P\ndescription: A plan.\nsteps:\n{_STEP}",
    "no steps": f"{_HEAD}steps: []\n",
    "two ways to answer": (
        f"{_HEAD}steps:\n{_STEP}output: {{}}\nsolver: {{query_to_answer: what?, data: {{}}}}\n"
    ),
    "a schema that is none": f"{_HEAD}input_schema: {{type: strin}}\nsteps:\n{_STEP}",
    "an id that is none": _steps("id: 0, tool_name: user__stock, input: {sku: a}"),
    "an id that is reserved": _steps("id: item, tool_name: user__stock, input: {sku: a}"),
    "an id that is there twice": f"{_HEAD}steps:\n{_STEP}{_STEP}",
    "a tool of a workbench": _steps("id: E0, tool_name: workbench__open, input: {}"),
    "a tool name that is none": _steps("id: E0, tool_name: send mail, input: {}"),
    "both spellings of a field": _steps(
        "id: E0, tool_name: user__stock, toolName: user__stock, input: {sku: a}"
    ),
    "a template that is none": _steps("id: E0, tool_name: user__stock, input: {sku: '{{input.sku'}"),
    "a template over nothing": _steps("id: E0, tool_name: user__stock, input: {sku: '{{inputs.sku}}'}"),
    "a template over a later step": _steps(
        "id: E0, tool_name: user__stock, input: {sku: '{{E1.sku}}'}",
        "id: E1, tool_name: user__stock, input: {sku: a}",
    ),
    "an item outside of a body": _steps("id: E0, tool_name: user__stock, input: {sku: '{{item}}'}"),
    "a need that is no step": _steps("id: E0, tool_name: user__stock, input: {sku: a}, needs: [E7]"),
    "steps that wait for each other": _steps(
        "id: E0, tool_name: user__stock, input: {sku: '{{E1.sku}}'}, needs: []",
        "id: E1, tool_name: user__stock, input: {sku: '{{E0.sku}}'}",
    ),
    "an exit without a status": _steps("id: E0, tool_name: exit, input: {}"),
    "two gates": _steps("id: E0, tool_name: exit, input: {when: {expr: 'true'}, infer: ok?, status: error}"),
    "no gate": _steps("id: E0, tool_name: filter, input: {over: []}"),
    "a comparison that is none": _steps(
        "id: E0, tool_name: exit, input: {when: {value: 1, op: equals, to: 1}, status: error}"
    ),
    "an ordering without numbers": _steps(
        "id: E0, tool_name: exit, input: {when: {value: '{{input.n}}', op: gt, to: '3'}, status: error}"
    ),
    "an expression that is none": _steps(
        "id: E0, tool_name: exit, input: {when: {expr: input.n >}, status: error}"
    ),
    "an empty body": _steps("id: E0, tool_name: map, input: {over: [], do: []}"),
    "a map in a body": _steps("id: E0, tool_name: map, input: {over: [], do: {tool_name: map, input: {}}}"),
    "an exit in a map": _steps(
        "id: E0, tool_name: map, input: {over: [], do: {tool_name: exit, input: {status: error}}}"
    ),
    "an agent without tools": _steps(
        "id: E0, tool_name: agent, input: {prompt: x, output_schema: {type: object}, tools: []}"
    ),
    "a question nobody can fill in": _steps(
        f"id: E0, tool_name: ask, input: {{{_ASK}{{properties: {{who: {{type: array}}}}}}}}"
    ),
    "a default answer that is missing": _steps(
        f"id: E0, tool_name: ask, input: {{{_ASK}{{type: object}}, when_unanswered: default}}"
    ),
    "a default that is no answer": _steps(
        f"id: E0, tool_name: ask, input: {{{_ASK}{{properties: {{ok: {{type: boolean}}}}}}, "
        "when_unanswered: default, default: {ok: later}}"
    ),
    "a time limit on a filter": _steps(
        "id: E0, tool_name: filter, input: {over: [1], where: {expr: item > 0}}, timeout_s: 5"
    ),
    "a wait for nothing": _steps("id: E0, tool_name: wait, input: {}"),
    "a tool that is not there": _steps("id: E0, tool_name: user__stok, input: {sku: a}"),
    "a built-in tool whose pack is off": _steps("id: E0, tool_name: builtin__now, input: {}"),
    "an argument that is not there": _steps("id: E0, tool_name: user__stock, input: {skv: a}"),
    "a plan that is not there": _steps("id: E0, tool_name: plan__othr, input: {}"),
    "a server that is not there": _steps("id: E0, tool_name: linear__list, input: {}"),
    "plans that call each other": _steps("id: E0, tool_name: plan__back, input: {}"),
    "a glob that matches nothing": _steps(
        "id: E0, tool_name: agent, input: {prompt: x, output_schema: {type: object}, tools: [usr__*]}"
    ),
}


def _plan(identifier: str, tool: str) -> PlanFile:
    step = {"id": "E0", "tool_name": tool, "input": {"sku": "a"} if tool.startswith("user") else {}}
    plan = read_plan_file({"identifier": identifier, "name": "x", "description": "x", "steps": [step]}).plan
    assert plan is not None
    return plan


AROUND = Surroundings(
    Catalog(
        [
            ToolSpec(
                "user__stock", effect="read", input_schema={"properties": {"sku": {}}, "required": ["sku"]}
            )
        ]
    ),
    {"other": _plan("other", "user__stock"), "back": _plan("back", "plan__p")},
)


def said(text: str) -> list[str]:
    """Return what is said of a plan."""
    return [str(each) for each in LoadedPlan(Path("plan.yaml"), text.encode()).checked(AROUND)]


def table() -> str:
    """Return the table of wrong plans and what is said of them."""
    rows = ["| wrong | what is said |", "|---|---|"]
    for name, text in WRONG.items():
        problems = "<br>".join(f"`{line}`" for line in said(text)).replace("|", "\\|")
        rows.append(f"| {name} | {problems} |")
    return "\n".join(rows) + "\n"


def with_table(document: str) -> str:
    """Return the document with the table as it is now."""
    before, _, rest = document.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    DOCS.write_text(with_table(DOCS.read_text("utf-8")), "utf-8")
