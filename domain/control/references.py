"""What a step reads: every text of it with templates or an expression, and the roots it may read there.

A control step is looked into: its bodies see its own scope, ``item``, ``index`` and ``accumulator`` where
they exist, and the steps before them in the same body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..expressions import names_in
from ..plan import Step
from ..problems import JsonPath
from ..templates import compile_value, possible_references, references
from .bodies import step_label
from .fields import CAMEL_CASE
from .model import CONTROLS
from .parse import bodies_of

_NOTHING: Final[frozenset[str]] = frozenset()
_ITEM: Final = frozenset(("item", "index"))
_LITERAL: Final = frozenset(("status", "concurrency", "tools", "max_iterations", "when_unanswered"))
_CONDITIONS: Final = frozenset(("when", "if", "where"))
_OF_ITEMS: Final = frozenset(("where", "infer", "model"))
_BODY_ROOTS: Final = {"map": _ITEM, "reduce": _ITEM | {"accumulator"}}
ALWAYS: Final = frozenset(("input", "board"))
"""Roots that exist everywhere."""


class Site(NamedTuple):
    """A value of a step in which templates may stand, or an expression.

    Args:
        path: where it is, from the step.
        value: the value, or the text of the expression.
        is_expression: it is an expression.
        local: roots that exist there and nowhere outside of the step.
        later: ids of steps of the same body that come later, so that they cannot be read.
        step: the innermost step it belongs to, as messages call it; empty for the step itself.
    """

    path: JsonPath
    value: Any
    is_expression: bool = False
    local: frozenset[str] = _NOTHING
    later: frozenset[str] = _NOTHING
    step: str = ""

    def reads(self) -> frozenset[str]:
        """Return the roots it reads whatever the data.

        Raises:
            TemplateSyntaxError: a text in it is no template.
            ExpressionError: it is not an expression.
        """
        return names_in(self.value) if self.is_expression else references(compile_value(self.value))

    def may_read(self) -> frozenset[str]:
        """Return the bare keys in its sections, which read a root only if no item has them."""
        return _NOTHING if self.is_expression else possible_references(compile_value(self.value))


def sites_of(step: Step) -> Iterator[Site]:
    """Return every value of a step in which templates or expressions stand, its bodies included."""
    yield from _sites(step.tool_name, step.input, ("input",), _NOTHING, _NOTHING, "")
    if step.operation:
        yield Site(("operation",), step.operation)


def outside_references(step: Step) -> frozenset[str]:
    """Return the roots that must exist before a step can be carried out, its bodies included."""
    roots = frozenset[str]()
    for site in sites_of(step):
        roots |= site.reads() - site.local
    return roots - ALWAYS


def possible_outside_references(step: Step) -> frozenset[str]:
    """Return bare keys in sections: steps with such an id must be done before; others need not exist."""
    keys = frozenset[str]()
    for site in sites_of(step):
        keys |= site.may_read() - site.local
    return keys


def _sites(
    tool: str,
    input: Any,
    path: JsonPath,
    local: frozenset[str],
    later: frozenset[str],
    step: str,
) -> Iterator[Site]:
    if tool not in CONTROLS or not isinstance(input, Mapping):
        yield Site(path, input, local=local, later=later, step=step)
        return
    for key, value in input.items():
        name, where = CAMEL_CASE.get(key, key), (*path, key)
        if name in bodies_of(tool):
            yield from _body_sites(value, where, local | _BODY_ROOTS.get(tool, _NOTHING), step)
        elif name in _LITERAL or (name == "output_schema" and not isinstance(value, str)):
            continue
        else:
            seen = local | _ITEM if tool == "filter" and name in _OF_ITEMS else local
            if name in _CONDITIONS and isinstance(value, Mapping) and isinstance(value.get("expr"), str):
                yield Site((*where, "expr"), value["expr"], True, seen, later, step)
            else:
                yield Site(where, value, False, seen, later, step)


def _body_sites(body: Any, path: JsonPath, local: frozenset[str], step: str) -> Iterator[Site]:
    if isinstance(body, Mapping):
        yield from _step_sites(body, path, local, _NOTHING, step)
    elif isinstance(body, (list, tuple)):
        ids = [each.get("id") if isinstance(each, Mapping) else None for each in body]
        named = [each if isinstance(each, str) else "" for each in ids]
        for index, each in enumerate(body):
            if isinstance(each, Mapping):
                before, after = frozenset(named[:index]) - {""}, frozenset(named[index:]) - {""}
                label = step_label(each, index)
                yield from _step_sites(each, (*path, index), local | before, after, label)


def _step_sites(
    value: Mapping[str, Any], path: JsonPath, local: frozenset[str], later: frozenset[str], step: str
) -> Iterator[Site]:
    named = value.get("tool_name", value.get("toolName"))
    tool = named if isinstance(named, str) else ""
    yield from _sites(tool, value.get("input"), (*path, "input"), local, later, step)
    if value.get("operation"):
        yield Site((*path, "operation"), value["operation"], local=local, later=later, step=step)
