"""The root of the error tree.

::

    MidcourseError
    ├── InvalidInputError            what was handed in cannot be used
    │   ├── PlanInvalid              a plan or proposal with one or more problems
    │   ├── UnknownTool              a tool name nobody registered
    │   ├── ToolDefinitionError      a tool declared in a way that cannot work
    │   └── MessageRefused           a message that does not fit the state of its run
    ├── TemplateError                see ``domain.templates``
    ├── StoreError                   see ``store.errors``
    └── EngineError                  see ``actors.errors``
"""

from __future__ import annotations

from collections.abc import Sequence


class MidcourseError(Exception):
    """The base of every error this package raises on purpose."""


class InvalidInputError(MidcourseError):
    """Something handed in cannot be used; the message says what, where, and what is allowed."""


class PlanInvalid(InvalidInputError):
    """A plan has problems, all of them listed.

    Args:
        problems: one sentence a problem, each naming the step and field it is about.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("the plan cannot be used: " + "; ".join(self.problems))


class UnknownTool(InvalidInputError):
    """A tool name that resolves to nothing in the catalog."""


class ToolDefinitionError(InvalidInputError):
    """A tool, or a set of tools, declared in a way that cannot work."""


class MessageRefused(InvalidInputError):
    """A message that does not fit the run as it is: nothing was recorded."""
