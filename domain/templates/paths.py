"""Paths: following dotted keys and indices through JSON data, and saying exactly where they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .errors import BadPath, EmptyData, MissingStep, RenderError

ABSENT: Final = object()
"""What a lookup returns when there is nothing there; ``None`` is the JSON null."""

_MAX_INDEX_DIGITS = 18
_KINDS = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", dict: "object"}


class Segment(msgspec.Struct, frozen=True):
    """One segment of a path.

    Args:
        key: the segment as written; what it means in an object.
        index: what it means in an array; ``None`` if it is not a number.
    """

    key: str
    index: int | None

    @classmethod
    def of(cls, text: str) -> Segment:
        """Return the segment written as ``text``."""
        number = text.isascii() and text.isdigit() and len(text) <= _MAX_INDEX_DIGITS
        return cls(text, int(text) if number else None)

    def read(self, value: Any) -> Any:
        """Return what the segment leads to in ``value``, or ``ABSENT``."""
        if isinstance(value, dict):
            return value.get(self.key, ABSENT)
        index = self.index
        if index is not None and isinstance(value, (list, tuple)) and index < len(value):
            return value[index]
        return ABSENT


class Path(msgspec.Struct, frozen=True):
    """A path from a root.

    Args:
        text: the path as written.
        root: the name of the root.
        segments: the segments after the root.
        length: the path ends in ``.length``.
    """

    text: str
    root: str
    segments: tuple[Segment, ...]
    length: bool

    def value(self, scope: Mapping[str, Any]) -> Any:
        """Return the value the path leads to; shared with the data, so not to be changed.

        Raises:
            MissingStep: the root is not in the scope.
            BadPath: the path leads off the data.
            EmptyData: the data ran out.
        """
        try:
            value = scope[self.root]
        except KeyError:
            raise MissingStep(self.root, scope, path=self.text) from None
        for position, segment in enumerate(self.segments):
            child = segment.read(value)
            if child is ABSENT:
                raise self._dead_end(position, value)
            value = child
        return self._length_of(value) if self.length else value

    def _length_of(self, value: Any) -> int:
        if isinstance(value, (str, list, tuple)):
            return len(value)
        at = self._at(len(self.segments))
        if value is None:
            raise EmptyData(self.text, f"{at} is null", at=at)
        raise BadPath(self.text, f".length applies to arrays and strings, found {kind_of(value)}", at=at)

    def _dead_end(self, position: int, value: Any) -> RenderError:
        at, segment = self._at(position), self.segments[position]
        if value is None:
            return EmptyData(self.text, f"{at} is null", at=at)
        if isinstance(value, dict):
            return BadPath(self.text, f"no key '{segment.key}' at {at}", at=at, keys=value)
        kind = kind_of(value)
        if segment.index is None:
            article = "an" if kind == "array" else "a"
            return BadPath(self.text, f"cannot read key '{segment.key}' from {article} {kind} at {at}", at=at)
        if kind != "array":
            return BadPath(self.text, f"cannot index into a {kind} at {at}", at=at)
        if not value:
            return EmptyData(self.text, f"{at} is an empty array", at=at)
        items = "1 item" if len(value) == 1 else f"{len(value)} items"
        return EmptyData(self.text, f"{at} has {items}; index {segment.index} is out of range", at=at)

    def _at(self, position: int) -> str:
        return ".".join((self.root, *(segment.key for segment in self.segments[:position])))


def kind_of(value: Any) -> str:
    """Return the JSON name of a value's type."""
    return _KINDS.get(type(value), "array" if isinstance(value, (list, tuple)) else type(value).__name__)
