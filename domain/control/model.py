"""Control steps as the engine carries them out: their inputs, read and checked, in the plan file's names.

Texts in them may hold templates, and nothing is rendered here. Which roots they may read beside those of the
step's own scope is said at each field: ``item`` and ``index`` where one item is looked at, ``accumulator``
where a result is gathered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from ..plan import Step

Comparison = Literal["eq", "ne", "gt", "lt", "gte", "lte", "empty", "not_empty", "contains"]
COMPARISONS: Final[tuple[str, ...]] = get_args(Comparison)
ORDERINGS: Final = frozenset(("gt", "lt", "gte", "lte"))
UNARY: Final = frozenset(("empty", "not_empty"))


class PlanStep(Step, frozen=True, omit_defaults=True, kw_only=True):
    """A step as a plan file has it.

    Args:
        when_unapproved: what becomes of it if a person denies it an approval it needs.
        default: its result where it is not approved and says ``default``.
        on_replan: what becomes of it if another plan is asked for while it runs.
    """

    when_unapproved: Literal["fail", "skip", "default"] = "fail"
    default: Any = None
    on_replan: Literal["drain", "adopt", "cancel"] = "drain"


Body: TypeAlias = PlanStep | tuple[PlanStep, ...]
"""What a control step runs: one call, a step without an id, or steps in order; the last result counts."""


def steps_of(body: Body | None) -> tuple[PlanStep, ...]:
    """Return the steps of a body in order; the step of a single call has no id."""
    if body is None:
        return ()
    return body if isinstance(body, tuple) else (body,)


class Condition(msgspec.Struct, frozen=True, omit_defaults=True):
    """A gate that needs no model: a comparison of two values, or an expression.

    Args:
        value: what is compared, usually a template.
        op: how; orderings need numbers, ``contains`` a text and a text in it, or a list and a value.
        to: what it is compared to; nothing for ``empty`` and ``not_empty``.
        expr: in place of the three, a CEL expression over the roots of the scope that is true or false.
    """

    value: Any = None
    op: Comparison | None = None
    to: Any = None
    expr: str = ""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A gate that a model answers with ``{verdict, reason}``.

    Args:
        infer: a question to be answered with yes or no; a template.
        model: which model; by default the one that judges. A template.
    """

    infer: str
    model: str = ""


Gate: TypeAlias = Condition | Question


class _Gated(msgspec.Struct, frozen=True, omit_defaults=True):
    def _gate(self, condition: Condition | None, infer: str | None, model: str) -> Gate | None:
        return condition if infer is None else Question(infer, model)


class Exit(_Gated, frozen=True, omit_defaults=True, kw_only=True):
    """Ends the run if its gate holds, skipping the rest and the solver.

    Args:
        status: what the run ends as: ``error`` is exit code 4 of ``midcourse plan run``.
        when: the condition; with neither ``when`` nor ``infer`` it always ends the run.
        infer: the question, in place of the condition.
        model: which model is asked.
        message: shown as the answer, or as the error.
        output: the result of the run if it ends here.

    The result of a step that did not end the run is ``{passed: true, verdict?, reason?}``.
    """

    status: Literal["success", "error"]
    when: Condition | None = None
    infer: str | None = None
    model: str = ""
    message: str = ""
    output: Mapping[str, Any] | None = None

    @property
    def gate(self) -> Gate | None:
        """What decides; ``None``: always."""
        return self._gate(self.when, self.infer, self.model)


class Decide(_Gated, frozen=True, omit_defaults=True, kw_only=True, rename={"if_": "if", "else_": "else"}):
    """Runs one of two branches. The branch not taken is never rendered.

    Args:
        if_: the condition; written ``if``.
        infer: the question, in place of the condition.
        model: which model is asked.
        then: the branch if the gate holds.
        else_: the branch if it does not; written ``else``.

    The result is ``{branch: then | else | null, verdict, reason, result}``.
    """

    then: Body
    if_: Condition | None = None
    infer: str | None = None
    model: str = ""
    else_: Body | None = None

    @property
    def gate(self) -> Gate:
        """What decides."""
        gate = self._gate(self.if_, self.infer, self.model)
        assert gate is not None  # noqa: S101 - it is read only if it has one
        return gate


class Filter(_Gated, frozen=True, omit_defaults=True, kw_only=True):
    """Parts a list in two.

    Args:
        over: a list, or a template that renders to one.
        where: the condition for each item; it may read ``item`` and ``index``.
        infer: the question for each item, in place of the condition; the same.
        model: which model is asked; the same.
        concurrency: questions asked at a time.

    The result is ``{count, items, dropped, dropped_count}``, in the order of the list.
    """

    over: str | tuple[Any, ...]
    where: Condition | None = None
    infer: str | None = None
    model: str = ""
    concurrency: int = 1

    @property
    def gate(self) -> Gate:
        """What decides on an item."""
        gate = self._gate(self.where, self.infer, self.model)
        assert gate is not None  # noqa: S101 - it is read only if it has one
        return gate


class Map(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Runs a body for every item of a list.

    Args:
        over: a list, or a template that renders to one.
        do: the body; it may read ``item`` and ``index``.
        concurrency: items at a time.

    The result is ``{count, results}``, in the order of the list.
    """

    over: str | tuple[Any, ...]
    do: Body
    concurrency: int = 1


class Reduce(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Runs a body for every item of a list, one after the other, with the result of the one before.

    Args:
        over: a list, or a template that renders to one.
        do: the body; it may read ``item``, ``index`` and ``accumulator``.
        initial: the first accumulator; may hold templates.

    The result is ``{count, result}``.
    """

    over: str | tuple[Any, ...]
    do: Body
    initial: Any = None


class Agent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Hands a task to a model that may call tools.

    Args:
        prompt: the task; a template.
        output_schema: JSON Schema of the answer, an object.
        tools: globs of the tools it may call; ``None``: all there are, but never ``plan_and_execute``.
        max_iterations: rounds; the last has no tools.
        model: which model; a template.
        system_prompt: in place of the usual one; a template.

    The result is ``{output, iterations, tools_called, final}``.
    """

    prompt: str
    output_schema: Mapping[str, Any]
    tools: tuple[str, ...] | None = None
    max_iterations: int = 8
    model: str = ""
    system_prompt: str = ""


class Ask(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Puts a question to a person; one is asked at a time.

    Args:
        prompt: the question; a template.
        output_schema: JSON Schema of the answer, whose properties are primitive or enums; or a template.
        when_unanswered: what happens if there is nobody to ask, or the person declines.
        default: the answer for ``when_unanswered: default``; may hold templates.

    The result is ``{answer, answered, reason?: declined | unavailable}``.
    """

    prompt: str
    output_schema: Mapping[str, Any] | str
    when_unanswered: Literal["fail", "default"] = "fail"
    default: Mapping[str, Any] | str | None = None


class Wait(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Waits for a time or for a signal; it costs nothing while it waits.

    Args:
        until: a time in ISO 8601 with its zone; a template.
        for_s: seconds; or a template.
        signal: the name of a signal; a template.
        timeout_s: seconds to wait for the signal; or a template.

    The result is ``{signal?, payload?, timed_out}``.
    """

    until: str = ""
    for_s: float | str | None = None
    signal: str = ""
    timeout_s: float | str | None = None


Control: TypeAlias = Exit | Decide | Filter | Map | Reduce | Agent | Ask | Wait

CONTROLS: Final[Mapping[str, type[Control]]] = {
    "exit": Exit,
    "decide": Decide,
    "filter": Filter,
    "map": Map,
    "reduce": Reduce,
    "agent": Agent,
    "ask": Ask,
    "wait": Wait,
}
"""The tool names that are carried out by the engine itself."""

CARRIED_OUT: Final = frozenset(("exit", "decide", "filter", "map", "reduce", "ask", "wait", "plan__"))
"""The control steps that this version carries out, and ``plan__`` once it runs plans in plans."""
