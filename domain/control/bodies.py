"""Reading steps and bodies: the fields of a step, the form of its tool name, what a body may hold."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from ..children import PLAN_AND_EXECUTE
from ..plan import Step
from ..problems import Place
from ..retry import RetryPolicy
from . import fields as f
from .model import CONTROLS, Body, PlanStep

STEP_FIELDS: Final = {
    "id": f.WORDS.needed(),
    "tool_name": f.WORDS.needed(),
    "input": f.OBJECT.needed(),
    "reasoning": f.TEXT,
    "needs": f.TEXTS,
    "operation": f.WORDS,
    "again": f.FLAG,
    "undoes": f.WORDS,
    "retry": f.OBJECT,
    "timeout_s": f.SECONDS,
    "review": f.WORDS,
    "when_unapproved": f.choice("fail", "skip", "default"),
    "default": f.ANY,
    "on_replan": f.choice("drain", "adopt", "cancel"),
}
"""The fields of a step, in the order they are written in."""

CALL_FIELDS: Final = {name: field for name, field in STEP_FIELDS.items() if name not in ("id", "needs")}
"""The fields of a single call in a body."""

_RETRY_FIELDS: Final = {
    "max_attempts": f.COUNT,
    "initial_s": f.SECONDS,
    "factor": f.SECONDS._replace(allowed="a number above 0"),
    "max_s": f.SECONDS,
    "max_lost": f.COUNT,
}

RESERVED_IDS: Final = frozenset(("input", "item", "index", "accumulator", "length", "board"))
IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
WORKBENCH: Final = "workbench__"
PLAN_PREFIX: Final = "plan__"

NOT_IN_BODIES: Final = frozenset(("decide", "map", "reduce"))
BRANCHES: Final = frozenset(("then", "else"))


def read_step(value: Any, place: Place, *, is_call: bool = False) -> PlanStep | None:
    """Return a step of a plan file, with a problem for everything about its fields that is wrong.

    Args:
        value: what stands there.
        place: where.
        is_call: it is a single call in a body, which has no id.
    """
    what = "a tool call" if is_call else "a step"
    read = f.read_object(value, CALL_FIELDS if is_call else STEP_FIELDS, place, what)
    if read is None:
        return None
    name = read.setdefault("tool_name", "")
    if name:
        _check_tool_name(name, place.at(f.key_of(value, "tool_name")))
    if "retry" in read:
        policy = f.read_object(read["retry"], _RETRY_FIELDS, place.at("retry"), "a retry policy")
        read["retry"] = RetryPolicy(**(policy or {}))
    if read.get("when_unapproved") == "default" and "default" not in read:
        place.at("when_unapproved").say(
            "'when_unapproved: default' needs the field 'default', its result then"
        )
    made = PlanStep(**read)
    for name in idle_fields(made):
        place.at(f.key_of(value, name)).say(
            f"{made.tool_name!r} is carried out by the run itself and takes no {name!r}; say it at the tools "
            "that it calls, or leave it out"
        )
    return made


def _check_tool_name(name: str, place: Place) -> None:
    if name.startswith(WORKBENCH):
        place.say(f"tool {name!r} belongs to a workbench and is not for plans; name another tool")
    elif not _TOOL_NAME.match(name):
        place.say(
            f"tool name {name!r} is none: it is 'user__…', 'builtin__…', 'plan__…', '<server>__<tool>', "
            f"{PLAN_AND_EXECUTE!r}, or a control step ({', '.join(CONTROLS)})"
        )
    elif "__" in name and not all(name.split("__", 1)):
        place.say(f"tool name {name!r} has nothing on one side of '__'; write '<server>__<tool>'")


def check_id(step_id: str, place: Place) -> None:
    """Say what is wrong with the form of a step's id."""
    if not IDENTIFIER.match(step_id):
        place.say(f"step id {step_id!r} must be letters, digits and _, not starting with a digit")
    elif step_id in RESERVED_IDS:
        place.say(f"step id {step_id!r} is reserved ({', '.join(sorted(RESERVED_IDS))}); choose another")


def step_label(value: Any, index: int) -> str:
    """Return how messages call a step: by its id, or by its number where it has none."""
    step_id = value.get("id") if isinstance(value, dict) else None
    return step_id if isinstance(step_id, str) and step_id else f"#{index + 1}"


def read_body(value: Any, place: Place, name: str) -> Body | None:
    """Return the body of a control step.

    Args:
        value: what stands there: an object or a list.
        place: where.
        name: the field it stands in, which says what it may hold.
    """
    if isinstance(value, dict):
        call = read_step(value, place, is_call=True)
        if call is not None:
            _check_may_hold(call, place.at(f.key_of(value, "tool_name")), name)
        return call
    if not value:
        place.say(f"{name!r} has no steps; write at least one, or a tool call {{tool_name, input}}")
    steps = []
    for index, each in enumerate(value):
        where = place.at(index, step=step_label(each, index))
        step = read_step(each, where)
        if step is None:
            continue
        if step.id:
            check_id(step.id, where.at("id"))
        if step.needs is not None:
            where.at("needs").say("the steps of a body run in order; leave 'needs' out, or call a plan__…")
        _check_may_hold(step, where.at(f.key_of(each, "tool_name")), name)
        steps.append(step)
    return tuple(steps)


def _check_may_hold(step: Step, place: Place, name: str) -> None:
    if step.tool_name in NOT_IN_BODIES:
        place.say(
            f"{name!r} may not hold a {step.tool_name!r}; put it into a plan of its own and call that as "
            "plan__…"
        )
    elif step.tool_name == "exit" and name not in BRANCHES:
        place.say(f"{name!r} may not hold an 'exit', only 'then' and 'else' may; filter the items instead")


def as_step(step: Step) -> Step:
    """Return a step as the engine keeps it: the fields of :class:`Step` and no others."""
    return Step(**{name: getattr(step, name) for name in Step.__struct_fields__})


_OF_TOOLS: Final = (
    "operation", "again", "undoes", "retry", "timeout_s", "review", "when_unapproved", "default", "on_replan",
)  # fmt: skip


def idle_fields(step: Step) -> list[str]:
    """Return the fields of a step that are about calls of tools, where the step is none."""
    if step.tool_name not in CONTROLS and not step.tool_name.startswith(PLAN_PREFIX):
        return []
    return [name for name in _OF_TOOLS if getattr(step, name) != _STEP_DEFAULTS[name]]


def unsupported_fields(step: PlanStep) -> list[str]:
    """Return the fields of a step that say something the engine of this version does not carry out."""
    carried_out = set(Step.__struct_fields__)
    return [
        name
        for name, default in _defaults().items()
        if name not in carried_out and getattr(step, name) != default
    ]


_STEP_DEFAULTS: Final = {field.name: field.default for field in msgspec.structs.fields(Step)}


def _defaults() -> dict[str, Any]:
    return {field.name: field.default for field in msgspec.structs.fields(PlanStep) if not field.required}
