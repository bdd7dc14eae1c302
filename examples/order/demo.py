"""The main job: orders that no plan survives, delivered or made good, with every effect exactly once.

`run` is what `midcourse demo` calls. It may be killed at any moment: what it had begun goes on with
`midcourse runs resume`, or when the demo is run again in the same folder.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from midcourse import Engine, Outcome
from midcourse.examples.order.kit import Kit
from midcourse.examples.order.output import JsonOutput, Output, TextOutput
from midcourse.examples.order.scenario import SCENARIOS, Scenario

PLANNERS = ("goap", "function")
VARIANTS = ("all", *SCENARIOS)
WATCHABLE_PACE_S = 0.15
_PACES_A_CALL = 3
"""A call takes about as long as it takes to show the facts around it, so that what is shown is now."""

_INTERRUPTED = 130


def run(
    *,
    keep: Path | None = None,
    planner: str = "goap",
    variant: str = "all",
    pace_s: float | None = None,
    as_json: bool = False,
    program: str = "midcourse",
) -> int:
    """Run the demo and return an exit code: 0, 1 if anything is not as it should be, 130 after Ctrl-C.

    Args:
        keep: folder for store, world and configuration, which is kept; without it, a temporary one. In a
            folder that was used before, orders that were begun go on, and those that are done are only told.
        planner: `goap` or `function`.
        variant: `ship`, `no_route` or `address_change`; `all` tells the first in full, the others in short.
        pace_s: seconds between the facts shown; by default 0.15 on a terminal and 0 elsewhere.
        as_json: print one JSON document at the end instead.
        program: how `midcourse` is called from here, for the commands it prints.

    Raises:
        ValueError: there is no such planner or variant.
        MidcourseError: the store cannot be used, such as when another engine has it open.
    """
    _check("planner", planner, PLANNERS)
    _check("variant", variant, VARIANTS)
    if pace_s is None:
        pace_s = WATCHABLE_PACE_S if sys.stdout.isatty() and not as_json else 0.0
    scenarios = list(SCENARIOS.values()) if variant == "all" else [SCENARIOS[variant]]
    folder = keep or Path(tempfile.mkdtemp(prefix="midcourse-demo-"))
    with Kit(folder, pause_s=_PACES_A_CALL * pace_s) as kit:
        again = [] if keep is None else _options(keep, planner, variant)
        text = TextOutput(folder, program=program, options=again)
        output: Output = JsonOutput() if as_json else text
        output.opened()
        try:
            outcomes = asyncio.run(deliver(kit, scenarios, planner=planner, output=output, pace_s=pace_s))
        except KeyboardInterrupt:
            output.interrupted()
            return _INTERRUPTED
        is_sound = output.closed(kit, is_kept=keep is not None)
    if keep is None:
        shutil.rmtree(folder)
    return 0 if is_sound and all(outcome.completed for outcome in outcomes) else 1


async def deliver(
    kit: Kit, scenarios: Sequence[Scenario], *, planner: str, output: Output, pace_s: float = 0.0
) -> list[Outcome]:
    """Carry out orders one after the other, telling the facts as they land.

    Args:
        kit: tools, planners and the store.
        scenarios: the orders; the first is told in full.
        planner: `goap` or `function`.
        output: where to tell them.
        pace_s: seconds between two new facts shown.
    """
    outcomes = []
    opened_at = time.time()
    async with Engine(kit.store, tools=kit.tools, planners=kit.planners) as engine:
        for scenario in scenarios:
            order = await engine.start(
                scenario.goal(),
                planner=f"{planner}_interrupted" if scenario.new_destination else planner,
                key=scenario.key,
                tags={"variant": scenario.name},
            )
            output.begun(scenario, in_full=scenario is scenarios[0])
            async for record in order.facts():
                if output.fact(record) and record.at >= opened_at:
                    await asyncio.sleep(pace_s)
            outcomes.append(await order.outcome())
            output.ended(outcomes[-1])
    return outcomes


def _options(keep: Path, planner: str, variant: str) -> list[str]:
    """Return what the same demo is called with: a run that was begun belongs to its planner."""
    options = ["--keep", str(keep)]
    options += ["--planner", planner] if planner != PLANNERS[0] else []
    return options + (["--variant", variant] if variant != VARIANTS[0] else [])


def _check(what: str, name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        raise ValueError(f"there is no {what} {name!r}; choose one of {', '.join(allowed)}")
