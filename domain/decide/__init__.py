"""Every rule of a run's behaviour.

``decide`` answers a message, ``advance`` says what the state calls for by itself; both read the state and
change nothing. ``react`` carries a message through to the end for the owner of a run; ``record`` takes it up
for another process, which leaves what follows to the owner.

============  =====================================================================
module        what it rules
============  =====================================================================
start         the start of a run
starting_plan its plan, prepared once where it is used again
proposals     what becomes of a proposal, by a planner or a person
relisting     steps that a proposal lists again
validation    whether a plan can be used
answers       what becomes of a planner's answer that is no plan
reports       what an attempt's report becomes
outcomes      the end of an attempt without a receipt: again, failed, or unknown
laps          planners that look again after every step
replan        the one way to ask for another plan
jumps         requests for a plan from outside, and their answers
preconditions whether the steps to come can still work
in_flight     what becomes of steps in flight when another plan is asked for
strays        effects committed after their plan was left
people        signals, cancellation, settling
compensation  undoing forward
limits        budgets and pauses
opinions      asking reviewers and judges
stuck         handlers of stuck runs: whom to ask, and what follows
reviews       what becomes of steps and plans that are reviewed
delivery      requirements, before a run is complete
controls      control steps, and the bodies inside
inner_plans   plans that steps call
children      child runs, on the side of their parent
guiding       the orders to child runs
descent       child runs, on their own side
questions     what people are asked
debugging     breakpoints, and results that people put in
waits         steps and tools that wait for times and signals
recovery      taking a run up after a restart
advance       what comes next
admission     what a step becomes when its turn comes
authority     whether a step may start: tools, limits, who has to agree
approvals     what becomes of approvals
operations    which operation a step means
============  =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from .. import messages as m
from ..errors import MessageRefused
from ..evolve import evolve
from ..facts import Fact
from ..incoming import FROM_OUTSIDE, checked
from ..orders import Order
from ..run import Run
from ..tools import Catalog
from . import (
    answers,
    approvals,
    children,
    compensation,
    debugging,
    descent,
    jumps,
    limits,
    opinions,
    people,
    proposals,
    questions,
    recovery,
    reports,
    reviews,
    start,
)
from .advance import advance
from .decision import NOTHING, Decision

__all__ = ["Caused", "Decision", "Reaction", "advance", "decide", "react", "record"]

Caused: TypeAlias = tuple[Fact, int]
"""A fact with the version of the fact that led to it (0: something from outside)."""

_RULES: dict[type[m.Message], Callable[[Run, Any, Catalog], Decision]] = {
    m.StartRun: start.start_run,
    m.Activate: recovery.activate,
    m.CatchUp: recovery.catch_up,
    m.Advance: lambda _run, _message, _catalog: NOTHING,
    m.ProposePlan: proposals.propose,
    m.AnswerNoPlan: answers.no_plan,
    m.AnswerGoalReached: answers.goal_reached,
    m.ReportPlanningFailure: answers.planning_failed,
    m.RequestReplan: jumps.request_from_outside,
    m.ReportSuccess: reports.report_success,
    m.ReportFailure: reports.report_failure,
    m.ReportReplan: reports.report_replan,
    m.ReportSuspended: reports.report_suspended,
    m.ReportLost: reports.report_lost,
    m.ReportProbe: reports.report_probe,
    m.ReportChild: children.report,
    m.BeginChild: children.begin,
    m.GuideRun: descent.guided,
    m.TakeBackRun: descent.take_back,
    m.ReceiveSignal: people.receive_signal,
    m.RequestCancel: people.request_cancel,
    m.SettleOutcome: people.settle_outcome,
    m.ApproveSubject: approvals.approve,
    m.DenySubject: approvals.deny,
    m.PauseRun: limits.pause,
    m.UnpauseRun: limits.unpause,
    m.ChangeBudget: limits.change_budget,
    m.ReportOpinion: opinions.take,
    m.DecideReview: reviews.decide,
    m.AnswerQuestion: questions.answer,
    m.SetBreakpoints: debugging.set_breakpoints,
    m.ReleaseStep: debugging.release,
    m.InjectResult: debugging.inject,
    m.RequestCompensation: compensation.request,
    m.RetryCompensation: compensation.retry,
    m.WaiveCompensation: compensation.waive,
}


class Reaction(NamedTuple):
    """Everything that followed from one message."""

    facts: list[Caused]
    orders: list[Order]


def decide(run: Run, message: m.Message, catalog: Catalog) -> Decision:
    """Answer a message; the state is read and not changed.

    Args:
        run: the state; its version is that of its last fact.
        message: what the run is told.
        catalog: the tools of the engine that owns the run.

    Raises:
        MessageRefused: the message does not fit the run as it is.
        PlanInvalid: the plan a run is to start with cannot be used.
        InvalidInputError: what comes from outside does not fit its types, or is nothing JSON can carry.
    """
    if message.__class__ in FROM_OUTSIDE:
        message = checked(message)
    if not run.version and message.__class__ is not m.StartRun:
        raise MessageRefused(f"run {run.id} was never started")
    decision = _RULES[message.__class__](run, message, catalog)
    if message.__class__ in limits.SPENDING:
        return limits.with_usage(run, message, decision)
    return decision


def record(run: Run, message: m.Message, catalog: Catalog) -> Reaction:
    """Decide, and move the state forward by what was decided; raises what ``decide`` raises."""
    reaction = Reaction([], [])
    _take(run, decide(run, message, catalog), reaction)
    return reaction


def react(run: Run, message: m.Message, catalog: Catalog) -> Reaction:
    """Decide, move the state forward, and go on while the state calls for more.

    The state runs ahead of the journal: when the append of these facts fails, drop it and fold again.
    """
    reaction = record(run, message, catalog)
    while (following := advance(run, catalog, message.at)).facts:
        _take(run, following, reaction)
    return reaction


def _take(run: Run, decision: Decision, reaction: Reaction) -> None:
    facts, cause = reaction.facts, decision.cause
    if not cause and facts:
        cause = run.version - len(facts) + 1
    first = run.version + 1
    for fact in decision.facts:
        evolve(run, fact)
        facts.append((fact, cause))
        cause = first
    if decision.orders:
        reaction.orders.extend(decision.orders)
