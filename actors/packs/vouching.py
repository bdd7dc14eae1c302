"""What a tool may say about earlier attempts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..context import ToolContext
from ..control import ToolError


@contextmanager
def for_this_attempt(context: ToolContext, *, idempotent: bool) -> Iterator[None]:
    """Keep errors of a later attempt from vouching that nothing happened at all.

    ``no_effect`` of an idempotent tool speaks for its key, that is for earlier attempts too; and of those a
    refusal knows nothing.

    Args:
        context: of the attempt.
        idempotent: what the tool declares.
    """
    try:
        yield
    except ToolError as error:
        if not (error.no_effect and idempotent and context.attempt > 1):
            raise
        raise ToolError(str(error), retryable=error.retryable, retry_after_s=error.retry_after_s) from error
