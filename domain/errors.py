"""The root of the error tree.

::

    MidcourseError
    ├── InvalidInputError            what was handed in cannot be used
    │   ├── PlanInvalid              a plan or proposal with one or more problems
    │   ├── UnknownTool              a tool name nobody registered
    │   ├── ToolDefinitionError      a tool declared in a way that cannot work
    │   ├── AuthorityInvalid         rules about what runs may do that cannot be used
    │   ├── ExpressionError          see ``domain.expressions``
    │   └── MessageRefused           a message that does not fit the state of its run
    │       ├── SignalInvalid        a signal that does not fit what is declared of it
    │       └── ReplanNotTaken       a request for a plan that has its answer already
    ├── TemplateError                see ``domain.templates``
    ├── StoreError                   see ``store.errors``
    └── EngineError                  see ``actors.errors``
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

ReplanAnswer: TypeAlias = Literal["ACCEPTED", "STALE", "CONFLICT", "PROCESSING", "OUTCOME_UNKNOWN"]
"""How a request for another plan is answered; see ``domain.decide.jumps``."""


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


class AuthorityInvalid(InvalidInputError):
    """Rules about what runs may do cannot be used.

    Args:
        problems: one sentence a problem, each naming its place.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("the authority cannot be used: " + "; ".join(self.problems))


class MessageRefused(InvalidInputError):
    """A message that does not fit the run as it is: nothing was recorded."""


class SignalInvalid(MessageRefused):
    """A signal does not fit what is declared of it. Its run is told nothing; the refusal is recorded.

    Args:
        run: the run it was for.
        name: the signal.
        id: its id, if it had one.
        digest: digest of its payload.
        problems: what does not fit, one sentence each, with its path in the payload.
    """

    def __init__(self, run: str, name: str, id: str, digest: str, problems: Sequence[str]) -> None:
        self.run, self.name, self.id, self.digest = run, name, id, digest
        self.problems = tuple(problems)
        super().__init__(f"run {run} was not told: the signal {name!r} does not fit: {'; '.join(problems)}")


class ReplanNotTaken(MessageRefused):
    """A request for a plan from outside was not taken up, or was before.

    Args:
        run_id: the run.
        answer: ``PROCESSING`` or ``CONFLICT``, or what it was answered when it was told first.
    """

    def __init__(self, run_id: str, answer: ReplanAnswer) -> None:
        self.answer = answer
        super().__init__(f"run {run_id}: the request for another plan is answered {answer}")
