"""Whole JSON values with templates in their strings: compile once, render at every admission."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

import msgspec

from .errors import TemplateSyntaxError
from .syntax import parse

MAX_DEPTH = 100
"""Levels of arrays and objects a value may have; deeper ones are refused, so that no stack overflows."""

_SCALARS = frozenset((int, float, bool, type(None)))

JsonValue: TypeAlias = Any
"""What JSON can hold: ``None``, ``bool``, ``int``, ``float``, ``str``, and lists and dicts of these."""


class _Node(Protocol):
    def value(self, scope: Mapping[str, Any]) -> JsonValue: ...


class Template(msgspec.Struct, frozen=True):
    """A JSON value with templates in it, compiled.

    Args:
        node: what renders it.
        roots: the roots it reads.
        bare: bare keys in its sections, which read a root of that name only if no item has the key.
    """

    node: _Node
    roots: frozenset[str]
    bare: frozenset[str]


class _Container(msgspec.Struct, frozen=True):
    """An object or array with templates at some of its keys or indices; the rest of ``base`` is literal."""

    base: Any
    nodes: tuple[tuple[Any, _Node], ...]

    def value(self, scope: Mapping[str, Any]) -> JsonValue:
        result = self.base.copy()
        for key, node in self.nodes:
            result[key] = node.value(scope)
        return result


class _Compiler:
    """One pass over a value, which collects references and problems on its way."""

    def __init__(self) -> None:
        self.roots: set[str] = set()
        self.bare: set[str] = set()
        self.problems: list[TemplateSyntaxError] = []

    def node(self, value: JsonValue, where: tuple[str | int, ...] = ()) -> _Node | None:
        """Return what renders ``value``, ``None`` if it is literal."""
        if isinstance(value, str):
            return self._text(value, where) if "{{" in value else None
        if value is None or isinstance(value, (int, float)):
            return None
        children = _children(value)
        if children is None:
            return None
        if len(where) >= MAX_DEPTH:
            problem = f"the value is nested more than {MAX_DEPTH} levels deep; flatten it"
            self.problems.append(TemplateSyntaxError(problem, text="", offset=0, where=where))
            return None
        nodes = []
        for key, child in children:
            if child.__class__ in _SCALARS or (child.__class__ is str and "{{" not in child):
                continue  # by far the most frequent, and not worth a call
            node = self.node(child, (*where, key))
            if node is not None:
                nodes.append((key, node))
        if not nodes:
            return None
        return _Container(list(value) if isinstance(value, (list, tuple)) else dict(value), tuple(nodes))

    def _text(self, text: str, where: tuple[str | int, ...]) -> _Node | None:
        try:
            parsed = parse(text)
        except TemplateSyntaxError as error:
            self.problems.append(error.located(where))
            return None
        self.roots |= parsed.roots
        self.bare |= parsed.bare
        return parsed.node


def compile_value(value: JsonValue) -> JsonValue | Template:
    """Return a value ready to render: a ``Template``, or the same object if it is literal.

    To be called once per step definition. The parsed form of each distinct string is kept, so that the
    admission of a step finds what the check of its plan has parsed.

    Raises:
        TemplateSyntaxError: the first problem; ``syntax_errors`` returns them all.
    """
    if value.__class__ is dict and _is_flat_literal(value):
        return value
    compiler = _Compiler()
    node = compiler.node(value)
    if compiler.problems:
        raise compiler.problems[0]
    return value if node is None else Template(node, frozenset(compiler.roots), frozenset(compiler.bare))


def syntax_errors(value: JsonValue) -> tuple[TemplateSyntaxError, ...]:
    """Return every syntax error in a value, one per string at most, each with its place."""
    compiler = _Compiler()
    compiler.node(value)
    return tuple(compiler.problems)


def render(compiled: JsonValue | Template, scope: Mapping[str, Any]) -> JsonValue:
    """Return a compiled value with everything put in.

    Args:
        compiled: what ``compile_value`` returned; anything but a ``Template`` comes back as it is.
        scope: the roots, by name. Only the roots a template reads are looked up, so it may be lazy.

    Returns:
        The value. It shares structure with ``compiled`` and ``scope``: not to be changed.

    Raises:
        MissingStep: a root is not in the scope.
        BadPath: a path leads off the data.
        EmptyData: a path ran out of data.
    """
    return compiled.node.value(scope) if isinstance(compiled, Template) else compiled


def references(compiled: JsonValue | Template) -> frozenset[str]:
    """Return the roots a compiled value reads whatever the data: each must exist when it is rendered."""
    return compiled.roots if isinstance(compiled, Template) else frozenset()


def possible_references(compiled: JsonValue | Template) -> frozenset[str]:
    """Return the bare keys in sections, which read a root of that name if no item has the key.

    Those that are step ids are edges of a DAG too; the others need not exist.
    """
    return compiled.bare if isinstance(compiled, Template) else frozenset()


def is_literal(value: JsonValue | Template) -> bool:
    """Return whether a value, compiled or not, holds no template: no ``{{`` in any of its strings."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if "{{" in item:
                return False
        elif isinstance(item, Template):
            return False
        elif item is not None and not isinstance(item, (int, float)):
            pending.extend(child for _, child in _children(item) or ())
    return True


def _is_flat_literal(value: Mapping[str, Any]) -> bool:
    """Return whether an object holds nothing but scalars and texts without templates, as most inputs do."""
    for child in value.values():
        if child.__class__ not in _SCALARS and (child.__class__ is not str or "{{" in child):
            return False
    return True


def _children(value: JsonValue) -> Iterable[tuple[str | int, Any]] | None:
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    # The exact type first: asking for a Mapping costs more than all the rest.
    return value.items() if isinstance(value, dict) or isinstance(value, Mapping) else None  # noqa: SIM101
