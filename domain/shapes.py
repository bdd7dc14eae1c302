"""Shapes: what results of a tool have looked like, or are declared to, and which paths cannot fit them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from .problems import did_you_mean
from .templates.paths import Path, kind_of

MOST_KEYS: Final = 100
"""Keys of an object; one with more is a table of data, and any key may be in it."""
_MOST_ITEMS: Final = 100
_MOST_LEVELS: Final = 12
_NESTING: Final = frozenset(("array", "object"))
_KINDS: Final = {"integer": "number"}


class Shape(msgspec.Struct):
    """What was seen at one place of results.

    Args:
        kinds: how often a value of each JSON type was there.
        fields: what was seen at the keys of objects.
        items: what was seen among the items of arrays; ``None`` if there were none.
        is_open: more may be there than was seen.
    """

    kinds: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    fields: dict[str, Shape] = msgspec.field(default_factory=dict[str, "Shape"])
    items: Shape | None = None
    is_open: bool = False

    @property
    def seen(self) -> int:
        """How many values were there."""
        return sum(self.kinds.values())

    def observe(self, value: Any, *, level: int = 0) -> None:
        """Take a value in."""
        kind = kind_of(value)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if level >= _MOST_LEVELS:
            self.is_open = self.is_open or kind in _NESTING
        elif isinstance(value, dict):
            for key, each in value.items():
                if key in self.fields or len(self.fields) < MOST_KEYS:
                    self.fields.setdefault(key, Shape()).observe(each, level=level + 1)
                else:
                    self.is_open = True
        elif isinstance(value, (list, tuple)) and value:
            self.items = self.items or Shape()
            for each in value[:_MOST_ITEMS]:
                self.items.observe(each, level=level + 1)

    def always(self) -> list[str]:
        """Return the keys that every object had."""
        objects = self.kinds.get("object", 0)
        return [key for key, each in self.fields.items() if each.seen >= objects]

    def misfit(self, path: Path) -> str:
        """Return why a path cannot lead anywhere in such values, empty where it may.

        A key is held against a path only where every object had some key: without one, the keys are data.
        """
        here, at = self, path.root
        for segment in path.segments:
            kinds = here.kinds.keys() - {"null"}
            if here.is_open or len(kinds) != 1:
                return ""
            kind = next(iter(kinds))
            if kind == "object":
                if segment.key not in here.fields:
                    return _no_key(here, segment.key, at) if here.always() else ""
                here = here.fields[segment.key]
            elif kind == "array" and segment.index is not None:
                if here.items is None:
                    return ""
                here = here.items
            else:
                return f"cannot read '{segment.key}' from {_article(kind)} at {at}"
            at = f"{at}.{segment.key}"
        return _no_length(here, at) if path.length else ""

    def lines(self, name: str = "", *, indent: str = "  ", always: bool = True) -> list[str]:
        """Return the shape for people, a line for each key.

        Args:
            name: what it is the shape of, as the first line begins.
            indent: what all lines begin with.
            always: it was there every time.
        """
        kinds = [f"{kind} of" if kind == "array" and self.items else kind for kind in sorted(self.kinds)]
        said = f"{name}{' or '.join(kinds) or 'anything'}{'' if always else ', not always'}"
        lines = [f"{indent}{said}{', and others' if self.is_open else ''}"]
        ever = self.always()
        for key, each in self.fields.items():
            lines += each.lines(f"{key}: ", indent=f"{indent}  ", always=key in ever)
        if self.items is not None:
            lines += self.items.lines(indent=f"{indent}  ")
        return lines


def declared_shape(schema: Mapping[str, Any]) -> Shape:
    """Return the shape that a JSON Schema declares; what it leaves open, or says elsewhere, is open."""
    kinds = schema.get("type")
    properties = schema.get("properties")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, (list, tuple)):
        return Shape(is_open=True)
    shape = Shape({_KINDS.get(kind, kind): 1 for kind in cast("list[str]", kinds)})
    shape.is_open = bool(schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "patternProperties"})
    if isinstance(properties, Mapping):
        shape.fields = {key: declared_shape(_schema(each)) for key, each in properties.items()}
    if schema.get("additionalProperties", not properties) is not False:
        shape.is_open = shape.is_open or "object" in shape.kinds
    if "array" in shape.kinds and isinstance(schema.get("items"), Mapping):
        shape.items = declared_shape(schema["items"])
    return shape


def _no_key(shape: Shape, key: str, at: str) -> str:
    known = sorted(shape.fields)
    return f"no key '{key}' at {at}{did_you_mean(key, known, otherwise='there are: ' + ', '.join(known))}"


def _no_length(shape: Shape, at: str) -> str:
    kinds = shape.kinds.keys() - {"null"}
    if shape.is_open or len(kinds) != 1 or kinds & {"array", "string"}:
        return ""
    return f".length applies to arrays and strings, and at {at} is {_article(*kinds)}"


def _schema(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _article(kind: str) -> str:
    return f"{'an' if kind in _NESTING else 'a'} {kind}"
