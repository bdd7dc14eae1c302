"""What facts about plans and news change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from .. import facts as f
from ..plan import Step
from ..planning import SignalEntry
from ..readiness import edges, is_dag
from ..run import Run
from .backoff import give_up_backoff


def replan_requested(run: Run, fact: f.ReplanRequested) -> None:
    run.owed = fact
    run.asked = run.broken = run.plan_retry_at = run.goal_found = None
    run.replans += 1
    run.replan_marks[fact.digest] = (run.version, fact.reason)
    step = run.steps.get(fact.step)
    run.excluded = frozenset((step.tool_name,)) if step and fact.cause == "tool" else frozenset()
    _unstick(run)
    give_up_backoff(run)


def plan_requested(run: Run, fact: f.PlanRequested) -> None:
    run.asked = fact
    run.plan_retry_at = None


def plan_proposed(run: Run, fact: f.PlanProposed) -> None:
    run.proposal = fact


def proposal_rejected(run: Run, fact: f.ProposalRejected) -> None:
    proposal, run.proposal = run.proposal, None
    by_planner = proposal is not None and proposal.author == "planner"
    if by_planner and run.asked is not None and run.asked.epoch == fact.epoch:
        run.refused_alike = run.refused_alike + 1 if fact == run.last_refusal else 1
        run.last_refusal = fact
        _refuse(run, fact.problems)


def _refuse(run: Run, problems: Iterable[str]) -> None:
    run.asked = None
    run.refused += 1
    run.refusals.extend(problems)


def plan_accepted(run: Run, fact: f.PlanAccepted) -> None:
    assert run.proposal is not None  # noqa: S101 - a journal without the proposal is corrupt, and says so here
    tail, relisted = run.proposal.plan.steps, run.proposal.relisted
    run.revision = fact.revision
    run.author = fact.author
    _supersede(run, fact.superseded)
    for step in tail:
        run.steps[step.id] = step
    run.order = [*fact.kept, *fact.added]
    run.proposal = run.owed = run.asked = run.broken = run.plan_retry_at = run.goal_found = None
    run.excluded = frozenset()
    run.signals.clear()
    run.refusals.clear()
    _unstick(run)
    run.tail_n.clear()
    run.tail_again = {run.done[step] for step in relisted}
    for operation in run.closed.values():
        operation.is_left = True
    _lay_out(run, tail, fact.kept[-1] if fact.kept else "")


def _supersede(run: Run, steps: Iterable[str]) -> None:
    for step_id in steps:
        del run.steps[step_id]


def _lay_out(run: Run, tail: Sequence[Step], last_executed: str) -> None:
    run.unmet, run.needed_by, run.ready = {}, {}, OrderedDict()
    if not is_dag(tail):
        _lay_out_sequence(run, tail, last_executed)
        return
    for step_id, needs in edges(tail, last_executed).items():
        open_needs = [need for need in needs if need not in run.done]
        for need in open_needs:
            run.needed_by.setdefault(need, []).append(step_id)
        run.unmet[step_id] = len(open_needs)
        if not open_needs:
            run.ready[step_id] = None


def _lay_out_sequence(run: Run, tail: Sequence[Step], last_executed: str) -> None:
    """Let each step wait for the one before: what `edges` says of a sequence, in one pass."""
    unmet, needed_by, ready, done = run.unmet, run.needed_by, run.ready, run.done
    before = last_executed
    for step in tail:
        step_id = step.id
        if before and before not in done:
            needed_by[before] = [step_id]
            unmet[step_id] = 1
        else:
            unmet[step_id] = 0
            ready[step_id] = None
        before = step_id


def planning_failed(run: Run, fact: f.PlanningFailed) -> None:
    run.asked = None
    run.planning_failures += 1
    run.plan_retry_at = fact.retry_at
    run.failures.append(fact.failure)


def no_plan_found(run: Run, fact: f.NoPlanFound) -> None:
    if fact.stale:
        _refuse(run, ())
    run.asked = None


def goal_found(run: Run, fact: f.GoalFound) -> None:
    if fact.stale:
        _refuse(run, ())
        return
    run.asked = run.owed = run.broken = None
    run.goal_found = fact
    _supersede(run, [step for step in run.order if step not in run.done])
    run.order = [step for step in run.order if step in run.done]
    run.unmet.clear()
    run.needed_by.clear()
    run.ready.clear()


def board_updated(run: Run, fact: f.BoardUpdated) -> None:
    run.board.update(fact.values)
    if run.stuck:
        _unstick(run)


def signal_received(run: Run, fact: f.SignalReceived) -> None:
    run.signals.append(SignalEntry(fact.name, fact.payload, run.version))
    if fact.id:
        run.signal_ids.add(fact.id)
    if fact.relevant:
        run.news += 1
        if run.stuck:
            _unstick(run)


def _unstick(run: Run) -> None:
    """Let a run that was stuck be asked about again: there is something it did not know."""
    run.stuck = ""
    run.refused = run.refused_alike = run.planning_failures = 0
    run.last_refusal = None
