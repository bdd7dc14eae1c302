"""Tools that are HTTP calls, declared in the configuration.

::

    [http.charge]
    method = "POST"
    url = "https://pay.example.com/v1/customers/{{customer}}/charges"
    args = { customer = "string", cents = "integer" }
    headers = { Authorization = { env = "PAY_TOKEN", prefix = "Bearer " } }
    json = { amount = "{{cents}}", currency = "EUR" }
    effect = "reversible"
    undo = "refund"
    idempotent = true       # the service has no second effect for the same Idempotency-Key

What is put into ``url`` is quoted, and never its host. A value ``{ env = "NAME" }`` is that of an environment
variable: it is read when the call is made, and not recorded; where the service sends it back, its name is
recorded instead. What answers mean is said in ``actors.packs.http_answers``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from ..actors.context import ToolContext
from ..actors.control import ToolError
from ..actors.packs.http_answers import KEY_HEADER, MAX_BYTES, Output, Terms
from ..actors.packs.http_call import Method, Request, call, needs_httpx
from ..actors.packs.vouching import for_this_attempt
from ..actors.tools import Tool
from .declared import (
    Declared,
    argument_problems,
    declared_tool,
    refuse,
    rendered,
    rendered_text,
    template_problems,
)
from .http_probe import http_probe

_HOST = re.compile(r"https?://[^/?#{}@\s]+(?=[/?#]|\Z)", re.IGNORECASE)


class Secret(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is not written down.

    Args:
        env: the environment variable that has it.
        prefix: what stands before it.
    """

    env: str
    prefix: str = ""


class HttpCall(Declared, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An HTTP call as the configuration has it; its other fields are those of `Declared` and `Terms`.

    Args:
        url: the address; templates put quoted text into its path and query.
        method: the method.
        headers: by name: a template, or a `Secret`.
        query: what is added to the address, by name: a template, or a `Secret`. What is empty is left out.
        json: a JSON value with templates, as the body.
        form: fields of a form as the body: templates by name.
        text: a template, as the body.
        probe: an address over ``operation`` that says what became of an operation: see `http_probe`.
    """

    url: str
    method: Method = "GET"
    headers: Mapping[str, str | Secret] = msgspec.field(default_factory=dict)
    query: Mapping[str, Any] = msgspec.field(default_factory=dict)
    json: Any = msgspec.UNSET
    form: Mapping[str, Any] | None = None
    text: str | None = None
    probe: str = ""
    ok: tuple[int, ...] = ()
    no_effect: tuple[int, ...] = ()
    output: Output = "body"
    response_headers: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES
    key_header: str = KEY_HEADER


def http_tool(name: str, declared: HttpCall) -> Tool:
    """Return the tool that a declared call is.

    Args:
        name: its name, without prefix.
        declared: the call.

    Raises:
        ToolDefinitionError: it cannot work; the text says why.
    """
    needs_httpx(name)
    refuse(name, _problems(declared))
    terms = msgspec.convert(declared, Terms, from_attributes=True)

    async def run(values: Mapping[str, Any], context: ToolContext) -> Any:
        with for_this_attempt(context, idempotent=declared.idempotent):
            return await call(_request(declared, values), terms, context)

    probe = None
    if declared.probe:

        def ask(operation: str) -> Request:
            headers, secrets = _filled(declared.headers, {})
            url = _address(declared.probe, {"operation": operation})
            return Request(method="GET", url=url, headers=headers, secrets=secrets)

        probe = http_probe(name, ask, terms)
    summary = f"Calls {declared.method} {declared.url.partition('?')[0]}."
    return declared_tool(name, declared, run, summary=summary, probe=probe)


def _problems(declared: HttpCall) -> Iterator[str]:
    yield from argument_problems(declared.args)
    yield from _address_problems("url", declared.url, declared.args)
    if declared.probe:
        yield from _address_problems("probe", declared.probe, ("operation",))
    yield from _contradictions(declared)
    templates = [getattr(declared, field) for field in _bodies(declared)]
    for table, values in (("headers", declared.headers), ("query", declared.query)):
        for key, each in values.items():
            if isinstance(each, Mapping):
                yield from _secret_problems(f"{table}.{key}", each)
            elif not isinstance(each, Secret):
                templates.append(each)
    yield from template_problems(templates, declared.args)


def _address_problems(field: str, address: str, args: Iterable[str]) -> Iterator[str]:
    if not _HOST.match(address):
        yield (
            f"{field} is {address!r}; it begins with http:// or https:// and a host, without templates and "
            "without a password (put that into headers)"
        )
    yield from template_problems((address,), args)


def _contradictions(declared: HttpCall) -> Iterator[str]:
    """Yield what does not go together in a call."""
    bodies = _bodies(declared)
    if len(bodies) > 1:
        yield f"{' and '.join(bodies)} exclude each other; a request has one body"
    if bodies and declared.method in ("GET", "HEAD"):
        yield f"a {declared.method} has no body; drop {bodies[0]}, or write method = 'POST', say"
    if declared.probe and any(isinstance(each, str) and "{{" in each for each in declared.headers.values()):
        yield "probe is asked without arguments; headers may hold no templates beside it"
    if declared.max_bytes < 1:
        yield f"max_bytes is {declared.max_bytes}; it is a number above 0"
    if declared.response_headers and declared.output != "response":
        yield "response_headers are kept only with output = 'response'"


def _bodies(declared: HttpCall) -> list[str]:
    return [each for each in ("json", "form", "text") if getattr(declared, each) not in (msgspec.UNSET, None)]


def _secret_problems(place: str, value: Any) -> Iterator[str]:
    """Look at a secret of ``query``; those of ``headers`` have been read as such."""
    try:
        msgspec.convert(value, Secret)
    except msgspec.ValidationError as error:
        yield f"{place} is a template, or {{ env = 'NAME', prefix = 'Bearer ' }}: {error}"


def _secret(value: Any) -> Secret | None:
    """Return the secret that a checked value of ``query`` is, if it is one."""
    return msgspec.convert(value, Secret) if isinstance(value, Mapping) else None


def _request(declared: HttpCall, values: Mapping[str, Any]) -> Request:
    headers, hidden = _filled(declared.headers, values, rendered_text)
    query, more = _filled(declared.query, values, rendered)
    return Request(
        method=declared.method, url=_address(declared.url, values), headers=headers, query=query,
        json=msgspec.UNSET if declared.json is msgspec.UNSET else rendered(declared.json, values),
        form=None if declared.form is None else rendered(declared.form, values),
        text=None if declared.text is None else rendered_text(declared.text, values),
        secrets={**hidden, **more},
    )  # fmt: skip


def _filled(
    table: Mapping[str, Any],
    values: Mapping[str, Any],
    fill: Callable[[Any, Mapping[str, Any]], Any] = rendered_text,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a table with the arguments and secrets put in, and the secrets by the names of variables."""
    filled: dict[str, Any] = {}
    secrets: dict[str, str] = {}
    for key, each in table.items():
        secret = each if isinstance(each, Secret) else _secret(each)
        if secret is None:
            filled[key] = fill(each, values)
            continue
        value = os.environ.get(secret.env, "")
        if not value:
            raise ToolError(
                f"the environment variable {secret.env} is not set, which {key!r} is to come from",
                retryable=False, no_effect=True,
            )  # fmt: skip
        secrets[secret.env] = value
        filled[key] = secret.prefix + value
    return filled, secrets


def _address(template: str, values: Mapping[str, Any]) -> str:
    """Return an address in which what is put in stays within its segment."""
    address = rendered_text(template, _quoted(values))
    if any(each in (".", "..") for each in urlsplit(address).path.split("/")):
        raise ToolError(f"{address!r} leads elsewhere by its dots", retryable=False, no_effect=True)
    return address


def _quoted(value: Any) -> Any:
    if isinstance(value, str):
        return quote(value, safe="")
    if isinstance(value, Mapping):
        return {key: _quoted(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_quoted(each) for each in value]
    return value
