"""How long does it take to read and check the file of a large DAG, against PyYAML reading the same text?

Every check of ``midcourse plan validate`` is in it: fields, ids, templates, references, cycles, tools and the
names of their arguments. The templates are parsed anew in every round. Then the plan is run once, on a SQLite
file, with a tool that only returns; every step is durable before the next one that needs it begins.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import yaml
from _bench import emit, median, parse, parser, ratio, scratch

from midcourse import Engine, Goal, tool
from midcourse.daemon.plans.files import load
from midcourse.domain.plan_file import Surroundings
from midcourse.domain.templates.syntax import parse as parse_template
from midcourse.domain.tools import Catalog, ToolSpec

HEAD = "identifier: large\nname: Large\ndescription: A large DAG.\nsteps:\n"
TOOL = ToolSpec("user__work", input_schema={"properties": {"number": {}, "before": {}, "text": {}}})


def step(number: int) -> str:
    """Return a step that waits for one before it and reads another."""
    if not number:
        return "  - {id: E0, tool_name: user__work, input: {number: 0}, needs: []}\n"
    return (
        f"  - id: E{number}\n    tool_name: user__work\n    needs: [E{number - 1 - number % 3 % number}]\n"
        f"    input:\n      number: {number}\n      before: '{{{{E{max(0, number - 7)}.value}}}}'\n"
        f'      text: "step {number} of {{{{input.name}}}}"\n    reasoning: One of many.\n'
    )


def checked_ms(path: Path, around: Surroundings) -> float:
    parse_template.cache_clear()
    start = time.perf_counter()
    problems = load(path).checked(around)
    took = (time.perf_counter() - start) * 1000
    assert problems == [], problems[:3]
    return took


def yaml_ms(path: Path) -> float:
    start = time.perf_counter()
    yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return (time.perf_counter() - start) * 1000


@tool(effect="read")
async def work(number: int, before: int = 0, text: str = "") -> dict[str, int | str]:
    return {"value": number + before, "text": text}


async def run_s(path: Path, store: Path) -> float:
    """Run the plan of a file to its end, and return the seconds from its start to its end."""
    plan = load(path).plan
    assert plan is not None
    async with Engine(f"sqlite:///{store}", tools=[work]) as engine:
        start = time.perf_counter()
        run = await engine.start(Goal(plan.name, {"name": "it"}), plan=plan.plan())
        outcome = await run.outcome()
        took = time.perf_counter() - start
        assert outcome.status == "completed", outcome
        assert len((await run.state()).ledger) == len(plan.steps)
    return took


def main() -> None:
    options = parse(parser(__doc__, size=2000, unit="steps", rounds=9), quick_size=20)
    around = Surroundings(Catalog([TOOL]))
    with scratch(options) as folder:
        path = folder / "large.yaml"
        path.write_text(HEAD + "".join(map(step, range(options.size))), "utf-8")
        ours, theirs = list[float](), list[float]()
        for _ in range(options.rounds):
            ours.append(checked_ms(path, around))
            theirs.append(yaml_ms(path))
        size = path.stat().st_size
        ran_s = asyncio.run(run_s(path, folder / "runs.db"))
    emit(
        "plan_files", f"{options.size} steps", options, wall_ms=median(ours), fastest_ms=min(ours),
        slowest_ms=max(ours), yaml_ms=median(theirs), against_yaml=ratio(ours, theirs), bytes=size,
        run_ms=ran_s * 1000, steps_per_s=options.size / ran_s,
    )  # fmt: skip


if __name__ == "__main__":
    main()
