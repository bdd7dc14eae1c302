"""The JSON Schema of a plan file, for editors: made from the types, with what types do not say added."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from ..child_terms import Terms
from ..children import PLAN_AND_EXECUTE
from ..control import CONTROLS
from ..control.bodies import CALL_FIELDS, RESERVED_IDS
from .model import PlanFile

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = "#/$defs/{name}"

_INPUTS: Final = {**CONTROLS, PLAN_AND_EXECUTE: Terms}
"""What the engine itself takes as input, by tool name."""


def plan_file_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan file."""
    types = [PlanFile, *_INPUTS.values()]
    _, definitions = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    for definition in definitions.values():
        definition["additionalProperties"] = False
    _describe_steps(definitions)
    _describe_conditions(definitions)
    _allow_templates(definitions[Terms.__name__])
    for definition in definitions.values():
        if "description" in definition:
            definition["description"] = definition["description"].partition("\n\n")[0]
    top = definitions.pop("PlanFile")
    top["properties"]["identifier"]["pattern"] = "^[a-zA-Z0-9_-]+$"
    top["properties"]["steps"]["minItems"] = 1
    top["properties"]["output"] = {"type": "object"}
    top["properties"]["input_schema"] = {"type": "object", "$ref": DIALECT}
    top["not"] = {"required": ["solver", "output"]}
    return {"$schema": DIALECT, **top, "title": "A plan of Midcourse", "$defs": definitions}


def _describe_steps(definitions: dict[str, Any]) -> None:
    """A step has an id, a call in a body has none, and a control step has an input of its own kind."""
    step = definitions["PlanStep"]
    step["required"] = ["id", "tool_name", "input"]
    reserved = "|".join(sorted(RESERVED_IDS))
    step["properties"]["id"]["pattern"] = f"^(?!(?:{reserved})$)[A-Za-z_][A-Za-z0-9_]*$"
    step["properties"]["tool_name"]["pattern"] = "^(?!workbench__)[A-Za-z0-9_-]+$"
    step["properties"]["needs"] = {"type": "array", "items": {"type": "string"}}
    rules = [
        {
            "if": {"properties": {"tool_name": {"const": tool}}, "required": ["tool_name"]},
            "then": {"properties": {"input": {"$ref": _REFERENCE.format(name=kind.__name__)}}},
        }
        for tool, kind in _INPUTS.items()
    ]
    step["allOf"] = rules
    definitions["Call"] = {
        "title": "Call",
        "type": "object",
        "description": "One tool call of a body.",
        "properties": {name: step["properties"][name] for name in CALL_FIELDS},
        "required": ["tool_name", "input"],
        "allOf": rules,
        "additionalProperties": False,
    }
    body = {
        "anyOf": [
            {"$ref": _REFERENCE.format(name="Call")},
            {"type": "array", "minItems": 1, "items": {"$ref": _REFERENCE.format(name="PlanStep")}},
        ]
    }
    for kind, names in (("Decide", ("then", "else")), ("Map", ("do",)), ("Reduce", ("do",))):
        for name in names:
            definitions[kind]["properties"][name] = body


def _describe_conditions(definitions: dict[str, Any]) -> None:
    definitions["Condition"]["oneOf"] = [{"required": ["value", "op"]}, {"required": ["expr"]}]
    definitions["Exit"]["not"] = {"required": ["when", "infer"]}
    for kind, condition in (("Decide", "if"), ("Filter", "where")):
        definitions[kind]["oneOf"] = [{"required": [condition]}, {"required": ["infer"]}]
    named = [{"required": [name]} for name in ("until", "for_s", "signal")]
    definitions["Wait"]["oneOf"] = named


def _allow_templates(definition: dict[str, Any]) -> None:
    """Let every field of an input be a template, whatever it is to become."""
    template = {"type": "string", "pattern": "\\{\\{"}
    definition["properties"] = {
        name: {"anyOf": [field, template]} for name, field in definition["properties"].items()
    }
