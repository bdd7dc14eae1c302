"""Tools declared in the configuration: their arguments, their templates, and the terms they share."""

from __future__ import annotations

import inspect
import json
import keyword
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from ..actors.context import ToolContext
from ..actors.tools import Probe, Tool, tool
from ..domain.errors import ToolDefinitionError
from ..domain.problems import did_you_mean
from ..domain.templates import compile_value, references, render, syntax_errors
from ..domain.tools import Effect, RetryPolicy

_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}
_TAKEN = ("context",)
"""Names that calls use themselves."""


class Argument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An argument of a tool that is declared in the configuration.

    Args:
        type: its JSON type.
        default: its value where it is left out; without one it is required.
    """

    type: Literal["string", "integer", "number", "boolean", "array", "object"]
    default: Any = msgspec.UNSET


class Declared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every tool of the configuration declares.

    Args:
        args: its arguments by name: a type, or a type and a default.
        description: what it does, for planners and people.
        effect: ``read``, ``reversible`` (with ``undo``) or ``irreversible``.
        undo: the tool that takes it back.
        identity: names of the arguments that make two calls the same operation.
        idempotent: a repeat with the same operation key has no second effect.
        retry: how often and how patiently it is tried again.
        timeout_s: seconds one attempt may take.
        output_schema: JSON Schema of its result.
    """

    args: Mapping[str, str | Argument] = msgspec.field(default_factory=dict)
    description: str = ""
    effect: Effect = "irreversible"
    undo: str = ""
    identity: tuple[str, ...] | None = None
    idempotent: bool = False
    retry: RetryPolicy = RetryPolicy()
    timeout_s: float | None = 60.0
    output_schema: Mapping[str, Any] = msgspec.field(default_factory=dict)


def declared_tool(
    name: str,
    declared: Declared,
    run: Callable[[Mapping[str, Any], ToolContext], Awaitable[Any]],
    *,
    summary: str,
    probe: Probe | None = None,
) -> Tool:
    """Return the tool that a table of the configuration declares, which has no `argument_problems`.

    Args:
        name: its name, without prefix.
        declared: the table.
        run: carries a call out, with the arguments, defaults filled in.
        summary: what it does, where its table has no description.
        probe: asked what became of an operation.

    Raises:
        ToolDefinitionError: it cannot work; the text says why.
    """
    arguments = {key: _argument(each) for key, each in declared.args.items()}
    defaults = {key: each.default for key, each in arguments.items() if each.default is not msgspec.UNSET}

    async def call(**values: Any) -> Any:
        context: ToolContext = values.pop("context")
        return await run({**defaults, **values}, context)

    signature = _signature(arguments)
    call.__signature__ = signature  # type: ignore[attr-defined]  # what the tool's schema is made of
    call.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    make = tool(
        effect=declared.effect, undo=declared.undo, identity=declared.identity,
        idempotent=declared.idempotent, probe=probe, retry=declared.retry, timeout_s=declared.timeout_s,
        name=name, description=declared.description or summary, output_schema=declared.output_schema,
    )  # fmt: skip
    return make(call)


class DeclarationError(ToolDefinitionError):
    """A table declares a tool that cannot work.

    Args:
        name: the name of the tool.
        problems: everything that is wrong with it, a sentence each.
    """

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        self.problems = tuple(f"tool {name!r}: {each}" for each in problems)
        super().__init__("; ".join(self.problems))


def refuse(name: str, problems: Iterable[str]) -> None:
    """Raise a `DeclarationError` if there is anything wrong with a tool."""
    if found := tuple(problems):
        raise DeclarationError(name, found)


def template_problems(templates: Iterable[Any], args: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with templates: they are none, or read what is no argument.

    Args:
        templates: JSON values with templates in their texts.
        args: the names they may read.
    """
    known = tuple(args)
    for value in templates:
        shown = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
        errors = syntax_errors(value)
        if errors:
            yield f"{shown}: {errors[0]}"
            continue
        for root in sorted(references(compile_value(value)).difference(known)):
            hint = did_you_mean(root, known, otherwise=f"{', '.join(known) or 'none'}")
            yield f"{shown} reads {root!r}, which is not in args{hint}"


def argument_problems(args: Mapping[str, str | Argument]) -> Iterator[str]:
    """Yield what is wrong with arguments: names that no call could give, types that are none, defaults."""
    for name, declared in args.items():
        where = f"args.{name}"
        if name in _TAKEN or not name.isidentifier() or keyword.iskeyword(name):
            yield (
                f"{where} cannot be the name of an argument; use letters, digits and '_', no digit first, "
                f"not {' or '.join(map(repr, _TAKEN))}, and no word that Python keeps for itself, such as "
                "'class'"
            )
        elif isinstance(declared, Argument):
            yield from _default_problems(where, declared)
        elif declared not in _TYPES:
            yield f"{where} is {declared!r}; it is one of {', '.join(_TYPES)}"


def _default_problems(where: str, argument: Argument) -> Iterator[str]:
    """Look at a default: it is filled in after the arguments of a call were looked at."""
    if argument.default is msgspec.UNSET:
        return
    try:
        msgspec.convert(argument.default, _TYPES[argument.type])
    except msgspec.ValidationError:
        yield (
            f"{where}.default is {argument.default!r}, which is no {argument.type}; write one, or leave it "
            "out"
        )


def rendered(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a JSON value with the arguments put in."""
    compiled = compile_value(template)
    return template if compiled is template else render(compiled, values)


def rendered_text(template: str, values: Mapping[str, Any]) -> str:
    """Return a text with the arguments put in; other values as JSON."""
    value = rendered(template, values)
    return value if isinstance(value, str) else json.dumps(value)


def _argument(declared: str | Argument) -> Argument:
    return declared if isinstance(declared, Argument) else Argument(declared)  # type: ignore[arg-type]  # checked


def _signature(arguments: Mapping[str, Argument]) -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    named = [
        inspect.Parameter(
            name, kind, annotation=_TYPES[each.type],
            default=inspect.Parameter.empty if each.default is msgspec.UNSET else each.default,
        )
        for name, each in arguments.items()
    ]  # fmt: skip
    return inspect.Signature([*named, inspect.Parameter("context", kind, annotation=ToolContext)])
