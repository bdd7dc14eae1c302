"""One HTTP call of a tool, and what its end says about its effect.

A call that was not sent had no effect. One that was sent and got no whole answer may have had it: of an
effect nobody knows then, which is said by `OutcomeUnknownError`, never by a failure. Answers are judged in
`http_answers`.

A call has a connection of its own: one that is kept may have been closed by the server meanwhile, and then it
cannot be told whether a request was taken.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...domain.errors import ToolDefinitionError
from ..context import ToolContext
from ..control import OutcomeUnknownError, ToolError
from .http_answers import Answer, Terms, result_of

if TYPE_CHECKING:
    import ssl

    import httpx

Method = Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]

_CONNECT_S = 10.0
"""The longest time a connection may take; less, where the whole call has less."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent; at most one of the three bodies.

    Args:
        method: the method.
        url: the whole URL; ``query`` is added to it.
        headers: by name.
        query: values by name; a list is sent as several, ``None`` and ``""`` not at all.
        json: a JSON value as the body.
        form: the fields of a form as the body, as in ``query``.
        text: a text as the body.
        secrets: what must not be found in facts, by the name it is shown as instead.
    """

    method: Method
    url: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    query: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    json: Any = msgspec.UNSET
    form: Mapping[str, Any] | None = None
    text: str | None = None
    secrets: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


def needs_httpx(tool: str) -> None:
    """Refuse a tool that cannot call anything.

    Raises:
        ToolDefinitionError: httpx is not installed.
    """
    if find_spec("httpx") is None:
        raise ToolDefinitionError(f"tool {tool!r} needs httpx; run: pip install 'midcourse[http]'")


async def call(request: Request, terms: Terms, context: ToolContext) -> Any:
    """Send a request and return the result of the call.

    Where the tool is idempotent, call it within `for_this_attempt`.

    Args:
        request: what to send.
        terms: what the tool promises, and what of the answer it returns.
        context: of the attempt; its operation key goes into ``terms.key_header`` of an effect.

    Raises:
        ToolError: it was not sent, or it was refused.
        OutcomeUnknownError: an effect may have happened.
    """
    # The first time takes as long as hundreds of calls, so it does not hold the loop.
    known = _certificates() if _certificates.cache_info().currsize else await asyncio.to_thread(_certificates)
    import httpx

    timeout = httpx.Timeout(None, connect=min(_CONNECT_S, (terms.timeout_s or 2 * _CONNECT_S) / 2))
    async with httpx.AsyncClient(verify=known, timeout=timeout) as client:
        built = _build(client, request, terms, context)
        try:
            response = await client.send(built, stream=True)
            try:
                answer = await _read(response, terms.max_bytes)
            finally:
                await response.aclose()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise ToolError(f"{_named(request)} was not sent: {_said(error)}", no_effect=True) from error
        except httpx.HTTPError as error:
            problem = f"{_named(request)} got no whole answer: {_said(error)}"
            raise (ToolError if terms.effect == "read" else OutcomeUnknownError)(problem) from error
    return result_of(answer, terms, named=_named(request), secrets=request.secrets)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Return what servers are known by, and have httpx imported."""
    import httpx

    return httpx.create_ssl_context()


def _build(client: httpx.AsyncClient, request: Request, terms: Terms, context: ToolContext) -> httpx.Request:
    import httpx

    headers = dict(request.headers)
    if terms.effect != "read" and terms.key_header:
        headers[terms.key_header] = context.operation
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise ToolError(
                f"header {name!r} has a value that is no line of ASCII text", retryable=False, no_effect=True
            )
    body: dict[str, Any] = {}
    if request.json is not msgspec.UNSET:
        body["json"] = request.json
    elif request.form is not None:
        body["data"] = _flat(request.form)
    elif request.text is not None:
        body["content"] = request.text.encode()
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "text/plain; charset=utf-8"
    try:
        url = httpx.URL(request.url)
        if query := _flat(request.query):
            url = url.copy_merge_params(query)
        return client.build_request(request.method, url, headers=headers, **body)
    except Exception as error:  # a boundary: httpx raises what it likes for what cannot be sent
        raise ToolError(
            f"{_named(request)} cannot be sent: {_said(error)}", retryable=False, no_effect=True
        ) from error


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as texts or lists of texts, without those that are empty."""
    return {
        name: [_text(each) for each in value] if isinstance(value, (list, tuple)) else _text(value)
        for name, value in values.items()
        if value is not None and value != ""
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


async def _read(response: httpx.Response, max_bytes: int) -> Answer:
    """Read an answer up to a size; of one that is longer nothing more is received."""
    content = bytearray()
    is_cut = False
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > max_bytes:
            is_cut = True
            break
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, bytes(content[:max_bytes]), is_cut)


def _named(request: Request) -> str:
    """Return method and address, without the query: it may hold a secret."""
    return f"{request.method} {request.url.partition('?')[0]}"


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
