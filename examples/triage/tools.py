"""What the plan may call: reading tickets, and writing the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from midcourse import ToolContext, ToolError, tool


class Ticket(TypedDict):
    """A ticket of the tracker's export."""

    id: str
    title: str
    severity: int
    open: bool


@tool(effect="read")
def read_tickets(path: str) -> list[Ticket]:
    """Read the tickets of an export.

    Args:
        path: a file with a ticket a line, each a JSON object.
    """
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except FileNotFoundError as error:
        raise ToolError(f"there is no file {path}", retryable=False) from error
    return [json.loads(line) for line in lines]


@tool(identity=["path"], idempotent=True)
def write_report(path: str, tickets: list[Ticket], context: ToolContext) -> dict[str, object]:
    """Write what is urgent into a file, whole or not at all.

    Args:
        path: where.
        tickets: what is urgent.
        context: has the operation, which the report names.
    """
    text = "\n".join(
        (
            "Urgent:",
            *(f"- {ticket['id']} {ticket['title']}" for ticket in tickets),
            f"({context.operation})",
            "",
        )
    )
    written = Path(f"{path}.new")
    written.write_text(text, "utf-8")
    written.replace(path)
    return {"path": path, "lines": len(tickets)}


tools = [read_tickets, write_report]
