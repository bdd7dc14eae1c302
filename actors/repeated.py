"""A start with a key that was used before: the same run, if it asks for the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ..domain.control import bodies_of
from ..domain.decide.validation import normalize
from ..domain.errors import InvalidInputError
from ..domain.facts import PlanProposed, RunStarted
from ..domain.ids import canonical
from ..domain.messages import StartRun
from ..domain.plan import Plan
from ..domain.tools import Catalog
from ..store import Journal
from .registry import EPHEMERAL

_FIRST = 2
"""The records a start leaves at least: what was started, and its plan or the question for one."""


async def check_repeated(journal: Journal, run_id: str, message: StartRun) -> None:
    """Compare a start with that of the run its key belongs to.

    Args:
        journal: the store.
        run_id: the run.
        message: the start, checked.

    Raises:
        InvalidInputError: goal, planner or plan are not the same.
        JournalError: the start of the run cannot be read.
    """
    facts = [record.fact for record in await journal.read(run_id, until=_FIRST)]
    started = next(fact for fact in facts if isinstance(fact, RunStarted))
    plan = next((fact.plan for fact in facts if isinstance(fact, PlanProposed)), None)
    differing = ", ".join(_differences(message, started, plan))
    if differing:
        raise InvalidInputError(
            f"key {message.key!r} belongs to run {run_id}, which was started with another {differing}: "
            "nothing was recorded. A key is for one start; use another key"
        )


def _differences(message: StartRun, started: RunStarted, plan: Plan | None) -> Iterator[str]:
    if canonical(message.goal) != canonical(started.goal):
        yield "goal"
    if _stable(message.planner) != _stable(started.planner):
        yield f"planner ({started.planner or 'none'!r})"
    if _content(message.plan) != _content(plan):
        yield "plan"


def _stable(planner: str) -> str:
    """Return the name of a planner; one that is not registered gets another number each time."""
    return EPHEMERAL if planner.startswith(EPHEMERAL) else planner


def _content(plan: Plan | None) -> bytes:
    """Return what makes two plans the same, whichever tools are registered: their tools by bare name."""
    if plan is None:
        return b""
    numbered = normalize(plan, Catalog(), 0)
    steps = [
        msgspec.structs.replace(
            step, tool_name=_bare(step.tool_name), input=_bare_input(step.tool_name, step.input)
        )
        for step in numbered.steps
    ]
    return canonical(msgspec.structs.replace(numbered, steps=steps))


def _bare(tool: str) -> str:
    return tool.partition("__")[2] or tool


def _bare_input(tool: str, input: Any) -> Any:
    """Return the input of a step with the bare names of the tools in its bodies."""
    names = bodies_of(tool)
    if not names or not isinstance(input, Mapping):
        return input
    return {key: _bare_body(each) if key in names else each for key, each in input.items()}


def _bare_body(body: Any) -> Any:
    if isinstance(body, (list, tuple)):
        return [_bare_body(each) for each in body]
    if not isinstance(body, Mapping) or not isinstance(body.get("tool_name"), str):
        return body
    tool = body["tool_name"]
    return {**body, "tool_name": _bare(tool), "input": _bare_input(tool, body.get("input", {}))}
