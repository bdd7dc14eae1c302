"""What a step that plans and executes says: the terms of its child run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

import msgspec

from .children import PLAN_AND_EXECUTE, choose_planner
from .errors import InvalidInputError
from .facts.base import Limits
from .goal import Requirement
from .problems import did_you_mean
from .templates import is_literal


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


def unknown_fields(value: Any, type_: Any, path: str = "") -> Iterator[str]:
    """Yield a sentence for every field that a JSON value has and its type does not.

    The types of facts let unknown fields pass, since a newer version may have written them; people mistype.

    Args:
        value: the value.
        type_: what it is to become.
        path: where it stands.
    """
    if get_origin(type_) is tuple and isinstance(value, Sequence):
        for index, each in enumerate(value):
            yield from unknown_fields(each, get_args(type_)[0], f"{path}[{index}]")
    elif isinstance(type_, type) and issubclass(type_, msgspec.Struct) and isinstance(value, Mapping):
        types = {field.name: field.type for field in msgspec.structs.fields(type_)}
        for name, each in value.items():
            where = f"{path}.{name}" if path else name
            if name in types:
                yield from unknown_fields(each, types[name], where)
            else:
                hint = did_you_mean(name, types, otherwise=f"it takes: {', '.join(types)}")
                yield f"{where}: there is no field {name!r}{hint}"


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
