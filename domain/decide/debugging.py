"""Breakpoints: what people who look into a run have it do with the steps it is held at."""

from __future__ import annotations

from .. import facts as f
from .. import messages as m
from ..errors import MessageRefused
from ..plan import Step
from ..run import Run
from ..tools import Catalog
from .decision import Decision
from .people import refuse_ended


def held_before(run: Run, step: Step) -> Decision | None:
    """Hold the run before a step that has a breakpoint, once; ``None`` where it may go on."""
    if run.breakpoints is None or step.id in run.released or not run.breakpoints.hold(step.id):
        return None
    return Decision((f.StepHeld(step.id),))


def set_breakpoints(run: Run, message: m.SetBreakpoints, _catalog: Catalog) -> Decision:
    """Hold the run in other places from here on. What it is held at now it stays held at."""
    refuse_ended(run, "breakpoints")
    return Decision((f.BreakpointsSet(message.breakpoints.steps, message.breakpoints.on_error),))


def release(run: Run, message: m.ReleaseStep, _catalog: Catalog) -> Decision:
    """Let a held step begin, or its failure stand."""
    _check_held(run, message.step)
    return Decision((f.StepReleased(message.step),))


def inject(run: Run, message: m.InjectResult, _catalog: Catalog) -> Decision:
    """Give a held step a result in the place of a call, or of its failure."""
    _check_held(run, message.step)
    had_failed = run.stops[message.step] is not None
    return Decision(
        (f.ResultInjected(message.step, message.result, message.actor, message.reason, had_failed),)
    )


def _check_held(run: Run, step: str) -> None:
    refuse_ended(run, f"word about step {step!r}")
    if step not in run.stops:
        held = ", ".join(run.stops) or "none"
        raise MessageRefused(f"run {run.id} is not held at step {step!r} (held: {held})")
