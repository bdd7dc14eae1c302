"""What facts about held runs change."""

from __future__ import annotations

from .. import facts as f
from ..breakpoints import Breakpoints
from ..run import Run
from .steps import begin, finish, follow_failure


def breakpoints_set(run: Run, fact: f.BreakpointsSet) -> None:
    run.breakpoints = Breakpoints(fact.steps, fact.on_error) if fact.steps or fact.on_error else None


def step_held(run: Run, fact: f.StepHeld) -> None:
    run.stops[fact.step] = None


def step_released(run: Run, fact: f.StepReleased) -> None:
    failure = run.stops.pop(fact.step)
    if failure is None:
        run.released.add(fact.step)
    else:
        closed = (each for each in run.closed.values() if each.step == fact.step)
        follow_failure(run, fact.step, failure, next(closed, None))


def result_injected(run: Run, fact: f.ResultInjected) -> None:
    run.stops.pop(fact.step)
    begin(run, fact.step)
    finish(run, fact.step, "", fact.result)
    run.injected[fact.step] = fact.by
    run.foreseen_from = run.version
    run.recheck = True
