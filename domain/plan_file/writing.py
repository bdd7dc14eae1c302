"""Writing a plan file: one order of fields and one spelling. Comments are not part of the document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..control.normal import in_order, normal_step
from .document import FIELDS
from .model import PlanFile

_SOLVER_FIELDS = ("query_to_answer", "system_prompt", "data")


def written(plan: PlanFile) -> dict[str, Any]:
    """Return a plan as the document of its file."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plan))
    document["steps"] = [{"input": {}, **step} for step in document["steps"]]
    return normal_document(document)


def normal_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its fields in order and in snake case; what does not belong there comes last."""
    ordered = in_order(document, FIELDS)
    if isinstance(ordered.get("steps"), list):
        ordered["steps"] = [normal_step(each) for each in ordered["steps"]]
    if isinstance(ordered.get("solver"), Mapping):
        ordered["solver"] = in_order(ordered["solver"], _SOLVER_FIELDS)
    return ordered
