"""The pack ``http``: calls whose address a plan says, to hosts that were named beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from ...domain.errors import ToolDefinitionError
from ..context import ToolContext
from ..control import ToolError
from ..tools import Tool
from .builtin import builtin, record
from .http_answers import MAX_BYTES, Terms
from .http_call import Method, Request, call, needs_httpx
from .vouching import for_this_attempt

_READS: Final = ("GET", "HEAD", "OPTIONS")
_REPEATABLE: Final = (*_READS, "PUT", "DELETE")
_ALL: Final = (*_REPEATABLE, "POST", "PATCH")
_HEADERS: Final = ("content-type", "etag", "last-modified", "link", "location")


def http_pack(
    *,
    hosts: Sequence[str],
    methods: Sequence[str] = ("GET", "HEAD"),
    timeout_s: float = 60.0,
    max_bytes: int = MAX_BYTES,
) -> list[Tool]:
    """Return the tool ``builtin__http``.

    It is a read where ``methods`` are only such as read; else its effect is irreversible, and idempotent if
    HTTP says that of all of them.

    Args:
        hosts: the hosts that may be called, as globs such as ``*.example.com``; one with a port means that
            port alone.
        methods: the methods that may be used.
        timeout_s: seconds one attempt may take.
        max_bytes: the longest body of an answer.

    Raises:
        ToolDefinitionError: httpx is not installed, no host is named, or a method is none.
    """
    needs_httpx("builtin__http")
    if isinstance(hosts, str) or not hosts or not all(hosts):
        raise ToolDefinitionError("hosts names the hosts that may be called, such as ['api.example.com']")
    if isinstance(methods, str) or not methods or (wrong := [each for each in methods if each not in _ALL]):
        given = methods if isinstance(methods, str) or not methods else ", ".join(wrong)
        raise ToolDefinitionError(f"methods has {given!r}; allowed are {', '.join(_ALL)}")
    terms = Terms(
        effect="read" if set(methods) <= set(_READS) else "irreversible",
        idempotent=set(methods) <= set(_REPEATABLE),
        output="response",
        response_headers=_HEADERS,
        max_bytes=max_bytes,
        timeout_s=timeout_s,
    )

    async def http(  # noqa: PLR0913 - a request has as many parts
        url: str,
        *,
        method: Method = "GET",
        headers: dict[str, str] | None = None,
        query: dict[str, Any] | None = None,
        json: Any = None,
        form: dict[str, Any] | None = None,
        text: str | None = None,
        ok: list[int] | None = None,
        context: ToolContext,
    ) -> Any:
        """Call an HTTP address, and return status, headers and body of its answer."""
        with for_this_attempt(context, idempotent=terms.idempotent):
            bodies = [
                name for name, body in (("json", json), ("form", form), ("text", text)) if body is not None
            ]
            if len(bodies) > 1:
                raise _refused(f"{' and '.join(bodies)} exclude each other; a request has one body")
            if method not in methods:
                raise _refused(f"method {method} is not enabled; allowed are {', '.join(methods)}")
            _check_host(url, hosts)
            request = Request(
                method=method, url=url, headers=headers or {}, query=query or {},
                json=msgspec.UNSET if json is None else json, form=form, text=text,
            )  # fmt: skip
            return await call(request, msgspec.structs.replace(terms, ok=tuple(ok or ())), context)

    answer = record(status="integer", headers="object", body="any")
    return [
        builtin(
            http, effect=terms.effect, idempotent=terms.idempotent, timeout_s=timeout_s, output_schema=answer
        )
    ]


def _check_host(url: str, hosts: Sequence[str]) -> None:
    """Let no plan call what it was not to; the address is read as it will be called."""
    import httpx

    try:
        address = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise _refused(f"{url!r} is no address: {error}") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise _refused(f"{url!r} is no address; it begins with http:// or https:// and a host")
    if address.userinfo:
        raise _refused("an address is recorded, so it may not hold a password; declare the call as [http.…]")
    names: Mapping[str, str] = {"host": address.host, "port": address.netloc.decode()}
    if not any(fnmatchcase(name, pattern.lower()) for name in names.values() for pattern in hosts):
        raise _refused(f"host {names['port']!r} is not enabled; allowed are {', '.join(hosts)}")


def _refused(problem: str) -> ToolError:
    return ToolError(problem, retryable=False, no_effect=True)
