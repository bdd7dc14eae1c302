"""What a step that plans and executes says: the terms of its child run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from .children import PLAN_AND_EXECUTE, choose_planner
from .errors import InvalidInputError
from .facts.base import Limits
from .goal import Requirement
from .templates import is_literal
from .unknown_fields import unknown_fields


class Terms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The input of a ``plan_and_execute`` step.

    Args:
        query: what the child run is for, in words.
        inputs: JSON values its plan may use as ``{{input.…}}``.
        planner: name of its planner; empty for that of its parent, or the only one there is.
        requirements: what it has to show before it is complete.
        limits: its own limits and budgets.
    """

    query: str
    inputs: Mapping[str, Any] = msgspec.field(default_factory=dict)
    planner: str = ""
    requirements: tuple[Requirement, ...] = ()
    limits: Limits = Limits()


_TYPES = {field.name: field.type for field in msgspec.structs.fields(Terms)}


def read_terms(input: Mapping[str, Any]) -> Terms:
    """Return the terms that a rendered input is.

    Raises:
        InvalidInputError: it is none; the text says what is wrong and what is allowed.
    """
    try:
        terms = msgspec.convert(input, Terms)
    except msgspec.ValidationError as error:
        fields = ", ".join(Terms.__struct_fields__)
        raise InvalidInputError(f"{PLAN_AND_EXECUTE}: {error} (it takes: {fields})") from error
    for unknown in unknown_fields(input, Terms):
        raise InvalidInputError(f"{PLAN_AND_EXECUTE}: {unknown}")
    return terms


def term_problems(
    input: Mapping[str, Any], own: str, registered: frozenset[str] | None
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an input before it is rendered: the field, and a sentence.

    What holds templates is known when its turn comes.

    Args:
        input: the input of the step.
        own: the planner of the run that the step is in; empty for none.
        registered: the planners of the engine; ``None`` where they are not known.
    """
    for name, type_ in _TYPES.items():
        if name in input and is_literal(input[name]):
            try:
                msgspec.convert(input[name], type_)
            except msgspec.ValidationError as error:
                yield name, f"{PLAN_AND_EXECUTE}: {name}: {error}"
            else:
                for unknown in unknown_fields(input[name], type_, name):
                    yield name, f"{PLAN_AND_EXECUTE}: {unknown}"
    if input.get("query") == "":
        yield "query", f"{PLAN_AND_EXECUTE}: query: says what the child run is for, and is empty"
    named = input.get("planner", "")
    if isinstance(named, str) and is_literal(named) and registered is not None:
        try:
            choose_planner(named, own, registered)
        except InvalidInputError as error:
            yield "planner", str(error)
