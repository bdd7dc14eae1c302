"""Reading YAML into JSON values, with the place of each: the core schema of YAML 1.2, duplicate keys refused.

PyYAML resolves plain words as YAML 1.1 does, where ``on`` is true and ``12:30`` a number. So only its
parser is used, which gives events with their places, and plain words are resolved here. An alias stands for
what its anchor holds; together they may not make a document larger than a million values.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml

from ...domain.problems import Problem
from .marks import MAX_LEVELS, TOO_DEEP, Document, Located, Mark

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER: Final = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL: Final = re.compile(r"0o[0-7]+\Z")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NO_NUMBER: Final = re.compile(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))\Z")
_WORDS: Final[dict[str, Any]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_TEXT_TAG: Final = "tag:yaml.org,2002:str"
_MOST_VALUES: Final = 1_000_000
_MOST_DIGITS: Final = 4000
"""Python refuses to read longer numbers, to keep anybody from spending its time."""


class _Open:
    """A mapping or list that is being read."""

    __slots__ = ("anchor", "is_map", "key", "key_mark", "mark", "size", "value")

    def __init__(self, value: Any, mark: Mark, anchor: str | None) -> None:
        self.value, self.mark, self.anchor = value, mark, anchor
        self.is_map = isinstance(value, dict)
        self.key: str | None = None
        self.key_mark: Mark | None = None
        self.size = 1


def read_yaml(text: str, file: str) -> Document:
    """Return the JSON values in a YAML text, with everything that keeps them from being any."""
    reader = _Reader(file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        reader.refuse(f"is not YAML: {_said(error)}", error.problem_mark or error.context_mark)
    except yaml.YAMLError as error:
        reader.refuse(f"is not YAML: {' '.join(str(error).split())}", None)
    except _StopError:
        pass  # the reason was kept
    value = None if reader.problems else reader.value
    return Document(value, reader.mark, reader.problems)


def _said(error: yaml.MarkedYAMLError) -> str:
    return ", ".join(part for part in (error.context, error.problem) if part)


def _mark(mark: Any, inner: dict[str | int, Mark] | None = None) -> Mark:
    """Return the place of a mark of the parser, which counts from 0."""
    return Mark(mark.line + 1, mark.column + 1, inner)


class _StopError(Exception):
    """Reading on would take too much time or memory."""


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.value: Any = None
        self.mark = Mark(1, 1)
        self.problems: list[Located] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, Mark, int]] = {}
        self._size = 0
        self._documents = 0

    def refuse(self, problem: str, mark: Any) -> None:
        """Keep a problem, at a mark of the parser."""
        place = _mark(mark) if mark is not None else Mark(1, 1)
        self._say(problem, place)

    def _say(self, problem: str, place: Mark) -> None:
        self.problems.append(Located(Problem(problem), self.file, place.line, place.column))

    def take(self, event: Any) -> None:
        """Take up the next event of the parser."""
        kind = event.__class__
        if kind is yaml.ScalarEvent:
            mark = _mark(event.start_mark)
            top = self._stack[-1] if self._stack else None
            as_key = top is not None and top.is_map and top.key is None
            value = event.value if as_key else self._scalar(event)
            self._put(value, mark, 1, event)
            if event.anchor:
                self._anchors[event.anchor] = (value, mark, 1)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            mark = _mark(event.start_mark, {})
            value = {} if kind is yaml.MappingStartEvent else []
            self._check_tag(event, ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"))
            if len(self._stack) >= MAX_LEVELS:
                self.refuse(TOO_DEEP, event.start_mark)
                raise _StopError
            self._stack.append(_Open(value, mark, event.anchor))
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            done = self._stack.pop()
            if done.anchor:
                self._anchors[done.anchor] = (done.value, done.mark, done.size)
            self._put(done.value, done.mark, done.size, event)
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self._documents += 1
            if self._documents == 2:  # noqa: PLR2004 - one is allowed
                self.refuse("holds more than one document; a plan file holds one", event.start_mark)

    def _alias(self, event: Any) -> None:
        known = self._anchors.get(event.anchor)
        if known is None:
            self.refuse(
                f"alias *{event.anchor} is used inside its own anchor, or before it", event.start_mark
            )
            known = (None, Mark(1, 1), 1)
        value, mark, size = known
        place = _mark(event.start_mark, mark.inner)
        self._put(value, place, size, event)

    def _put(self, value: Any, mark: Mark, size: int, event: Any) -> None:
        self._size += size
        if self._size > _MOST_VALUES:
            self.refuse(f"its aliases make it larger than {_MOST_VALUES} values; write them out", None)
            raise _StopError
        if not self._stack:
            if self._documents == 1:
                self.value, self.mark = value, mark
            return
        top = self._stack[-1]
        top.size += size
        inner = top.mark.inner
        assert inner is not None  # noqa: S101 - what is open has it
        if not top.is_map:
            inner[len(top.value)] = mark
            top.value.append(value)
        elif top.key is None:
            self._key(top, value, mark, event)
        else:
            if top.key_mark is not None:
                inner[top.key] = Mark(top.key_mark.line, top.key_mark.column, mark.inner)
                top.value[top.key] = value
            top.key = top.key_mark = None

    def _key(self, top: _Open, value: Any, mark: Mark, event: Any) -> None:
        top.key, top.key_mark = str(value), mark
        if not isinstance(value, str):
            self._say("a key must be a text", mark)
            top.key_mark = None
        elif value == "<<" and not event.style:
            self.refuse("merge keys ('<<') are not part of YAML 1.2; write the fields out", event.start_mark)
            top.key_mark = None
        elif value in top.value:
            first = top.mark.inner[value].line if top.mark.inner else 0
            self.refuse(
                f"the key {value!r} is there twice, in line {first} too; write it once", event.start_mark
            )
            top.key_mark = None

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.tag is not None and event.tag != "!":
            self._check_tag(event, (_TEXT_TAG,))
            return text
        if event.style or event.tag == "!":
            return text
        if text in _WORDS:
            return _WORDS[text]
        first = text[0]
        if first not in "+-.0123456789":
            return text
        return self._number(text, event)

    def _number(self, text: str, event: Any) -> Any:
        if _NO_NUMBER.match(text):
            self.refuse(f"{text} is no number that JSON can carry; quote it, or write null", event.start_mark)
            return None
        if len(text) > _MOST_DIGITS:
            return text
        if _INTEGER.match(text):
            return int(text)
        if _OCTAL.match(text) or _HEX.match(text):
            return int(text, 0)
        if not _FLOAT.match(text):
            return text
        number = float(text)
        if not math.isfinite(number):
            self.refuse(f"{text} is too large a number; quote it", event.start_mark)
        return number

    def _check_tag(self, event: Any, allowed: tuple[str, ...]) -> None:
        if event.tag is not None and event.tag not in ("!", *allowed):
            self.refuse(f"tags such as {event.tag!r} are not for plan files; leave it out", event.start_mark)
