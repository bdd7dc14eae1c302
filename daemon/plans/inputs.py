"""The inputs of a plan as they are given on a command line: a document, and single inputs over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


class InputsError(ValueError):
    """Inputs are not in a form that can be read."""


def gather(document: Any, pairs: Iterable[str], schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the inputs of a plan.

    Args:
        document: a JSON object, or ``None`` for none.
        pairs: ``name=value``; a value that is JSON is read as JSON, unless the schema says that the input
            is a text.
        schema: JSON Schema of the inputs.

    Raises:
        InputsError: the document is no object, or a pair has no ``=``.
    """
    if document is not None and not isinstance(document, dict):
        raise InputsError(f"the inputs of a plan are a JSON object, not {document!r}")
    inputs = dict(document or {})
    properties = schema.get("properties", {}) if schema else {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator or not name:
            raise InputsError(f"{pair!r} is no input; write NAME=VALUE")
        declared = properties.get(name)
        is_text = isinstance(declared, Mapping) and declared.get("type") == "string"
        inputs[name] = text if is_text else _value(text)
    return inputs


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
