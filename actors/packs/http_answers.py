"""What an HTTP answer says of an operation: done, refused, failed, or nobody knows.

=============================  ==========================  ==============================================
status                         of a read                   of an effect
=============================  ==========================  ==============================================
those of ``ok``                done                        done
429, and 503 that names a      tried again, after the      the same: the service says that it did nothing
``Retry-After``                time that it names
408 and 5xx, but 501           tried again                 unknown: it may have been half-way
… those of ``no_effect``       tried again                 tried again: the service did nothing
anything else                  failed for good             failed for good
=============================  ==========================  ==============================================
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Literal, NamedTuple

import msgspec

from ...domain.tools import Effect
from ..control import OutcomeUnknownError, ToolError
from ..json_values import UNREADABLE

Output = Literal["body", "json", "text", "response"]

MAX_BYTES = 1_000_000
KEY_HEADER = "Idempotency-Key"
_MOST_SAID = 1_000
_LONGEST_WAIT_S = 86_400.0
_FIRST_SUCCESS, _FIRST_OTHER, _FIRST_REFUSAL = 200, 300, 400
_FIRST_OF_SERVER = 500


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a call promises, and what of its answer is kept.

    Args:
        effect: what it does outside.
        idempotent: the service has no second effect for the same operation key.
        ok: statuses that mean success; none means 200 to 299.
        no_effect: statuses by which the service says that nothing happened.
        output: ``body`` (its JSON where its type says so, else its text), ``json``, ``text``, or
            ``response``: status, headers and body.
        response_headers: the headers that ``response`` keeps.
        max_bytes: the longest body.
        key_header: the header that carries the operation key of an effect; empty for none.
        timeout_s: seconds an attempt may take.
    """

    effect: Effect = "irreversible"
    idempotent: bool = False
    ok: tuple[int, ...] = ()
    no_effect: tuple[int, ...] = ()
    output: Output = "body"
    response_headers: tuple[str, ...] = ()
    max_bytes: int = MAX_BYTES
    key_header: str = KEY_HEADER
    timeout_s: float | None = 60.0


class HttpRefusedError(ToolError):
    """The service would not do it, and will not however often it is asked.

    Args:
        status: the status of its answer.
        message: what it said.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message, retryable=False)
        self.status = status


class Answer(NamedTuple):
    """What came back.

    Attributes:
        status: the status.
        headers: by name in lower case.
        content: the body, at most as long as was asked for.
        is_cut: the body was longer.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    is_cut: bool


def result_of(answer: Answer, terms: Terms, *, named: str, secrets: Mapping[str, str]) -> Any:
    """Return the result of a call that succeeded.

    Args:
        answer: what came back.
        terms: what was promised.
        named: the request, for messages.
        secrets: what must not be found in facts, by the name it is shown as.

    Raises:
        ToolError: the service refused, or failed without an effect.
        OutcomeUnknownError: an effect may have happened.
    """
    status = answer.status
    if status in terms.ok or (not terms.ok and _FIRST_SUCCESS <= status < _FIRST_OTHER):
        return _hide(_result(answer, terms, named), secrets)
    problem = _hide(f"{named} was answered with {_spelt(status)}: {_excerpt(answer)}", secrets)
    wait_s = _retry_after_s(answer)
    if (
        status in terms.no_effect
        or status == HTTPStatus.TOO_MANY_REQUESTS
        or (status == HTTPStatus.SERVICE_UNAVAILABLE and wait_s is not None)
    ):
        raise ToolError(problem, retry_after_s=wait_s, no_effect=True)
    if _is_half_way(status):
        if terms.effect == "read":
            raise ToolError(problem, retry_after_s=wait_s)
        raise OutcomeUnknownError(problem)
    raise HttpRefusedError(status, problem)


def _is_half_way(status: int) -> bool:
    is_failure = status >= _FIRST_OF_SERVER and status != HTTPStatus.NOT_IMPLEMENTED
    return is_failure or status == HTTPStatus.REQUEST_TIMEOUT


def _result(answer: Answer, terms: Terms, named: str) -> Any:
    body = _body(answer, terms, named)
    if terms.output != "response":
        return body
    kept = [name.lower() for name in terms.response_headers]
    headers = {name: answer.headers[name] for name in kept if name in answer.headers}
    return {"status": answer.status, "headers": headers, "body": body}


def _body(answer: Answer, terms: Terms, named: str) -> Any:
    if answer.is_cut:
        return _lost(answer, terms, f"{named} was answered with more than {terms.max_bytes} bytes")
    text = answer.content.decode("utf-8", "replace")
    if terms.output == "text":
        return text
    if not answer.content:
        return None
    if terms.output != "json" and not _is_json(answer.headers.get("content-type", "")):
        return text
    try:
        return msgspec.json.decode(answer.content)
    except msgspec.DecodeError as error:
        return _lost(answer, terms, f"{named} was to be answered with JSON: {error}")


def _lost(answer: Answer, terms: Terms, problem: str) -> Any:
    """A read fails; an effect has happened, whatever can be kept of its answer."""
    if terms.effect == "read":
        raise ToolError(problem, retryable=False)
    return {UNREADABLE: {"type": "HTTP body", "problems": [problem], "excerpt": _excerpt(answer)}}


def _is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def _spelt(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _excerpt(answer: Answer) -> str:
    if _FIRST_OTHER <= answer.status < _FIRST_REFUSAL and "location" in answer.headers:
        return f"it is at {answer.headers['location']}, and redirects are not followed; write that address"
    text = answer.content.decode("utf-8", "replace").strip()
    if len(text) > _MOST_SAID:
        return f"{text[:_MOST_SAID]}… ({len(answer.content)} bytes)"
    return text or "it said nothing"


def _retry_after_s(answer: Answer) -> float | None:
    """Return the seconds an answer asks to wait, at most a day: RFC 9110 has a number or a date."""
    value = answer.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value), _LONGEST_WAIT_S)
    try:
        at = parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return min(max(at - time.time(), 0.0), _LONGEST_WAIT_S)


def _hide(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return a value in which secrets that a service sent back are shown by name."""
    if not secrets:
        return value
    if isinstance(value, str):
        for name, secret in secrets.items():
            value = value.replace(secret, f"[{name}]") if secret else value
        return value
    if isinstance(value, dict):
        return {_hide(key, secrets): _hide(each, secrets) for key, each in value.items()}
    if isinstance(value, list):
        return [_hide(each, secrets) for each in value]
    return value
