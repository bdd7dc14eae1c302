"""Reading of template text: ``parse`` turns one string into nodes, once per distinct string."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import get_args

import msgspec

from .errors import TemplateSyntaxError
from .paths import Path, Segment
from .sections import Anchored, Bare, LoopName, LoopVariable, Part, Section, Subject, Text

MAX_SECTION_DEPTH = 50

KEPT_TEXTS = 16_384
"""Strings whose parsed form is kept: more than a plan has, so that each is parsed once."""

_OPEN, _CLOSE = "{{", "}}"
_LOOP_NAMES: dict[str, LoopName] = {name: name for name in get_args(LoopName)}
_NOT_SUPPORTED = {
    ">": "partials",
    "!": "comments",
    "&": "unescaped tags",
    "{": "triple braces",
    "=": "other delimiters",
    "<": "parents",
    "$": "blocks",
}
_NAME = re.compile(r"[\w-]+")
# Keys come from data, so they may hold spaces, slashes and the like, but nothing helpers are written with.
_KEY = re.compile(r"""[^\s.{}()|"'`]+(?: [^\s.{}()|"'`]+)*""")


class Parsed(msgspec.Struct, frozen=True):
    """One string, read.

    Args:
        node: renders it; a ``Path`` if the string is exactly one tag.
        roots: the roots it reads.
        bare: the bare keys in its sections, which read a root only if no item has them.
    """

    node: Path | Text
    roots: frozenset[str]
    bare: frozenset[str]


class _OpenSection(msgspec.Struct):
    """A section whose end has not been read yet; the whole text is one without a subject."""

    name: str = ""
    offset: int = 0
    subject: Subject | None = None
    inverted: bool = False
    parts: list[Part] = msgspec.field(default_factory=list[Part])

    @property
    def has_items(self) -> bool:
        """Whether keys inside may read an item."""
        return not self.inverted and isinstance(self.subject, (Anchored, Bare))


@lru_cache(maxsize=KEPT_TEXTS)
def parse(text: str) -> Parsed:
    """Read a string with at least one tag.

    Raises:
        TemplateSyntaxError: the string is not a template.
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.stack = [_OpenSection()]
        self.roots: set[str] = set()
        self.bare: set[str] = set()

    def parse(self) -> Parsed:
        end = 0
        while (start := self.text.find(_OPEN, end)) >= 0:
            self._words(end, start)
            self.offset = start
            close = self.text.find(_CLOSE, start + len(_OPEN))
            if close < 0:
                raise self._error("a tag is opened but not closed; write '}}' after it")
            self._tag(self.text[start + len(_OPEN) : close].strip())
            end = close + len(_CLOSE)
        self._words(end, len(self.text))
        if len(self.stack) > 1:
            self.offset, name = self.stack[-1].offset, self.stack[-1].name
            raise self._error(f"section '{name}' is not closed; write '{{{{/{name}}}}}' after it")
        parts = tuple(self.stack[0].parts)
        exact = parts[0].path if len(parts) == 1 and isinstance(parts[0], Anchored) else None
        return Parsed(exact or Text(parts), frozenset(self.roots), frozenset(self.bare))

    def _words(self, start: int, end: int) -> None:
        if start < end:
            self.stack[-1].parts.append(self.text[start:end])

    def _tag(self, tag: str) -> None:
        sigil, name = tag[:1], tag[1:].strip()
        if sigil in _NOT_SUPPORTED:
            raise self._error(
                f"{_NOT_SUPPORTED[sigil]} are not part of the template language; write a path, or a section "
                "with '#' or '^'"
            )
        if sigil == "/":
            self._close_section(name)
        elif sigil in ("#", "^"):
            self._open_section(name, inverted=sigil == "^")
        else:
            self.stack[-1].parts.append(self._subject(tag))

    def _open_section(self, name: str, *, inverted: bool) -> None:
        if len(self.stack) > MAX_SECTION_DEPTH:
            raise self._error(f"sections are nested more than {MAX_SECTION_DEPTH} levels deep; flatten them")
        self.stack.append(_OpenSection(name, self.offset, self._subject(name), inverted))

    def _close_section(self, name: str) -> None:
        section = self.stack[-1]
        if section.subject is None:
            raise self._error(f"'{{{{/{name}}}}}' closes a section that is not open; remove it")
        if section.name != name:
            raise self._error(
                f"section '{section.name}' is open but '{name}' is closed; write '{{{{/{section.name}}}}}'"
            )
        self.stack.pop()
        closed = Section(section.name, section.subject, section.inverted, tuple(section.parts))
        self.stack[-1].parts.append(closed)

    def _subject(self, name: str) -> Subject:
        in_section = any(section.has_items for section in self.stack)
        if name in _LOOP_NAMES:
            if not in_section:
                raise self._error(f"'{name}' has a value only inside a section over an array")
            return LoopVariable(_LOOP_NAMES[name])
        first, *rest = name.split(".")
        self._check(name, first, rest)
        if in_section and not rest:
            self.bare.add(name)
            return Bare(Segment.of(name))
        if first[0].isdigit():
            raise self._error(
                f"path '{name}' starts with a number; a path starts with a step id or another root"
            )
        self.roots.add(first)
        length = rest[-1:] == ["length"]
        segments = tuple(map(Segment.of, rest[:-1] if length else rest))
        return Anchored(Path(name, first, segments, length))

    def _check(self, name: str, first: str, rest: list[str]) -> None:
        if not name:
            raise self._error("a tag is empty; write a path such as 'E0.id' in it")
        if not first or not all(rest):
            raise self._error(f"path '{name}' has a dot with nothing on one side; remove the dot")
        if not _NAME.fullmatch(first):
            raise self._error(
                f"'{name}' is not a path: a path starts with a name of letters, digits, '_' and '-'; there "
                "are no helpers, and the loop variables are @index, @first and @last"
            )
        for key in rest:
            if not _KEY.fullmatch(key) or key in _LOOP_NAMES:
                raise self._error(
                    f"'{key}' in path '{name}' is not a key: quotes, braces, parentheses, '|', line breaks "
                    "and loop variables are not allowed"
                )
        if "length" in (first, *rest[:-1]):
            raise self._error(f"'length' in path '{name}' must be the last segment, after a path")

    def _error(self, problem: str) -> TemplateSyntaxError:
        return TemplateSyntaxError(problem, text=self.text, offset=self.offset)
