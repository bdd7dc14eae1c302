"""What the exception of a tool says: for people, for planners, and about another attempt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..domain.facts import Failure
from .control import ToolError
from .json_values import text

_MOST_CHARACTERS = 2_000


class Verdict(NamedTuple):
    """What an error says about another attempt.

    Args:
        retryable: whether one makes sense.
        retry_after_s: seconds to wait before it; ``None`` leaves them to the retry policy.
        no_effect: nothing happened outside.
    """

    retryable: bool
    retry_after_s: float | None
    no_effect: bool


def only_cause(error: BaseException) -> BaseException:
    """Return the error inside exception groups that hold just one, as a task group makes of it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def verdict(error: BaseException) -> Verdict:
    """Return what the first `ToolError` down the chain of causes says; without one, a retry makes sense."""
    for cause, is_explicit in _causes(error):
        if isinstance(cause, ToolError):
            return Verdict(cause.retryable is not False, cause.retry_after_s, is_explicit and cause.no_effect)
    return Verdict(retryable=True, retry_after_s=None, no_effect=False)


def failure_of(error: BaseException, *, tool: str, step: str) -> Failure:
    """Return an error as facts record it."""
    message = _message(error)
    if len(message) > _MOST_CHARACTERS:
        message = f"{message[:_MOST_CHARACTERS]}… ({len(message)} characters)"
    return Failure("tool_error", message, step, tool, type(error).__qualname__)


def _message(error: BaseException) -> str:
    """Return what an error says; one that gives just a value, as `KeyError` does, is named before it."""
    said, name = text(error), type(error).__qualname__
    if not said:
        return f"{name} without a message"
    is_bare = len(error.args) == 1 and said == text(repr(error.args[0]))
    return f"{name}: {said}" if is_bare else said


def _causes(error: BaseException) -> Iterator[tuple[BaseException, bool]]:
    seen: set[int] = set()
    cause: BaseException | None = error
    is_explicit = True
    while cause is not None and id(cause) not in seen:
        yield cause, is_explicit
        seen.add(id(cause))
        is_explicit = is_explicit and cause.__cause__ is not None
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
