"""Reading tables of the configuration into structs, with everything that is wrong with them."""

from __future__ import annotations

import typing
from typing import Any, TypeVar

import msgspec

from ..domain.problems import did_you_mean

T = TypeVar("T", bound=msgspec.Struct)


def read_table(key: str, value: Any, kind: type[T], problems: list[str]) -> T | None:
    """Return the struct that a table is, or ``None`` after saying what is wrong with it.

    Args:
        key: where the table stands, such as ``http.charge``.
        value: what was found there.
        kind: the struct.
        problems: grows by a sentence for each problem.
    """
    if not isinstance(value, dict):
        problems.append(f"{key}: must be a table, not {value!r}; write [{key}] with its keys below")
        return None
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    found = [_unknown(key, name, fields) for name in value if name not in fields]
    needed = [name for name, field in fields.items() if field.required and name not in value]
    found += [f"{key}: needs {', '.join(needed)}"] if needed else []
    for name, each in value.items():
        if name in fields:
            found += _misfits(f"{key}.{name}", each, fields[name].type)
    problems += found
    return None if found else msgspec.convert(value, kind)


def _unknown(key: str, name: str, known: typing.Mapping[str, Any]) -> str:
    allowed = f"allowed are {', '.join(known)}" if known else "there is none"
    hint = did_you_mean(name, known, otherwise=allowed)
    return f"{key}.{name}: unknown key{hint}"


def _misfits(key: str, value: Any, kind: Any) -> list[str]:
    """Return why a value does not fit; a table in the table is read as one."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        inside: list[str] = []
        read_table(key, value, kind, inside)
        return inside
    if typing.get_origin(kind) is typing.Literal and value not in (allowed := typing.get_args(kind)):
        hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
        return [f"{key}: is {value!r}{hint}; it is one of {', '.join(allowed)}"]
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problem, _, way = str(error).partition(" - at `$")
        return [f"{key}{way.rstrip('`')}: {problem}"]
    return []
