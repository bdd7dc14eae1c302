"""Which signals runs take, and what their payloads look like: data, given to an engine.

Signals are named by globs such as ``paid*``. A name that is written out counts before any glob, globs count
in their order, and a signal that nothing names is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias

from .problems import did_you_mean

Check: TypeAlias = Callable[[Any], Sequence[str]]
"""Returns what is wrong with a payload, one sentence a problem, each with its path."""


class SignalRules:
    """What is declared of signals.

    Args:
        checks: by name or glob, what looks at a payload; ``None`` where no such signal is taken.
    """

    __slots__ = ("_checks",)

    def __init__(self, checks: Mapping[str, Check | None]) -> None:
        self._checks = dict(checks)

    def problems(self, name: str, payload: Any) -> Sequence[str]:
        """Return everything that keeps a signal from being taken.

        Args:
            name: its name.
            payload: what it says.
        """
        rule = self._rule_of(name)
        if rule is None:
            return ()
        check = self._checks[rule]
        if check is not None:
            return check(payload)
        taken = [each for each, check in self._checks.items() if check is not None]
        others = f"taken are {', '.join(taken)}" if taken else "none is"
        return (f"no signal of this name is taken{did_you_mean(name, taken, otherwise=others)}",)

    def _rule_of(self, name: str) -> str | None:
        if name in self._checks:
            return name
        return next((glob for glob in self._checks if fnmatchcase(name, glob)), None)


ANY_SIGNAL: Final = SignalRules({})
"""Nothing is declared: every signal is taken."""
