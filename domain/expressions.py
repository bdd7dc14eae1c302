"""Yes-or-no expressions in the Common Expression Language (CEL): the one place that knows its library.

The library is imported when the first expression is compiled, since that takes about half a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .errors import InvalidInputError

if TYPE_CHECKING:
    from cel import Program

_MOST_COMPILED = 1024


class ExpressionError(InvalidInputError):
    """An expression cannot be parsed, or gives no yes or no over the values at hand."""


def check(text: str) -> None:
    """Compile an expression.

    Raises:
        ExpressionError: it is not in the language.
    """
    _compiled(text)


def holds(text: str, values: Mapping[str, Any]) -> bool:
    """Return whether an expression is true.

    Args:
        text: the expression.
        values: by name, the JSON values it may refer to.

    Raises:
        ExpressionError: it cannot be parsed, cannot be evaluated, or is neither true nor false.
    """
    program = _compiled(text)
    try:
        answer = program.execute(dict(values))
    except Exception as error:
        raise ExpressionError(f"{text!r} cannot be evaluated: {type(error).__name__}: {error}") from error
    if not isinstance(answer, bool):
        raise ExpressionError(f"{text!r} is {answer!r}; it must be true or false")
    return answer


@lru_cache(_MOST_COMPILED)
def _compiled(text: str) -> Program:
    from cel import compile as compile_text

    try:
        return compile_text(text)
    except ValueError as error:
        raise ExpressionError(f"{text!r} is not in the Common Expression Language: {error}") from error
