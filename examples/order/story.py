"""A run told fact by fact, for people: what each says, and how each revision differs from the plan before."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from rich.text import Text

from midcourse.domain import facts as f
from midcourse.store import Record

_MOST_CHARACTERS = 400
_TOPIC_WIDTH = 22
_PYTHON_TOOL = "user__"
"""What names of Python tools begin with in plans; here there are no others, so it tells nothing."""

HIGHLIGHTS = (
    f.RunStarted,
    f.ReplanRequested,
    f.SignalReceived,
    f.ProposalRejected,
    f.PlanAccepted,
    f.CompensationCompleted,
    f.OutcomeUnknown,
    f.OutcomeSettled,
    f.AttemptLost,
    f.RunCompleted,
    f.RunFailed,
    f.RunCancelled,
    f.RunStuck,
)
"""The facts of a short telling."""


class Line(Struct, frozen=True):
    """One line of a telling.

    Args:
        text: what it says.
        style: its colour.
        mark: how a step of a revision fares: `=` kept, `-` dropped, `<` taken back, `+` new.
    """

    text: str
    style: str = ""
    mark: str = ""


class Story:
    """Follows the facts of one run in order; it needs every one of them, told or not."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}
        self._steps: dict[str, str] = {}
        self._undos: dict[str, str] = {}
        self._lasting: set[str] = set()
        self._failed: set[str] = set()

    def tell(self, record: Record) -> list[Line]:
        """Return what a record says: a line, and for a new revision one more for each step."""
        fact = record.fact
        self._remember(fact)
        return [Line(_cut(self._said(fact).replace(_PYTHON_TOOL, "")), _style(fact)), *self._diff(fact)]

    def _remember(self, fact: f.Fact) -> None:
        match fact:
            case f.PlanProposed():
                self._tools |= {step.id: _bare(step.tool_name) for step in fact.plan.steps}
            case f.StepStarted():
                self._steps[fact.operation] = fact.step
                if fact.effect == "irreversible":
                    self._lasting.add(fact.step)
            case f.StepFailed():
                self._failed.add(fact.step)
            case f.CompensationIssued():
                self._undos[fact.operation] = f"{_bare(fact.tool)} takes back {self._step_of(fact.of)}"

    def _said(self, fact: f.Fact) -> str:  # noqa: C901, PLR0911, PLR0912 - a case a fact
        match fact:
            case f.RunStarted():
                return fact.goal.text
            case f.PlanRequested():
                return f"of {fact.planner}, from fact {fact.epoch} on"
            case f.PlanProposed():
                return ", ".join(_bare(step.tool_name) for step in fact.plan.steps) or "no more steps"
            case f.ProposalRejected():
                return f"{fact.code}: {'; '.join(fact.problems)}"
            case f.PlanAccepted():
                return f"revision {fact.revision}: {fact.reason}"
            case f.StepStarted():
                return f"{self._named(fact.step)} {_arguments(fact.input)}"
            case f.StepCompleted():
                return f"{self._named(fact.step)} → {_result(fact.receipt.result)}"
            case f.StepFailed():
                return f"{self._named(fact.step)}: {fact.failure.message}"
            case f.StepSatisfied():
                return f"{self._named(fact.step)}: committed already, nothing ran"
            case f.BoardUpdated():
                return ", ".join(f"{name}={_json(value)}" for name, value in fact.values.items())
            case f.ReplanRequested():
                return f"by {self._named(fact.step)}: {fact.reason}" if fact.step else fact.reason
            case f.SignalReceived():
                return f"{fact.name} {_json(fact.payload)}"
            case f.AttemptStarted() | f.AttemptLost() | f.OutcomeUnknown() | f.OutcomeSettled():
                return self._attempted(fact)
            case f.CompensationIssued() | f.CompensationStarted():
                return self._undos[fact.operation]
            case f.CompensationCompleted():
                return f"{self._undos[fact.operation]} → {_result(fact.receipt.result)}"
            case f.RunFailed():
                return fact.failure.message
            case f.RunCompleted():
                return "the plan is exhausted, and nothing is open"
            case f.RunStuck() | f.RunCancelled():
                return fact.reason
            case _:
                return _json(fact)

    def _attempted(self, fact: f.AttemptStarted | f.AttemptLost | f.OutcomeUnknown | f.OutcomeSettled) -> str:
        step = self._step_of(fact.operation)
        if isinstance(fact, f.OutcomeSettled):
            return f"{step}: it {'happened' if fact.happened else 'did not happen'}, {fact.reason}"
        why = "" if isinstance(fact, f.AttemptStarted) else f": {fact.why}"
        return f"{step}, attempt {fact.attempt}{why}"

    def _diff(self, fact: f.Fact) -> Iterator[Line]:
        if not isinstance(fact, f.PlanAccepted):
            return
        undone = {self._steps[operation] for operation in fact.undone}
        for step in fact.kept:
            if step in undone:
                yield Line(f"{self._named(step)}, to be taken back", "magenta", "<")
            else:
                why = "cannot be undone" if step in self._lasting else "stands"
                yield Line(f"{self._named(step)}, {why}", "dim", "=")
        for step in fact.superseded:
            why = "failed" if step in self._failed else "no longer wanted"
            yield Line(f"{self._named(step)}, {why}", "red", "-")
        for step in fact.added:
            yield Line(self._named(step), "green", "+")

    def _named(self, step: str) -> str:
        return f"{step} {self._tools.get(step, '')}".rstrip()

    def _step_of(self, operation: str) -> str:
        return self._named(self._steps.get(operation, operation))


def told(record: Record, lines: list[Line], *, width: int) -> Text:
    """A telling on paper: the fact's version and topic at the side, its words beside them."""
    first, *steps = lines
    topic = record.topic.replace("_", " ")
    paper = Text.assemble((f"{record.version:>3} ", "dim"), (f"{topic:<{_TOPIC_WIDTH}} ", first.style))
    margin = len(paper)
    paper.append(f"\n{'':<{margin}}".join(textwrap.wrap(first.text, width - margin, break_on_hyphens=False)))
    for step in steps:
        paper.append(f"\n{step.mark:>{margin - 1}} {step.text}", step.style)
    return paper


def _style(fact: f.Fact) -> str:
    match fact:
        case f.StepCompleted() | f.RunCompleted() | f.CompensationCompleted() | f.StepSatisfied():
            return "green"
        case f.StepFailed() | f.ProposalRejected() | f.RunFailed() | f.RunStuck():
            return "red"
        case f.ReplanRequested() | f.SignalReceived() | f.AttemptLost() | f.OutcomeUnknown():
            return "yellow"
        case f.PlanAccepted():
            return "cyan"
        case _:
            return ""


def _arguments(input_: Mapping[str, Any]) -> str:
    return " ".join(
        f"{name}={value if isinstance(value, str) else _json(value)}" for name, value in input_.items()
    )


def _result(result: Any) -> str:
    """The id of what was made; all of the result where it has none."""
    made = result.get(f"{result.get('kind')}_id") if isinstance(result, dict) else None
    return str(made) if made else _json(result)


def _bare(tool: str) -> str:
    return tool.removeprefix(_PYTHON_TOOL)


def _json(value: Any) -> str:
    """JSON with blanks behind its commas, where a line may be broken."""
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(", ", ":"))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
