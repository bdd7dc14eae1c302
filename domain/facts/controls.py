"""Facts about control steps: what the run carries out by itself, and the bodies inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ..plan import Plan
from .base import Fact


class ControlStarted(Fact):
    """A control step runs bodies.

    Args:
        step: the step.
        items: what they are run for; one ``None`` for a branch or a plan.
        said: what its result will say beside theirs: the branch, and why.
        plan: the plan that is run, where the step calls one.
        input: the inputs of that plan.
    """

    step: str
    items: tuple[Any, ...] = (None,)
    said: Mapping[str, Any] = msgspec.field(default_factory=dict)
    plan: Plan | None = None
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)


class BodyStarted(Fact):
    """The body of a control step begins for an item.

    Args:
        step: the control step.
        path: where the steps of the body are.
        index: position of the item.
        accumulator: what the bodies before came to, where results are gathered.
    """

    step: str
    path: str
    index: int = 0
    accumulator: Any = None


class ControlEnded(Fact):
    """A control step is done."""

    moves_epoch = True
    step: str
    result: Any = None


class ExitReached(Fact):
    """A plan ends here: nothing more is begun, and the run ends once what is in flight is known."""

    moves_epoch = True
    step: str
    status: Literal["success", "error"]
    message: str = ""
    output: Any = None


class QuestionAsked(Fact):
    """A person is asked, and the step waits for the answer.

    Args:
        step: the step.
        prompt: the question.
        output_schema: JSON Schema of the answer.
        default: the answer where it is declined; ``None`` for none.
        has_default: there is such an answer.
    """

    step: str
    prompt: str
    output_schema: Mapping[str, Any]
    default: Any = None
    has_default: bool = False


class QuestionAnswered(Fact):
    """A question is answered, or declined, by ``by``."""

    moves_epoch = True
    step: str
    result: Any
    by: str = ""
