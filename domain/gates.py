"""Whether a gate holds: comparisons of two values, and expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from typing import Any, Final

from .control import Condition
from .expressions import ExpressionError, holds, names_in
from .templates import compile_value, render


class GateError(ValueError):
    """A gate cannot be decided over the values at hand."""


def passes(gate: Condition, scope: Mapping[str, Any]) -> bool:
    """Return whether a condition holds.

    Args:
        gate: the condition; its values may hold templates.
        scope: the values that templates and expressions read.

    Raises:
        TemplateError: a template in it cannot be rendered.
        GateError: its values cannot be compared, or its expression is neither true nor false.
    """
    if gate.expr:
        try:
            return holds(gate.expr, _roots(gate.expr, scope))
        except ExpressionError as error:
            raise GateError(f"condition: {error}") from error
    assert gate.op is not None  # noqa: S101 - it was checked when the plan was
    return _COMPARE[gate.op](_rendered(gate.value, scope), _rendered(gate.to, scope))


def _rendered(value: Any, scope: Mapping[str, Any]) -> Any:
    compiled = compile_value(value)
    return value if compiled is value else render(compiled, scope)


def _roots(expression: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the roots that an expression reads, by name; what a whole run has would take long to copy."""
    found = {}
    for root in names_in(expression):
        try:
            found[root] = scope[root]
        except KeyError:
            continue  # the expression says so itself
    return found


def kind_of(value: Any) -> str:
    """Return what JSON calls a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def _ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(value: Any, to: Any) -> bool:
        for each in (value, to):
            if kind_of(each) != "number":
                raise GateError(f"condition: ordering ops need numbers, got {kind_of(each)}")
        return compare(value, to)

    return ordered


def _contains(value: Any, to: Any) -> bool:
    if isinstance(value, str):
        if not isinstance(to, str):
            raise GateError(f"condition: contains in a string needs a string, got {kind_of(to)}")
        return to in value
    if isinstance(value, (list, tuple)):
        return any(_same(each, to) for each in value)
    raise GateError(f"condition: contains needs a string or an array, got {kind_of(value)}")


def _empty(value: Any, _to: Any) -> bool:
    return value is None or (isinstance(value, Sized) and len(value) == 0)


def _same(value: Any, to: Any) -> bool:
    """JSON equality: ``true`` is no number."""
    if isinstance(value, bool) or isinstance(to, bool):
        return value is to
    same: bool = value == to
    return same


_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": _same,
    "ne": lambda value, to: not _same(value, to),
    "gt": _ordering(lambda value, to: value > to),
    "lt": _ordering(lambda value, to: value < to),
    "gte": _ordering(lambda value, to: value >= to),
    "lte": _ordering(lambda value, to: value <= to),
    "empty": _empty,
    "not_empty": lambda value, to: not _empty(value, to),
    "contains": _contains,
}
