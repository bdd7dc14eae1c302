"""What a plan says of control steps, and of plans that steps call, that cannot be carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..control import bodies_of, idle_fields
from ..plan import Plan, Step


def idle_problems(step: Step) -> Iterator[str]:
    """Fields that say something only of tools."""
    for name in idle_fields(step):
        yield (
            f"step {step.id}: {step.tool_name!r} is carried out by the run itself and takes no {name!r}; say "
            "it at the tools that it calls, or leave it out"
        )


def body_id_problems(plan: Plan) -> Iterator[str]:
    """Ids are unique in bodies, too, so that a path names one step."""
    seen = {step.id for step in plan.steps}
    for step in plan.steps:
        for name in bodies_of(step.tool_name):
            body = step.input.get(name)
            for each in body if isinstance(body, (list, tuple)) else ():
                inner = each.get("id") if isinstance(each, Mapping) else None
                if not isinstance(inner, str) or not inner:
                    continue
                if inner in seen:
                    yield f"step {step.id}: two steps have the id {inner!r}; ids are unique, in bodies too"
                seen.add(inner)
