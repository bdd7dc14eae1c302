"""Asking reviewers and judges, and taking their answers up, and those of handlers of stuck runs."""

from __future__ import annotations

from msgspec.structs import replace

from .. import facts as f
from .. import messages as m
from ..briefing import goal, ledger_entry
from ..copies import copied
from ..facts.opinions import Kind
from ..opinions import FAILED, PERSON, VERDICTS, Consultation
from ..orders import Consult, Order
from ..run import Run
from ..tools import Catalog
from . import stuck
from .decision import NOTHING, Decision


def ask(run: Run, key: str, kind: Kind, who: str, subject: str, nth: int = 1) -> Decision:
    """Ask for an opinion."""
    asked = f.ConsultationRequested(key, kind, who, subject, nth)
    return Decision((asked,), orders_of(run, asked))


def orders_of(run: Run, asked: f.ConsultationRequested) -> tuple[Order, ...]:
    """Return the order that asks a question; none where a person is asked."""
    return () if asked.who == PERSON else (Consult(asked.key, asked.who, _consultation(run, asked)),)


def _consultation(run: Run, asked: f.ConsultationRequested) -> Consultation:
    ledger = tuple(ledger_entry(entry) for entry in run.ledger.values())
    about = Consultation(run.id, asked.kind, goal(run), ledger)
    if asked.kind == "plan":
        return replace(about, plan=copied(run.pending.plan) if run.pending is not None else None)
    if asked.kind == "requirement":
        named = (each for each in run.goal.requirements if each.id == asked.subject)
        return replace(about, requirement=next(named, None))
    entry = run.ledger[run.reviews[asked.subject].operation]
    step = replace(run.steps[asked.subject], input=copied(entry.input))
    return replace(about, step=step, receipt=ledger_entry(entry).receipt, round=asked.round)


def take(run: Run, message: m.ReportOpinion, _catalog: Catalog) -> Decision:
    """Record an answer; one to a question that is not open any more is a fact, too, and changes nothing."""
    asked = run.consulting.get(message.key)
    given = f.OpinionGiven(
        message.key, message.verdict, message.reason, message.problems, message.cites, "", message.updates
    )
    if asked is None:
        return NOTHING if run.final is not None or message.key in run.opinions else Decision((given,))
    given = replace(given, by=asked.who)
    problem = _problem_of(run, asked, given)
    if problem:
        given = replace(given, verdict=FAILED, reason=problem)
    return Decision((given, *stuck.act(run, given)) if asked.kind == "stuck" else (given,))


def _problem_of(run: Run, asked: f.ConsultationRequested, given: f.OpinionGiven) -> str:
    allowed = VERDICTS[asked.kind]
    if given.verdict == FAILED:
        return ""
    if given.verdict not in allowed:
        return f"{asked.who} answered {given.verdict!r}; it is one of {', '.join(allowed)}"
    return stuck.problem_of(run, given) if asked.kind == "stuck" else ""
