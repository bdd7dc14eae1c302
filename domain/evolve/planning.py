"""What facts about plans and news change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from .. import facts as f
from ..approvals import PLAN
from ..held import Held
from ..plan import Step
from ..planning import Asker, RevisionEntry, SignalEntry, StepSummary
from ..readiness import edges, is_dag
from ..run import Run
from ..tails import accepted_tail
from .backoff import give_up_backoff
from .bodies import drop_bodies
from .mail import put_letter
from .opinions import end_help, end_plan_review


def replan_requested(run: Run, fact: f.ReplanRequested) -> None:
    run.owed = fact
    run.asked = run.broken = run.plan_retry_at = run.goal_found = None
    run.replans += 1
    run.replan_marks[fact.digest] = (run.version, fact.reason)
    run.asking = None
    if fact.cause == "person":
        run.foreseen_from = run.version
    _note_asker(run, fact)
    unstick(run)
    run.waits.clear()
    run.questions.clear()
    run.stops.clear()
    give_up_backoff(run)


def replan_joined(run: Run, fact: f.ReplanJoined) -> None:
    if fact.cause == "person":
        run.foreseen_from = run.version
    _note_asker(run, fact)


def _note_asker(run: Run, fact: f.ReplanRequested | f.ReplanJoined) -> None:
    run.askers.append(Asker(fact.cause, fact.reason, fact.step, fact.tool, fact.input_digest))


def replan_answered(run: Run, fact: f.ReplanAnswered) -> None:
    run.jumps[fact.id] = (fact.content, fact.answer)


def plan_requested(run: Run, fact: f.PlanRequested) -> None:
    run.asked = fact
    run.plan_retry_at = None


def plan_proposed(run: Run, fact: f.PlanProposed) -> None:
    run.proposal = fact


def proposal_held(run: Run, _fact: f.ProposalHeld) -> None:
    assert run.proposal is not None  # noqa: S101 - as for PlanAccepted
    run.held, run.proposal = Held(run.proposal, run.version), None


def proposal_rejected(run: Run, fact: f.ProposalRejected) -> None:
    if run.proposal is None and run.held is not None and run.held.is_rejected_by(fact):
        run.held = None
        return
    if run.proposal is None and run.under_review is not None and run.under_review.is_rejected_by(fact):
        end_plan_review(run)
        _count_alike(run, fact)
        _refuse(run, fact.problems)
        return
    approval = run.approvals.get(PLAN)
    if approval is not None and (approval.digest, approval.epoch) == (fact.digest, fact.epoch):
        del run.approvals[PLAN]
        _refuse(run, fact.problems)
        return
    proposal, run.proposal = run.proposal, None
    by_planner = proposal is not None and proposal.author == "planner"
    if by_planner and run.asked is not None and run.asked.epoch == fact.epoch:
        _count_alike(run, fact)
        _refuse(run, fact.problems)


def _count_alike(run: Run, fact: f.ProposalRejected) -> None:
    run.refused_alike = run.refused_alike + 1 if fact == run.last_refusal else 1
    run.last_refusal = fact


def _refuse(run: Run, problems: Iterable[str]) -> None:
    run.asked = None
    run.refused += 1
    run.refusals.extend(problems)


def plan_accepted(run: Run, fact: f.PlanAccepted) -> None:
    proposal = run.pending
    assert proposal is not None  # noqa: S101 - a journal without the proposal is corrupt, and says so here
    tail, relisted = accepted_tail(proposal, fact)
    run.revision = fact.revision
    run.revisions.append(
        RevisionEntry(
            fact.revision, fact.author, fact.reason, fact.kept, _summaries(tail),
            _summaries(run.steps[step] for step in fact.superseded), fact.undone,
        )
    )  # fmt: skip
    run.accepted_at = run.foreseen_from = run.observed = run.version
    run.author = fact.author
    _supersede(run, fact.superseded)
    for step in tail:
        run.steps[step.id] = step
    run.order = [*fact.kept, *fact.added]
    run.output, run.compensates = proposal.plan.output, proposal.plan.compensate_on_failure
    run.proposal = run.owed = run.asked = run.broken = run.plan_retry_at = run.goal_found = None
    run.held = run.asking = None
    if run.under_review is not None:
        end_plan_review(run)
    run.approvals.pop(PLAN, None)
    run.gaps = ()
    run.askers.clear()
    run.guarded = dict(fact.guarded)
    run.recheck = False
    run.signals.clear()
    run.refusals.clear()
    unstick(run)
    run.waits.clear()
    drop_bodies(run)
    run.tail_n.clear()
    run.tail_again = {run.done[step] for step in relisted}
    for operation in run.closed.values():
        operation.is_left = True
    _lay_out(run, tail, fact.kept[-1] if fact.kept else "")
    if run.running:
        _adopt(run, fact.adopted)


def _summaries(steps: Iterable[Step]) -> tuple[StepSummary, ...]:
    return tuple(StepSummary(step.id, step.tool_name) for step in steps)


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


def _adopt(run: Run, steps: Sequence[str]) -> None:
    """Keep steps in flight going in their new places; what else is in flight belongs to no plan any more."""
    for key, operation in run.running.items():
        if operation.step not in steps:
            run.orphans.add(key)
            continue
        run.ready.pop(operation.step, None)
        run.unmet[operation.step] = 0
        run.tail_again.add(key)
        _pass_on_needs(run, operation.step)


def _pass_on_needs(run: Run, step: str) -> None:
    """Let what waits for a step that is in flight already wait for what that one would have waited for."""
    after = run.needed_by.get(step, [])
    for dependents in run.needed_by.values():
        if step in dependents:
            dependents.remove(step)
            late = [each for each in after if each not in dependents]
            dependents.extend(late)
            for each in late:
                run.unmet[each] += 1


def plan_confirmed(run: Run, _fact: f.PlanConfirmed) -> None:
    run.asked = None
    run.observed = run.epoch


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
    run.guarded.clear()
    run.waits.clear()
    drop_bodies(run)
    run.askers.clear()
    run.orphans.update(run.running)


def board_updated(run: Run, fact: f.BoardUpdated) -> None:
    run.board.update(fact.values)
    run.recheck = True
    if run.stuck:
        unstick(run)


def signal_received(run: Run, fact: f.SignalReceived) -> None:
    letter = SignalEntry(fact.name, fact.payload, run.version)
    run.signals.append(letter)
    put_letter(run, letter)
    if fact.id:
        run.signal_ids.add(fact.id)
    if fact.relevant:
        run.news += 1
        run.foreseen_from = run.version
        if run.stuck:
            unstick(run)


def unstick(run: Run) -> None:
    """Let a run that was stuck be asked about again: there is something it did not know."""
    run.stuck = ""
    run.refused = run.refused_alike = run.planning_failures = 0
    run.last_refusal = None
    if run.unhelped or run.consulting:
        end_help(run)
