"""Expressions in the Common Expression Language (CEL): the one place that knows its library.

The library is imported when the first expression is compiled, since that takes about half a second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .errors import InvalidInputError

if TYPE_CHECKING:
    from cel import Program

_BOUND = re.compile(r"\.\s*(?:all|exists|exists_one|map|filter)\s*\(\s*([A-Za-z_]\w*)\s*,")
_MOST_COMPILED = 4096


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
def names_in(text: str) -> frozenset[str]:
    """Return the roots that an expression reads.

    Names that its macros bind (``x`` in ``E0.items.exists(x, x.open)``) are none.

    Raises:
        ExpressionError: it is not in the language; the text is what the parser says, and where.
    """
    try:
        program = _parsed(text)
    except ValueError as error:
        raise ExpressionError(_first_line(str(error))) from error
    return frozenset(program.variables()) - frozenset(_BOUND.findall(text))


def _first_line(message: str) -> str:
    """Return what the parser says, without the name of its input and its picture of the place."""
    said = message.partition("ERROR: <input>:")[2] or message
    line, _, rest = said.partition("\n")[0].partition(" Syntax error: ")
    place = line.strip(":").split(":")
    expected = rest.partition(" expecting ")[0]
    return f"{expected} at line {place[0]}, column {place[-1]}" if expected else said.partition("\n")[0]


def _compiled(text: str) -> Program:
    try:
        return _parsed(text)
    except ValueError as error:
        raise ExpressionError(f"{text!r} is not in the Common Expression Language: {error}") from error


@lru_cache(_MOST_COMPILED)
def _parsed(text: str) -> Program:
    from cel import compile as compile_text

    return compile_text(text)
