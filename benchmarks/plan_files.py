"""How long does it take to read and check the file of a large DAG, against PyYAML reading the same text?

Every check of ``midcourse plan validate`` is in it: fields, ids, templates, references, cycles, tools and the
names of their arguments. The templates are parsed anew in every round.
"""

from __future__ import annotations

import time
from pathlib import Path

import yaml
from _bench import emit, median, parse, parser, ratio, scratch

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
    emit(
        "plan_files", f"{options.size} steps", options, wall_ms=median(ours), fastest_ms=min(ours),
        slowest_ms=max(ours), yaml_ms=median(theirs), against_yaml=ratio(ours, theirs), bytes=size,
    )  # fmt: skip


if __name__ == "__main__":
    main()
