"""A fact in one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...domain import facts as f
from ...domain.plan import Step
from ...domain.receipt import Receipt
from ...store import Record
from .moments import show_moment
from .output import one_line, paint, short_json
from .wrapping import wrap

_TOOL_NAME = re.compile(r"\buser__(\w+)\b(?!:[0-9a-f])")
"""A Python tool's name where it does not begin an operation key, which is needed in full to name it."""

_TOPIC_WIDTH = 22
_WIDE = 120
"""Columns a terminal needs for whole lines of facts."""

_TEXT = 160
_BAD = ("failed", "lost", "unknown", "rejected", "parked", "missing", "stuck", "unwinding")
_GOOD = ("completed", "satisfied", "settled")
_PLANS = ("plan", "replan", "goal", "proposal")


def fact_line(record: Record, *, width: int = 0, prefix: str = "") -> str:
    """Return a record as a line: version, time, actor, cause, kind, and the data in short.

    Args:
        record: the record.
        width: columns of the terminal; 0 for any number. On a narrow one, date, actor and cause are left out,
            and what the data say is wrapped below itself.
        prefix: what the line begins with.
    """
    if 0 < width < _WIDE:
        return _narrow_line(record, width, prefix)
    cause = f"←{record.cause}" if record.cause else ""
    topic = paint(f"{record.topic:<{_TOPIC_WIDTH}}", _style(record.topic))
    when, who = show_moment(record.at, fine=True), one_line(record.actor, 20)
    text = summary(record.fact)
    line = f"{prefix}{record.version:>6}  {when}  {who:<10} {cause:>6}  {topic}  {text}".rstrip()
    return wrap(line, width, hang=len(prefix) + _WIDE // 2)


def _narrow_line(record: Record, width: int, prefix: str) -> str:
    begin = f"{prefix}{record.version:>4} {show_moment(record.at)[11:]} "
    topic = paint(f"{record.topic:<{_TOPIC_WIDTH}}", _style(record.topic))
    hang = len(begin) + _TOPIC_WIDTH + 1
    return wrap(f"{begin}{topic} {summary(record.fact)}".rstrip(), width, hang=hang)


def short_fact_line(record: Record) -> str:
    """Return a record as a line for a narrow terminal: version, kind, and the data in short."""
    topic = paint(f"{record.topic:<{_TOPIC_WIDTH}}", _style(record.topic))
    return f"{record.version:>6}  {topic}  {summary(record.fact)}".rstrip()


def fact_value(record: Record) -> dict[str, Any]:
    """Return a record as a JSON value; its time is in seconds since the epoch, as recorded."""
    return {
        "run": record.run_id,
        "version": record.version,
        "position": record.position,
        "at": record.at,
        "actor": record.actor,
        "cause": record.cause,
        "topic": record.topic,
        "schema": record.fact.schema,
        "moves_epoch": record.fact.moves_epoch,
        "prev": record.prev,
        "hash": record.hash,
        "data": record.fact,
    }


def summary(fact: f.Fact) -> str:
    """Return what a fact says, in short."""
    tell = _TELL.get(type(fact))
    return human(tell(fact) if tell else _fields(fact), _TEXT)


def bare(tool: str) -> str:
    """Return a tool's name without its prefix, where it is a Python tool."""
    return tool.removeprefix("user__")


def human(text: str, limit: int = 0) -> str:
    """Return a text in which tools are named as their programs name them, on a line; see :func:`one_line`."""
    return one_line(_TOOL_NAME.sub(r"\1", text), limit)


def steps_text(steps: Iterable[Step]) -> str:
    """Return steps as ids and tools."""
    return ", ".join(f"{step.id} {bare(step.tool_name)}" for step in steps)


def _style(topic: str) -> str:
    if any(word in topic for word in _BAD):
        return "red"
    if any(word in topic for word in _GOOD):
        return "green"
    if topic.startswith("compensation"):
        return "yellow"
    return "cyan" if topic.startswith(_PLANS) else ""


def _fields(fact: f.Fact, skip: tuple[str, ...] = ("digest", "catalog", "lineage")) -> str:
    parts = []
    for name in fact.__struct_fields__:
        value = getattr(fact, name)
        if name not in skip and value not in (None, "", (), {}, False):
            parts.append(f"{name}={_value(value)}")
    return " ".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, f.Failure):
        return f"{value.kind}: {value.message}"
    return _receipt(value) if isinstance(value, Receipt) else short_json(value)


def _receipt(receipt: Receipt | None) -> str:
    if receipt is None:
        return "no receipt"
    made = ", ".join(f"{resource.kind} {resource.id}" for resource in receipt.resources)
    return f"{made} {short_json(receipt.result)}" if made else short_json(receipt.result)


def _arguments(input_: Mapping[str, Any]) -> str:
    return "(" + ", ".join(f"{name}={short_json(value, 40)}" for name, value in input_.items()) + ")"


def _list(name: str, values: tuple[str, ...]) -> str:
    return f" · {name} {', '.join(values)}" if values else ""


def _accepted(fact: f.PlanAccepted) -> str:
    lists = ("kept", "adopted", "added", "superseded", "undone")
    changes = "".join(_list(name, getattr(fact, name)) for name in lists)
    title = f"revision {fact.revision} by {fact.author}{changes} · stability {fact.stability}"
    return f"{title} · {fact.reason or 'no reason given'}"


def _began(fact: f.RunStarted) -> str:
    inputs = f" {short_json(fact.goal.inputs)}" if fact.goal.inputs else ""
    return f"{fact.goal.text}{inputs} planner={fact.planner or 'none'}"


def _failed(fact: f.StepFailed) -> str:
    return f"{fact.step}: {fact.failure.kind}: {fact.failure.message}"


def _counted(fact: f.CoverageChecked) -> str:
    return "; ".join(f"{gap.requirement}: {gap.why}" for gap in fact.gaps) or "no requirement is open"


def _bodies(fact: f.ControlStarted) -> str:
    if fact.plan is not None:
        return f"runs a plan of {len(fact.plan.steps)} steps {short_json(fact.input)}"
    return f"takes {fact.said['branch']}" if fact.said else f"over {len(fact.items)} items"


def _waits(fact: f.WaitStarted) -> str:
    signal = f" for the signal {fact.signal}" if fact.signal else ""
    until = "" if fact.due is None else f" until {show_moment(fact.due)}"
    return f"{fact.step}{signal}{until}"


_TELL: dict[type[f.Fact], Callable[[Any], str]] = {
    f.RunStarted: _began,
    f.RunCompleted: lambda fact: f"result={short_json(fact.result)} {fact.reason}",
    f.RunFailed: lambda fact: f"{fact.failure.kind}: {fact.failure.message}",
    f.ReplanRequested: lambda fact: f"{fact.cause}{f' {fact.step}' if fact.step else ''}: {fact.reason}",
    f.PlanProposed: lambda fact: f"by {fact.author} from epoch {fact.epoch}: {steps_text(fact.plan.steps)}",
    f.PlanAccepted: _accepted,
    f.ProposalRejected: lambda fact: f"{fact.code}: {'; '.join(fact.problems)}",
    f.CoverageChecked: _counted,
    f.StepStarted: lambda fact: f"{fact.step} {bare(fact.tool)}{_arguments(fact.input)} as {fact.operation}",
    f.StepCompleted: lambda fact: f"{fact.step} → {_receipt(fact.receipt)}",
    f.StepSatisfied: lambda fact: f"{fact.step}: {fact.operation} is committed already",
    f.StepFailed: _failed,
    f.ControlStarted: lambda fact: f"{fact.step} {_bodies(fact)}",
    f.BodyStarted: lambda fact: fact.path,
    f.ControlEnded: lambda fact: f"{fact.step} → {short_json(fact.result)}",
    f.ExitReached: lambda fact: f"{fact.step} {fact.status}: {fact.message or 'no message'}",
    f.QuestionAsked: lambda fact: f"{fact.step}: {fact.prompt}",
    f.QuestionAnswered: lambda fact: f"{fact.step} → {short_json(fact.result)}",
    f.WaitStarted: _waits,
    f.WaitEnded: lambda fact: f"{fact.step} → {short_json(fact.result)}",
    f.StepHeld: lambda fact: f"before {fact.step}",
    f.ResultInjected: lambda fact: f"{fact.step} → {short_json(fact.result)} {fact.reason}",
    f.CompensationIssued: lambda fact: f"{bare(fact.tool)} takes back {fact.of} ({fact.cause})",
    f.CompensationCompleted: lambda fact: f"{fact.operation} → {_receipt(fact.receipt)}",
}
