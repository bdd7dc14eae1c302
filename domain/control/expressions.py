"""The expressions of gates, in the Common Expression Language (CEL): which names they read.

The library is imported with the first expression, since that takes about half a second.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..errors import InvalidInputError

_BOUND = re.compile(r"\.\s*(?:all|exists|exists_one|map|filter)\s*\(\s*([A-Za-z_]\w*)\s*,")
_MOST_COMPILED = 4096


class ExpressionError(InvalidInputError):
    """A text is not an expression."""


@lru_cache(_MOST_COMPILED)
def names_in(text: str) -> frozenset[str]:
    """Return the roots that an expression reads.

    Names that its macros bind (``x`` in ``E0.items.exists(x, x.open)``) are none.

    Raises:
        ExpressionError: it is not in the language.
    """
    from cel import compile as compile_text

    try:
        program = compile_text(text)
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
