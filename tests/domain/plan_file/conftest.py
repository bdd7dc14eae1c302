from collections.abc import Callable
from typing import Any

import pytest

from midcourse.domain.plan_file import PlanFile, read_plan_file

Read = Callable[..., list[str]]


def document(*steps: Any, **fields: Any) -> dict[str, Any]:
    return {"identifier": "triage", "name": "Triage", "description": "Sorts.", "steps": list(steps), **fields}


def step(step_id: str, tool_name: str = "user__work", /, **fields: Any) -> dict[str, Any]:
    inputs = {"input": fields.pop("input", {})}
    return {"id": step_id, "tool_name": tool_name, **inputs, **fields}


@pytest.fixture
def wrong() -> Read:
    """Read a plan of these steps and fields, and return the problems as ``path: text``."""

    def read(*steps: Any, **fields: Any) -> list[str]:
        problems = read_plan_file(document(*steps, **fields)).problems
        return [f"{'.'.join(map(str, each.path))}: {each}" for each in problems]

    return read


@pytest.fixture
def plan() -> Callable[..., PlanFile]:
    """Read a plan of these steps and fields, which has no problems."""

    def read(*steps: Any, **fields: Any) -> PlanFile:
        reading = read_plan_file(document(*steps, **fields))
        assert (list(map(str, reading.problems)), reading.plan is None) == ([], False)
        assert reading.plan is not None
        return reading.plan

    return read
