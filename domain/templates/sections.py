"""Rendering of text: tags between words, sections, bare keys and loop variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec

from .errors import BadPath, EmptyData, MissingStep
from .paths import ABSENT, Path, Segment

MAX_PIECES = 250_000
"""Pieces one text may be put together from: sections inside sections over the same array multiply."""

LoopName = Literal["@index", "@first", "@last"]

_encode = msgspec.json.Encoder().encode


class Frame(msgspec.Struct, frozen=True):
    """What tags can see at one place of a text.

    Args:
        scope: the roots.
        items: the items of the sections around, innermost first.
        loop: index and count of the innermost repetition, if there is one.
    """

    scope: Mapping[str, Any]
    items: tuple[Any, ...] = ()
    loop: tuple[int, int] | None = None


class Subject(Protocol):
    """What a tag or section names."""

    def find(self, frame: Frame) -> Any:
        """Return the value in a section's position, ``ABSENT`` if it leads nowhere."""

    def text(self, frame: Frame) -> str:
        """Return the value in a tag's position, as text."""


class Anchored(msgspec.Struct, frozen=True):
    """A path from a root, among other text."""

    path: Path

    def find(self, frame: Frame) -> Any:
        """Return the value; leading nowhere is absence, a root that does not exist an error."""
        try:
            return self.path.value(frame.scope)
        except (BadPath, EmptyData):
            return ABSENT

    def text(self, frame: Frame) -> str:
        """Return the value as text; leading nowhere is an error."""
        return as_text(self.path.value(frame.scope), self.path.text)


class Bare(msgspec.Struct, frozen=True):
    """A single key inside a section."""

    key: Segment

    def find(self, frame: Frame) -> Any:
        """Return the key of the item, else of an enclosing item, else the root of that name."""
        for item in frame.items:
            value = self.key.read(item)
            if value is not ABSENT:
                return value
        name = self.key.key
        try:
            return frame.scope[name]
        except KeyError:
            if frame.items:
                return ABSENT
        # The sections around repeat nothing, so there is no item the key could be missing on.
        raise MissingStep(name, frame.scope, path=name)

    def text(self, frame: Frame) -> str:
        """Return the value as text; items may leave a key out, so absence is empty."""
        value = self.find(frame)
        return "" if value is ABSENT else as_text(value, self.key.key)


class LoopVariable(msgspec.Struct, frozen=True):
    """``@index``, ``@first`` or ``@last`` of the innermost repetition."""

    name: LoopName

    def find(self, frame: Frame) -> int | bool:
        """Return the value; there must be a repetition."""
        if frame.loop is None:
            raise BadPath(self.name, "there is no section over an array around it", at="")
        index, count = frame.loop
        if self.name == "@index":
            return index
        return index == 0 if self.name == "@first" else index == count - 1

    def text(self, frame: Frame) -> str:
        """Return the value as text."""
        return as_text(self.find(frame), self.name)


class Section(msgspec.Struct, frozen=True):
    """A part of a text that is repeated, or shown on a condition.

    Args:
        name: the subject as written.
        subject: what decides.
        inverted: show the body once if the value is false.
        body: the parts inside.
    """

    name: str
    subject: Subject
    inverted: bool
    body: tuple[Part, ...]

    def write(self, pieces: list[str], frame: Frame) -> None:
        """Append the section's text to ``pieces``."""
        value = self.subject.find(frame)
        if is_truthy(value) is self.inverted:
            return
        if self.inverted or not isinstance(value, (dict, list, tuple)):
            write_parts(self.body, pieces, frame)
        elif isinstance(value, dict):
            write_parts(self.body, pieces, Frame(frame.scope, (value, *frame.items), frame.loop))
        else:
            self._repeat(value, pieces, frame)

    def _repeat(self, items: list[Any] | tuple[Any, ...], pieces: list[str], frame: Frame) -> None:
        for index, item in enumerate(items):
            pieces.append("")  # a repetition that writes nothing is still work, and counts
            if len(pieces) > MAX_PIECES:
                raise BadPath(self.name, f"more than {MAX_PIECES} pieces of text; nest fewer sections", at="")
            write_parts(self.body, pieces, Frame(frame.scope, (item, *frame.items), (index, len(items))))


Part = str | Subject | Section


class Text(msgspec.Struct, frozen=True):
    """A text with tags in it."""

    parts: tuple[Part, ...]

    def value(self, scope: Mapping[str, Any]) -> str:
        """Return the text with everything put in."""
        pieces: list[str] = []
        write_parts(self.parts, pieces, Frame(scope))
        return "".join(pieces)


def write_parts(parts: tuple[Part, ...], pieces: list[str], frame: Frame) -> None:
    """Append the text of every part to ``pieces``."""
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, Section):
            part.write(pieces, frame)
        else:
            pieces.append(part.text(frame))


def is_truthy(value: Any) -> bool:
    """Return whether a section shows: not when absent, ``null``, ``false``, ``""`` or ``[]``; 0 and {} do."""
    if value is ABSENT or value is None or value is False:
        return False
    return len(value) > 0 if isinstance(value, (str, list, tuple)) else True


def as_text(value: Any, path: str) -> str:
    """Return a value in the middle of text: strings as they are, null as nothing, the rest as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadPath(path, f"the value cannot be written as text: {error}", at=path) from error
