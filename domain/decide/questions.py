"""Questions to people: one at a time, answered by a person, or as the plan says for want of one."""

from __future__ import annotations

from typing import Any

from .. import facts as f
from .. import messages as m
from ..control import Ask
from ..errors import MessageRefused
from ..plan import Step
from ..questions import problems_of, schema_problem
from ..run import Run
from ..scopes import render_in, render_text_in
from ..tools import Catalog
from .decision import NOTHING, Decision
from .errors import ControlError
from .people import refuse_ended


def ask(run: Run, step: Step, control: Ask) -> Decision:
    """Ask a person; where nobody is there to be asked, the step ends as its plan says.

    Raises:
        ControlError: what it was rendered to cannot be asked, or its default is no answer to it.
        TemplateError: it cannot be rendered.
    """
    if run.questions:
        return NOTHING
    schema = render_in(run, step.id, control.output_schema)
    if problem := schema_problem(schema):
        raise ControlError(f"'output_schema' of what is asked: {problem}")
    default = render_in(run, step.id, control.default)
    has_default = control.when_unanswered == "default"
    if has_default and (problems := problems_of(default, schema)):
        raise ControlError(f"'default' of what is asked: {'; '.join(problems)}")
    if run.mode == "autonomous":
        return _unanswered(step.id, default, "unavailable", has_default=has_default)
    prompt = render_text_in(run, step.id, control.prompt)
    return Decision((f.QuestionAsked(step.id, prompt, schema, default, has_default),))


def _unanswered(step: str, default: Any, reason: str, *, has_default: bool, by: str = "") -> Decision:
    if has_default:
        result = {"answer": default, "answered": False, "reason": reason}
        return Decision((f.QuestionAnswered(step, result, by),))
    why = "nobody is there to be asked in autonomous mode" if reason == "unavailable" else "it was declined"
    failure = f.Failure("unanswered", f"the question of step {step} has no answer: {why}", step, "ask")
    return Decision((f.StepFailed(step, "", 0, failure),))


def answer(run: Run, message: m.AnswerQuestion, _catalog: Catalog) -> Decision:
    """Take the answer of a person, or that they decline to give one."""
    refuse_ended(run, "answer")
    question = run.questions.get(message.step)
    if question is None:
        asked = ", ".join(run.questions) or "none"
        raise MessageRefused(f"run {run.id}: step {message.step!r} asks nothing (asked: {asked})")
    if message.decline:
        return _unanswered(
            question.step, question.default, "declined", has_default=question.has_default, by=message.actor
        )
    problems = problems_of(message.value, question.output_schema)
    if problems:
        raise MessageRefused(f"run {run.id}: the answer to step {message.step!r}: {'; '.join(problems)}")
    result = {"answer": message.value, "answered": True}
    return Decision((f.QuestionAnswered(question.step, result, message.actor),))
