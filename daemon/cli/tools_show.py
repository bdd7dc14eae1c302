"""``midcourse tools show``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .options import json_option
from .output import say, say_document
from .session import Session, pass_session
from .shapes import shapes_in
from .tools import tool_value

if TYPE_CHECKING:
    from ...domain.shapes import Shape
    from ...domain.tools import ToolSpec


@click.command("show")
@click.argument("name", metavar="NAME")
@json_option
@pass_session
def show(session: Session, /, *, name: str) -> None:
    """Show a tool: what it does outside, its arguments, and what its results look like.

    Results are as they are declared, or else as the newest ones in the store were.
    """
    from ...domain.errors import UnknownTool
    from ..parts import load_parts

    with load_parts(session.config) as parts:
        try:
            spec = parts.catalog.resolve(name)
        except UnknownTool as error:
            raise click.BadParameter(str(error), param_hint="NAME") from error
    shape = None if spec.output_schema else shapes_in(session).get(spec.name)
    if session.as_json:
        import msgspec

        say_document(tool_value(spec) | {"observed": msgspec.to_builtins(shape)})
        return
    for line in (*_contract(spec), *_results(spec, shape)):
        say(line)


def _contract(spec: ToolSpec) -> list[str]:
    more = [f"undone by {spec.undo}"] if spec.undo else []
    more += ["idempotent"] if spec.idempotent else []
    more += ["has a probe"] if spec.has_probe else []
    lines = [spec.name, *([f"  {spec.description}"] if spec.description else [])]
    lines += [f"  effect: {', '.join((spec.effect, *more))}", "arguments:"]
    properties: Any = spec.input_schema.get("properties", {})
    for name, schema in properties.items():
        left_out = "" if name in spec.required else ", may be left out"
        lines.append(f"  {name}: {_kind(schema)}{left_out}")
    return lines if properties else [*lines, "  none"]


def _kind(schema: Mapping[str, Any]) -> str:
    """Return in words what an argument may be; of what takes more words, where they are."""
    if "enum" in schema:
        return " or ".join(map(repr, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    kind = schema.get("type", "anything" if not schema.keys() - {"default"} else "see --json")
    return kind if isinstance(kind, str) else " or ".join(kind)


def _results(spec: ToolSpec, shape: Shape | None) -> list[str]:
    from ...domain.shapes import declared_shape

    if spec.output_schema:
        return ["results, as declared:", *declared_shape(spec.output_schema).lines()]
    if shape is None:
        return ["results: none seen yet, and none declared (output_schema)"]
    seen = "the one result so far" if shape.seen == 1 else f"the newest {shape.seen} results"
    return [f"results, as {seen}:", *shape.lines()]
