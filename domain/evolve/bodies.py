"""How the steps of a body end it."""

from __future__ import annotations

from typing import Any

from .. import facts as f
from ..frames import Frame
from ..run import Run


def note_done(run: Run, step: str) -> None:
    """A step of a body is done; with its last step the body is over, and has its result."""
    frame = run.frame_of[step]
    frame.left -= 1
    if not frame.left:
        control = run.controls.get(frame.owner)
        if control is not None:
            control.open -= 1
            control.results[frame.index] = run.results.get(frame.steps[-1])


def note_failed(run: Run, step: str, failure: f.Failure) -> bool:
    """A step of a body failed: its control step decides what follows; return whether it is in a body."""
    frame = run.frame_of.get(step)
    control = run.controls.get(frame.owner) if frame is not None else None
    if frame is None or control is None:
        return False
    control.failures.setdefault(frame.index, failure)
    close(run, frame)
    return True


def close(run: Run, frame: Frame) -> None:
    """Begin nothing more of a body; what is under way in it ends, and nothing in it is waited for."""
    frame.is_closed = True
    places: tuple[dict[str, Any], ...] = (run.ready, run.waits, run.questions, run.stops)
    for place in places:
        for step in [each for each in place if frame.holds(each)]:
            del place[step]


def leave(run: Run, control: str) -> None:
    """A control step is over: what its bodies have not begun will not be; what they have stays to be seen."""
    prefix = f"{control}/"
    for step in [each for each in run.controls if each.startswith(prefix)]:
        del run.controls[step]
    for step in [each for each in run.frame_of if each.startswith(prefix) and each in run.unmet]:
        del run.unmet[step]
        run.ready.pop(step, None)
        if step not in run.started:
            del run.frame_of[step]
            del run.steps[step]


def drop_bodies(run: Run) -> None:
    """A plan is left: what its control steps have not done is no part of it any more."""
    for step in [each for each in run.frame_of if each not in run.done]:
        del run.frame_of[step]
        del run.steps[step]
    run.controls.clear()
    run.questions.clear()
    run.stops.clear()
    run.released.clear()
