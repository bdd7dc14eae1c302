"""What is known of each condition: tri-state values from the ledger, the board, the inputs or functions.

A condition's value is, in this order:

1. what its function returns, if it has one: a pure function of the context;
2. what the last standing operation says whose tool names it in ``post``;
3. a boolean of that name on the board, then in the goal's inputs;
4. the value it was declared to have until something says otherwise;
5. false, if some tool can make it true and none did; else unknown.

An operation that is undone, or being undone, no longer stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from ..errors import InvalidInputError
from ..planning import LedgerEntry, PlanningContext
from .literals import Literals

ConditionFunction = Callable[[PlanningContext], bool | None]
Condition: TypeAlias = ConditionFunction | bool | None
"""A function of the context, or the value a condition has until something says otherwise."""


class Beliefs:
    """Asks for the values of conditions.

    Args:
        context: the run as it is.
        conditions: functions and declared values by condition.
        settable: conditions some tool can make true.
    """

    def __init__(
        self, context: PlanningContext, conditions: Mapping[str, Condition], settable: Iterable[str]
    ) -> None:
        self._context = context
        self._functions = {name: rule for name, rule in sorted(conditions.items()) if callable(rule)}
        self._declared = {name: rule for name, rule in conditions.items() if not callable(rule)}
        self._settable = frozenset(settable)

    @property
    def computed(self) -> tuple[str, ...]:
        """Names of the conditions that have a function."""
        return tuple(self._functions)

    def functions(self, *, without: frozenset[str] = frozenset()) -> dict[str, bool | None]:
        """Return what the functions answer, as if the operations ``without`` had been undone.

        Raises:
            InvalidInputError: a function answered something else than true, false or ``None``.
        """
        context = _as_if_undone(self._context, without) if without else self._context
        return {name: _tri_state(function(context), name) for name, function in self._functions.items()}

    def default(self, name: str) -> bool | None:
        """Return the value of a condition no operation and no function says anything about."""
        for values in (self._context.board, self._context.inputs, self._declared):
            value = values.get(name)
            if isinstance(value, bool):
                return value
        return False if name in self._settable and name not in self._declared else None

    def defaults(self, literals: Literals) -> int:
        """Return the bits of all defaults."""
        return literals.mask({name: self.default(name) for name in literals.names})


def standing(context: PlanningContext) -> list[LedgerEntry]:
    """Return the operations that stand, in order of commitment."""
    return [entry for entry in context.ledger if entry.state == "committed"]


def _as_if_undone(context: PlanningContext, operations: frozenset[str]) -> PlanningContext:
    ledger = tuple(
        msgspec.structs.replace(entry, state="undone") if entry.operation in operations else entry
        for entry in context.ledger
    )
    return msgspec.structs.replace(context, ledger=ledger)


def _tri_state(value: Any, name: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise InvalidInputError(
        f"the function of condition {name!r} answered {value!r:.100}; it must answer True, False or None "
        "(unknown)"
    )
