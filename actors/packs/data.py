"""The pack ``data``: tools that only arrange what a plan knows, and one that looks at the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from ...domain.templates import BadPath, EmptyData, compile_value, render
from ..control import ToolError
from ..tools import Tool
from .builtin import builtin, record

_THIS = "."


def data_pack(*, clock: Callable[[], float] = time.time) -> list[Tool]:
    """Return the tools ``builtin__reshape`` and ``builtin__now``.

    Args:
        clock: tells the time, in seconds since the epoch.
    """

    def now(zone: str = "UTC") -> Any:
        """Return the time: as text, in seconds since the epoch, and in parts."""
        try:
            at = datetime.fromtimestamp(clock(), ZoneInfo(zone))
        except (KeyError, ValueError, OSError) as error:  # what is no name, or a folder of names
            problem = f"there is no time zone {zone!r}; write one such as 'Europe/Berlin'"
            raise ToolError(problem, retryable=False) from error
        return {
            "iso": at.isoformat(timespec="milliseconds"),
            "unix": at.timestamp(),
            "date": at.date().isoformat(),
            "time": at.time().isoformat(timespec="seconds"),
            "weekday": at.isoweekday(),
            "zone": zone,
        }

    times = record(
        iso="string", unix="number", date="string", time="string", weekday="integer", zone="string"
    )
    return [builtin(reshape, effect="read"), builtin(now, effect="read", output_schema=times)]


async def reshape(
    value: Any, fields: dict[str, str] | None = None, missing: Literal["fail", "null", "leave_out"] = "fail"
) -> Any:
    """Return a value as it is, or with other fields: of an object, or of each object of a list.

    Args:
        value: the value; templates in it are filled in before.
        fields: the new names, and for each the path to what it holds, such as ``user.name``; ``.`` is the
            whole object.
        missing: what becomes of a path that leads nowhere.
    """
    if fields is None:
        return value
    if isinstance(value, list):
        return [_fields(each, fields, missing, f"value.{index}") for index, each in enumerate(value)]
    return _fields(value, fields, missing, "value")


def _fields(value: Any, fields: Mapping[str, str], missing: str, place: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, path in fields.items():
        try:
            made[name] = value if path == _THIS else _read(path, value)
        except (BadPath, EmptyData) as error:
            if missing == "fail":
                raise ToolError(f"fields.{name} of {place}: {error}", retryable=False) from error
            if missing == "null":
                made[name] = None
    return made


def _read(path: str, value: Any) -> Any:
    """Follow a path as templates do, with their errors."""
    if "{" in path or "}" in path:
        raise ToolError(f"{path!r} is no path; write it without braces, such as user.name", retryable=False)
    return render(compile_value(f"{{{{value.{path}}}}}"), {"value": value})
