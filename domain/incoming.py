"""What comes from outside is checked against its types before anything is decided.

A fact that holds a value of another type than its class says could be written, and never be read again. So no
rule sees a message of a person or a program before `checked` has; what attempts report is put into its types
where it is made.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from . import messages as m
from .breakpoints import Breakpoints
from .budget import Budget
from .errors import InvalidInputError
from .facts import Limits
from .goal import Goal
from .ids import plain
from .plan import Plan
from .receipt import Receipt

M = TypeVar("M", bound=m.Message)

FROM_OUTSIDE: Final[frozenset[type[m.Message]]] = frozenset(
    (
        m.StartRun,
        m.ProposePlan,
        m.RequestReplan,
        m.ReceiveSignal,
        m.RequestCancel,
        m.SettleOutcome,
        m.RetryCompensation,
        m.WaiveCompensation,
        m.RequestCompensation,
        m.PauseRun,
        m.UnpauseRun,
        m.ChangeBudget,
        m.ApproveSubject,
        m.DenySubject,
        m.AnswerQuestion,
        m.DecideReview,
        m.SetBreakpoints,
        m.ReleaseStep,
        m.InjectResult,
        m.BeginChild,
    )
)
"""The messages that people, programs and tools send."""

_MOST_SHOWN: Final = 200
_STRUCTS: Final = (
    ("goal", Goal, 'a text, or Goal("text", inputs={…})'),
    ("plan", Plan, 'Plan([Step(tool_name="…", input={…}), …])'),
    ("limits", Limits, "Limits(replans=20), or leave it out"),
    ("receipt", Receipt, "Receipt(result)"),
    ("budget", Budget, "Budget(steps=100)"),
    ("breakpoints", Breakpoints, 'Breakpoints(["E2"], on_error=True)'),
)
_HINTS: Final = (
    (
        re.compile(r"plan\.steps\[\d+\]\.(id|tool_name)"),
        'a text; name the fields: Step(tool_name="…", input={…})',
    ),
    (
        re.compile(r"plan\.steps\[\d+\]\.input"),
        'a mapping of argument names to values, such as input={"name": "Mum"}',
    ),
    (re.compile(r"tags(\[\.\.\.\])?"), 'a mapping of texts to texts, such as tags={"customer": "7"}'),
    (re.compile(r"goal\.inputs"), 'a mapping of names to JSON values, such as inputs={"order": 7}'),
)
_TYPES: Final = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "object": "a mapping",
    "array": "a list",
    "null": "None",
}
_NOT_TEXT: Final = (
    bytes, bytearray, memoryview, decimal.Decimal, datetime.datetime, datetime.date, datetime.time,
    datetime.timedelta,
)  # fmt: skip
"""What JSON writes as text, and what is none where a text is asked for."""


def checked(message: M) -> M:
    """Return a message as it will be read back from its facts.

    Raises:
        InvalidInputError: a value is of another type than its field, or is none that JSON can carry; the text
            says which, what was found, and what is allowed.
    """
    for name, struct, allowed in _STRUCTS:
        value = getattr(message, name, None)
        if value is not None and not isinstance(value, struct):
            raise _refused(name, value, allowed)
    plan = message.plan if isinstance(message, m.StartRun) else None
    if plan is None:
        return _checked(message)
    known = _known(plan)
    if known is not None:
        return msgspec.structs.replace(_checked(msgspec.structs.replace(message, plan=_NO_STEPS)), plan=known)
    read_back = _checked(message)
    _remember(plan, read_back.plan)  # type: ignore[attr-defined]  # a StartRun, as the message is
    return read_back


def _checked(message: M) -> M:
    kind = type(message)
    try:
        typed = msgspec.convert(msgspec.to_builtins(message, builtin_types=_NOT_TEXT, str_keys=True), kind)
    except msgspec.ValidationError as error:
        raise _misfit(message, str(error)) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"not a JSON value: {error}; nothing was recorded") from error
    if isinstance(typed, m.StartRun):
        _check_limits(typed.limits)
    read_back: M = plain(typed, kind)
    return read_back


_NO_STEPS: Final = Plan()
_KEPT_PLANS: Final = 64
_MOST_KEPT_BYTES: Final = 65_536
_checked_plans: dict[int, tuple[Plan, bytes, Plan]] = {}
"""By its id: a plan that was checked lately, its text then, and how it was read back. Runs are often started
with one plan over and over. The plan is held, so that its id stays its own."""


def _known(plan: Plan) -> Plan | None:
    """Return a plan as it was read back, if this very object was checked and holds what it held then."""
    kept = _checked_plans.get(id(plan))
    return kept[2] if kept is not None and kept[1] == _text(plan) else None


def _remember(plan: Plan, read_back: Plan) -> None:
    text = _text(plan)
    if not text or len(text) > _MOST_KEPT_BYTES or b"null" in text:  # a null may be NaN the next time
        return
    if len(_checked_plans) >= _KEPT_PLANS:
        _checked_plans.clear()
    _checked_plans[id(plan)] = (plan, text, read_back)


def _text(plan: Plan) -> bytes:
    """Return the JSON text of a plan, for its inputs may be changed by their owner; empty if it has none."""
    try:
        return msgspec.json.encode(plan)
    except (TypeError, ValueError, RecursionError):
        return b""


def _check_limits(limits: Limits) -> None:
    for name in ("replans", "proposals", "planning_attempts"):
        if getattr(limits, name) < 0:
            raise _refused(f"limits.{name}", getattr(limits, name), "0 or more")
    if limits.steps_at_once is not None and limits.steps_at_once < 1:
        raise _refused("limits.steps_at_once", limits.steps_at_once, "1 or more, or leave it out")


def _misfit(message: m.Message, said: str) -> InvalidInputError:
    """Put what msgspec says in words of the caller's arguments."""
    problem, _, where = said.partition(" - at `")
    path = where.rstrip("`").rpartition("$")[2].lstrip(".")
    expected = re.match(r"Expected `([^`]*)`", problem)
    allowed = " or ".join(_TYPES.get(name, name) for name in expected[1].split(" | ")) if expected else ""
    hint = next((text for pattern, text in _HINTS if pattern.fullmatch(path)), allowed)
    if not hint:
        return InvalidInputError(f"{path}: {problem}; nothing was recorded")
    return _refused(path.removesuffix("[...]"), _at(message, path), hint)


def _at(value: Any, path: str) -> Any:
    """Return the part of a message that a path of msgspec leads to, as far as it can be followed."""
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        if index:
            value = value[int(index)]
        elif isinstance(value, Mapping):
            value = value.get(name, value)
        else:
            value = getattr(value, name, value)
    return value


def _refused(path: str, found: Any, allowed: str) -> InvalidInputError:
    shown = repr(found)
    if len(shown) > _MOST_SHOWN:
        shown = shown[:_MOST_SHOWN] + "…"
    return InvalidInputError(
        f"{path} is {shown} (a {type(found).__qualname__}); hand in {allowed}. Nothing was recorded"
    )
