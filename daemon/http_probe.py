"""Asking a service what became of an operation."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

import msgspec

from ..actors.context import ToolContext
from ..actors.packs.http_answers import HttpRefusedError, Terms
from ..actors.packs.http_call import Request, call
from ..actors.tools import Probe
from ..domain.receipt import Receipt


def http_probe(name: str, request: Callable[[str], Request], terms: Terms) -> Probe:
    """Return the probe of a call: a success means that it happened, 404 that it did not.

    With anything else nobody knows, and a person has to say. What a success holds is the result of the
    operation.

    Args:
        name: the name of the tool.
        request: makes the question about an operation key.
        terms: of the call.
    """
    asking = msgspec.structs.replace(terms, effect="read")

    async def probe(operation: str) -> Receipt | None:
        try:
            return Receipt(await call(request(operation), asking, ToolContext(operation, tool=name)))
        except HttpRefusedError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    return probe
