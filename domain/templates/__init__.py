"""The template language of plans: strict, without logic, ``{{ }}`` only.

Templates move data between steps; they do not compute. The strings of a step's input (or of a plan's
``output`` and solver texts) may hold tags over *roots*: step ids, ``input``, ``board``, and in bodies
``item``, ``index`` and ``accumulator``. Object keys are never templates.

- ``{{E0.values.0.id}}``: keys and array indices; ``.length`` of an array or string, as the last segment.
- A string that is exactly one tag becomes the raw JSON value; with anything around the tag, text.
- ``{{#E1.values}}…{{/E1.values}}`` repeats for every item; for any other value, once if it is truthy.
- ``{{^E1.values}}…{{/E1.values}}`` shows if there is nothing: no such path, null, false, ``""`` or ``[]``.
- ``{{title}}`` in a section reads the item, then the enclosing items, then the roots; missing is empty.
- ``{{@index}} {{@first}} {{@last}}`` say where the innermost repetition is.

A path with a dot starts at a root wherever it stands. Substituted values are never parsed again.

Layout: ``syntax`` reads text into nodes, ``paths`` follows a path through data, ``sections`` renders text,
``compiled`` does whole JSON values and is the way in; ``errors`` has the errors.
"""

from .compiled import (
    JsonValue,
    Template,
    compile_value,
    is_literal,
    possible_references,
    references,
    render,
    syntax_errors,
)
from .errors import BadPath, EmptyData, MissingStep, RenderError, TemplateError, TemplateSyntaxError

__all__ = [
    "BadPath",
    "EmptyData",
    "JsonValue",
    "MissingStep",
    "RenderError",
    "Template",
    "TemplateError",
    "TemplateSyntaxError",
    "compile_value",
    "is_literal",
    "possible_references",
    "references",
    "render",
    "syntax_errors",
]
