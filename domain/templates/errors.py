"""What can be wrong with a template, or with the data it reads.

::

    TemplateError
    ├── TemplateSyntaxError   the text is not a template: found when the plan is loaded
    └── RenderError           found when a step is admitted, with the data to mend it
        ├── MissingStep       the root does not exist or has no result
        ├── BadPath           the data is there, the path leads off it: the plan is wrong
        └── EmptyData         the path is plausible, the data ran out: the plan is right
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from ..errors import MidcourseError
from ..ids import digest

MAX_AVAILABLE = 12
_MAX_WHERE_CHARACTERS = 80


class TemplateError(MidcourseError):
    """The base of all errors of templates."""


class TemplateSyntaxError(TemplateError):
    """A text is not a template.

    Args:
        problem: what is wrong and what to write instead.
        text: the whole text.
        offset: index of the character in ``text`` where the problem starts.
        where: keys and indices that lead to the text inside the value it is part of.
    """

    def __init__(self, problem: str, *, text: str, offset: int, where: tuple[str | int, ...] = ()) -> None:
        self.problem = problem
        self.text = text
        self.offset = offset
        self.where = where
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - text.rfind("\n", 0, offset)
        place = f"{_inside(where)} at line {self.line}, column {self.column}"
        super().__init__(f"template syntax error{place}: {problem}")

    def located(self, where: tuple[str | int, ...]) -> TemplateSyntaxError:
        """Return the same error with the place of its text inside a value."""
        return TemplateSyntaxError(self.problem, text=self.text, offset=self.offset, where=where)


class RenderError(TemplateError):
    """A template could not be rendered over the data at hand.

    Attributes:
        path: the path as written, such as ``E0.teams.0.idd``.
        at: how far it led, such as ``E0.teams.0``; empty if its root does not exist.
        problem: what stopped it there, in words, without what was available.
        available: at most 12 names that would have led on from there.
    """

    def __init__(self, message: str, *, path: str, at: str, problem: str, available: tuple[str, ...]) -> None:
        self.path = path
        self.at = at
        self.problem = problem
        self.available = available
        super().__init__(message)

    @property
    def digest(self) -> str:
        """24 hex digits, the same for the same mistake on the same path: tells progress from repetition."""
        return digest((type(self).__name__, self.path, self.problem))

    def details(self) -> dict[str, Any]:
        """Return the error as JSON data, for the record of a failed step and for planners."""
        return {
            "error": type(self).__name__,
            "path": self.path,
            "at": self.at,
            "problem": self.problem,
            "available": list(self.available),
            "digest": self.digest,
        }


class MissingStep(RenderError):
    """A template reads a root that does not exist or has no result yet.

    Args:
        step: the name of the root.
        available: the roots there are.
        path: the whole path as written.
    """

    def __init__(self, step: str, available: Iterable[str], *, path: str) -> None:
        self.step = step
        names = tuple(islice(available, MAX_AVAILABLE + 1))
        problem = f"template references step '{step}' which has no result"
        super().__init__(
            f"{problem} (available: {listed(names)})",
            path=path,
            at="",
            problem=problem,
            available=names[:MAX_AVAILABLE],
        )


class BadPath(RenderError):
    """A path leads off the data: a key that is not there, an index into a string, the length of a number.

    Args:
        path: the path as written.
        problem: what stopped it.
        at: how far it led.
        keys: the keys there are at that place, ``None`` if it is not an object.
    """

    def __init__(self, path: str, problem: str, *, at: str, keys: Iterable[str] | None = None) -> None:
        # Sorted, because the order in which a tool lists its keys may change from one answer to the next.
        names = tuple(sorted(map(str, keys)))[: MAX_AVAILABLE + 1] if keys is not None else ()
        ending = "" if keys is None else f" (available: {listed(names)})"
        super().__init__(
            f"bad path '{path}': {problem}{ending}",
            path=path,
            at=at,
            problem=problem,
            available=names[:MAX_AVAILABLE],
        )


class EmptyData(RenderError):
    """A path ran out of data: an empty array, an index beyond the end, a null.

    Args:
        path: the path as written.
        problem: what there was instead.
        at: how far it led.
    """

    def __init__(self, path: str, problem: str, *, at: str) -> None:
        super().__init__(
            f"empty data at '{path}': {problem}", path=path, at=at, problem=problem, available=()
        )


def listed(names: tuple[str, ...]) -> str:
    """Return at most 12 names for a message, with an ellipsis if there are more."""
    if not names:
        return "none"
    more = ", …" if len(names) > MAX_AVAILABLE else ""
    return ", ".join(names[:MAX_AVAILABLE]) + more


def _inside(where: tuple[str | int, ...]) -> str:
    if not where:
        return ""
    text = ".".join(map(str, where))
    if len(text) > _MAX_WHERE_CHARACTERS:
        text = text[:_MAX_WHERE_CHARACTERS] + "…"
    return f" in '{text}'"
