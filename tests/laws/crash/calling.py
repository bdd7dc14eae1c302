"""A run whose effects are HTTP calls, each of which may be the end of its process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from midcourse import Engine, Plan, Step
from midcourse.daemon.http_calls import HttpCall, http_tool
from midcourse.store import Journal

TERMS: dict[str, dict[str, Any]] = {
    "kept": {"idempotent": True},
    "asked": {"probe": "{url}/things?key={{{{operation}}}}"},
    "plain": {},
}
"""What the calls promise: no second effect for a key, or that one can ask, or nothing."""


async def calls(journal: Journal, folder: Path, url: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """One call after the other, until the run ends or waits for a person."""
    os.environ["CALLER"] = str(os.getpid())
    tools = []
    for kind in kinds:
        terms = {
            name: each.format(url=url) if name == "probe" else each for name, each in TERMS[kind].items()
        }
        call = {
            "url": f"{url}/{kind}",
            "method": "POST",
            "headers": {"X-Process": {"env": "CALLER"}},
            **terms,
        }
        tools.append(http_tool(kind, msgspec.convert(call, HttpCall)))
    plan = Plan([Step(f"s{number}", kind) for number, kind in enumerate(kinds)])
    async with Engine(journal, tools=tools) as engine:
        run = await engine.start("call", plan=plan, key="the-run")
        async for _ in run.facts():
            if (await run.state()).status == "attention":
                break
        state = await run.state()
    return {"status": state.status, "steps": [step.state for step in state.steps]}
