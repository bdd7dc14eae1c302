"""The laws, as checks on a state, its facts and the process that carries out its orders."""

from __future__ import annotations

from collections.abc import Sequence, Set

from midcourse.domain import facts as f
from midcourse.domain.evolve import evolve
from midcourse.domain.opinions import PERSON
from midcourse.domain.orders import Execute
from midcourse.domain.run import Run
from midcourse.domain.summary import needs_attention, wake_at

from .replay import replayed, snapshot
from .world import Process, World


def state_is_the_fold_of_its_facts(run: Run, facts: Sequence[f.Fact]) -> None:
    assert snapshot(replayed(run.id, facts)) == snapshot(run)


def intent_is_recorded_before_effect(begun: Sequence[Execute], facts: Sequence[f.Fact]) -> None:
    intents = {
        (fact.operation, fact.attempt)
        for fact in facts
        if isinstance(fact, f.StepStarted | f.AttemptStarted | f.CompensationStarted)
    }
    for order in begun:
        assert (order.operation, order.attempt) in intents, order


def replay_obeys(run_id: str, facts: Sequence[f.Fact]) -> None:
    """Walk through the history: each fact is checked against the state just before it."""
    run = Run(run_id)
    kept: list[str] = []
    for fact, following in zip(facts, (*facts[1:], None), strict=True):
        _committed_effects_are_not_started_again(run, fact)
        _one_attempt_at_a_time(run, fact)
        _undos_are_issued_newest_first(run, fact)
        _no_step_of_a_plan_that_is_left_is_admitted(run, fact)
        _plans_are_made_from_the_present(run, fact)
        _replans_are_asked_for_by_right(run, fact, following)
        _a_run_ends_when_all_is_done(run, fact)
        _no_handler_is_asked_twice(run, fact)
        before, counted = run.epoch, frozenset(run.done)
        evolve(run, fact)
        _a_step_counts_once_it_is_reviewed(run, fact, run.done.keys() - counted)
        moves = fact.relevant if isinstance(fact, f.SignalReceived) else fact.moves_epoch
        assert run.epoch == (run.version if moves else before), fact
        if isinstance(fact, f.PlanAccepted):
            assert list(fact.kept)[: len(kept)] == kept, "executed steps keep their positions"
            assert [step for step in run.order if step in run.done] == list(fact.kept)
            kept = list(fact.kept)
        _operations_are_in_one_place(run)


def _committed_effects_are_not_started_again(run: Run, fact: f.Fact) -> None:
    if isinstance(fact, f.StepStarted | f.AttemptStarted):
        assert fact.operation not in run.ledger, f"{fact.operation} is committed and was started again"
    if isinstance(fact, f.CompensationStarted):
        assert run.ledger[run.undos[fact.operation].of].state == "undoing"


def _one_attempt_at_a_time(run: Run, fact: f.Fact) -> None:
    if isinstance(fact, f.StepStarted | f.AttemptStarted):
        assert fact.operation not in run.running
        assert fact.operation not in run.unknown, "an unknown outcome permits no attempt"
        assert fact.attempt == run.attempts.get(fact.operation, 0) + 1
    if isinstance(fact, f.CompensationStarted):
        assert run.undo_running == ""


def _undos_are_issued_newest_first(run: Run, fact: f.Fact) -> None:
    if isinstance(fact, f.CompensationIssued) and fact.cause in ("failure", "cancel"):
        newer = [each.key for each in run.reversible.values() if each.version > run.ledger[fact.of].version]
        assert all(f"undo/{key}" in run.unknown for key in newer), (fact, newer)


def _no_step_of_a_plan_that_is_left_is_admitted(run: Run, fact: f.Fact) -> None:
    if isinstance(fact, f.StepStarted | f.StepSatisfied):
        assert not run.is_leaving
        assert run.final is None


def _plans_are_made_from_the_present(run: Run, fact: f.Fact) -> None:
    """What is in flight and is not to be adopted is known first; nothing else happened since it was made."""
    if isinstance(fact, f.PlanAccepted):
        assert run.pending is not None
        assert not run.is_draining
        if run.proposal is None and run.held is not None:
            assert run.foreseen_from <= run.held.version, "a stale plan was accepted"
        else:
            oldest = run.foreseen_from if fact.author == "human" else run.epoch
            assert oldest <= run.pending.epoch <= run.epoch, "a stale plan was accepted"
    if isinstance(fact, f.PlanRequested):
        assert not run.is_draining, "what is in flight is known first"


def _a_step_counts_once_it_is_reviewed(run: Run, fact: f.Fact, counting: Set[str]) -> None:
    """Nothing passes in silence: what says that it is reviewed was, unless all of it is being undone."""
    for step in counting:
        if run.steps[step].review and run.unwinding is None and step not in run.skipped:
            is_known = isinstance(fact, f.StepSatisfied) and (
                fact.operation in run.passed or fact.operation in run.undos
            )
            assert isinstance(fact, f.StepReviewed) or is_known, fact
    if isinstance(fact, f.PlanRequested):
        assert run.reviews == {}, "a plan is made once all reviews are over"


def _replans_are_asked_for_by_right(run: Run, fact: f.Fact, following: f.Fact | None) -> None:
    """A plan by a person is not replaced by itself, the budget holds, and a lap without progress is stuck."""
    if not isinstance(fact, f.ReplanRequested):
        return
    assert run.author == "planner" or fact.cause == "person"
    if isinstance(following, f.PlanProposed):
        return  # it comes with the plan that answers it
    is_spent = run.replans >= run.limits.replans
    is_lap = fact.digest in run.replan_marks and fact.cause != "person"
    assert isinstance(following, f.RunStuck) == (is_spent or is_lap)


def _no_handler_is_asked_twice(run: Run, fact: f.Fact) -> None:
    """A handler that answered for a reason on a state is not asked for it again, nor in vain."""
    if isinstance(fact, f.ConsultationRequested) and fact.kind == "stuck":
        said = run.opinions.get(fact.key)
        assert said is None or not said.by
        assert run.stuck, "nobody is asked about a run that goes on"
        assert run.replans < run.limits.replans


def _a_run_ends_when_all_is_done(run: Run, fact: f.Fact) -> None:
    if isinstance(fact, f.RunCompleted | f.RunFailed | f.RunCancelled):
        assert [*run.running, *run.backoff, *run.unknown, *run.undos_open, *run.parked] == []
        assert isinstance(fact, f.RunCompleted) or not run.reversible


def _operations_are_in_one_place(run: Run) -> None:
    keys = [*run.running, *run.backoff, *run.unknown, *run.closed, *run.ledger]
    assert len(keys) == len(set(keys))


def one_attempt_is_in_hand(run: Run, process: Process) -> None:
    """An attempt is not given up, nor followed by another, before it has ended or its process has."""
    for key, attempt in process.attempts:
        assert key not in run.backoff
        assert key not in run.unknown
        operation = run.running.get(key)
        assert operation is None or operation.attempt == attempt


def no_receipt_is_lost(run: Run, operation: str) -> None:
    """What was reported to have happened is in the ledger, whatever became of its attempt."""
    undo = run.undos.get(operation)
    if undo is not None:
        assert run.ledger[undo.of].state == "undone"
    else:
        assert operation in run.ledger


def nothing_hangs(run: Run, process: Process, at: float) -> None:
    """What is in flight is in somebody's hands, and what waits has a time or a person to wait for."""
    for operation in run.running.values():
        assert (operation.key, operation.attempt) in process.attempts, operation.key
    if run.undo_running:
        undo = run.undos[run.undo_running]
        token = (undo.key, undo.attempt)
        assert token in process.attempts or token in process.probes, undo.key
    for operation in run.unknown.values():
        assert not operation.probing or (operation.key, operation.attempt) in process.probes
    if run.asked is not None and ("planner", run.planner) not in run.missing:
        assert process.planning is not None
        assert process.planning.context.epoch == run.asked.epoch
    asked = {key for key, question in run.consulting.items() if question.who != PERSON}
    assert asked <= process.consulted.keys(), "an opinion that is owed was not asked for"
    wake = wake_at(run)
    assert wake is None or wake > at, "what is due was not done"
    busy = run.running or run.undo_running or run.is_probing or run.asked or asked
    waits = any(wait.signal for wait in run.waits.values()) or run.paused is not None
    waits = waits or any(operation.awaits for operation in run.backoff.values())
    assert run.final or busy or wake is not None or waits or needs_attention(run), "it hangs in silence"


def ends_are_ends(run: Run, world: World) -> None:
    if run.final is None:
        return
    assert [*run.running, *run.backoff, *run.unknown] == []
    assert (run.asked, run.owed) == (None, None)
    assert world.standing() <= set(run.ledger), "an effect was forgotten"
    if run.final == "completed":
        return
    assert not run.reversible
    for entry in run.ledger.values():
        if entry.effect == "reversible" and not entry.takes_back:
            done = entry.state == "undone" and not world.stands(entry.key)
            assert done or entry.waived or entry.undone_by in run.parked or run.undos_open, entry.key


def effects_happen_once(world: World) -> None:
    repeated = {key: times for key, times in world.times.items() if times > 1}
    assert repeated == {}
