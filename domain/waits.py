"""Waits: for a time, or for a signal. A run that waits costs a row in the index, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from .errors import InvalidInputError
from .planning import SignalEntry

WAIT: Final = "wait"
"""The tool name of steps that wait; they are carried out by the run itself."""

_LONGEST_S: Final = 253402214400.0
"""The end of the year 9999 for every time zone, in seconds since the epoch: calendars go no further."""

_FIELDS: Final = ("until", "for_s", "signal", "timeout_s")


class Wait(msgspec.Struct, frozen=True, gc=False):
    """Something a step waits for.

    Args:
        due: when it is over by itself, in seconds since the epoch; ``None`` for never.
        signal: name of the signal it waits for; empty where it only waits for a time.
    """

    due: float | None = None
    signal: str = ""

    def result(self, letter: SignalEntry | None) -> dict[str, Any]:
        """Return what the step results in, once the time has come or the signal is there."""
        if not self.signal:
            return {"timed_out": False}
        if letter is None:
            return {"signal": self.signal, "timed_out": True}
        return {"signal": letter.name, "payload": letter.payload, "timed_out": False}


def read(input: Mapping[str, Any], at: float) -> Wait:
    """Return what a rendered input of a wait step means at a time.

    Args:
        input: one of ``until`` (ISO 8601 with its zone, or seconds since the epoch), ``for_s`` (seconds) and
            ``signal`` (a name, with ``timeout_s`` in seconds or without).
        at: the present time, in seconds since the epoch.

    Raises:
        InvalidInputError: it is none of these; the text says what is wrong and what is allowed.
    """
    unknown = [name for name in input if name not in _FIELDS]
    if unknown:
        raise InvalidInputError(f"wait takes no {unknown[0]!r} (it takes: {', '.join(_FIELDS)})")
    given = [name for name in ("until", "for_s", "signal") if name in input]
    if len(given) != 1:
        told = " and ".join(map(repr, given)) or "none of them"
        raise InvalidInputError(f"wait takes one of 'until', 'for_s' and 'signal', not {told}")
    if "timeout_s" in input and "signal" not in input:
        raise InvalidInputError("'timeout_s' of a wait belongs to 'signal'; leave it out")
    if "until" in input:
        return Wait(_time(input["until"]))
    if "for_s" in input:
        return Wait(_ending("for_s", input["for_s"], at))
    name = input["signal"]
    if not isinstance(name, str) or not name:
        raise InvalidInputError(f"'signal' of a wait is the name of a signal, not {name!r}")
    timeout_s = input.get("timeout_s")
    return Wait(None if timeout_s is None else _ending("timeout_s", timeout_s, at), name)


def _ending(name: str, value: Any, at: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise InvalidInputError(f"{name!r} of a wait is a number of seconds from 0 up, not {value!r}")
    if value > _LONGEST_S - at:
        raise InvalidInputError(
            f"{name!r} of a wait ends after the year 9999, being {value!r} seconds; wait for a signal "
            "without a time, if it is to be for ever"
        )
    return at + value


def _time(value: Any) -> float:
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
        if moment is not None and moment.tzinfo is not None:
            value = moment.timestamp()
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        if 0 <= value <= _LONGEST_S:
            return float(value)
        raise InvalidInputError(
            f"'until' of a wait is in the years 1970 to 9999, not {value!r} seconds after 1970 began"
        )
    raise InvalidInputError(
        f"'until' of a wait is a time with its zone such as '2030-01-31T09:00:00Z', not {value!r}"
    )
