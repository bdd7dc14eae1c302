"""What is wrong with a document that a person wrote: problems with the paths to their places."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead from the top of a document to a place in it."""

Severity = Literal["error", "warning", "note"]


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something a person should know of a place in a document.

    Args:
        text: what is wrong there, what is allowed, what to do.
        path: where.
        step: id of the step it is about, empty if it is about none.
        severity: an ``error`` keeps the document from being used; a ``warning`` and a ``note`` do not.
    """

    text: str
    path: JsonPath = ()
    step: str = ""
    severity: Severity = "error"

    @property
    def is_error(self) -> bool:
        """Whether the document cannot be used."""
        return self.severity == "error"

    def __str__(self) -> str:
        return f"step {self.step}: {self.text}" if self.step else self.text


class Place:
    """Where a reader stands in a document, and where it puts what it finds wrong.

    Args:
        found: the problems of the whole document, which grow.
        path: where it stands.
        step: id of the step it is in.
    """

    __slots__ = ("found", "path", "step")

    def __init__(self, found: list[Problem], path: JsonPath = (), step: str = "") -> None:
        self.found, self.path, self.step = found, path, step

    def at(self, *keys: str | int, step: str = "") -> Place:
        """Return a place further in.

        Args:
            keys: the way from here.
            step: the step that begins there; by default still this one.
        """
        return Place(self.found, (*self.path, *keys), step or self.step)

    def say(self, text: str, *, severity: Severity = "error") -> None:
        """Put a problem here."""
        self.found.append(Problem(text, self.path, self.step, severity))


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """Return a hint in brackets for a name that is not known.

    Args:
        name: what was written.
        known: what could have been meant.
        otherwise: what to say where nothing comes near it, without brackets.
    """
    near = difflib.get_close_matches(name, sorted(known), n=1)
    if near:
        return f" (did you mean {near[0]!r}?)"
    return f" ({otherwise})" if otherwise else ""
