"""Asking reviewers and judges, and taking their answers up."""

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
    if asked is None:
        if run.final is not None or message.key in run.opinions:
            return NOTHING
        said = (message.key, message.verdict, message.reason, message.problems, message.cites)
        return Decision((f.OpinionGiven(*said),))
    verdict, reason = message.verdict, message.reason
    allowed = VERDICTS[asked.kind]
    if verdict not in (*allowed, FAILED):
        reason = f"{asked.who} answered {verdict!r}; it is one of {', '.join(allowed)}"
        verdict = FAILED
    given = f.OpinionGiven(message.key, verdict, reason, message.problems, message.cites, asked.who)
    return Decision((given,))
