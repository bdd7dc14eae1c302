"""What facts about control steps change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from .. import facts as f
from ..control import CONTROLS, Map, Reduce, as_control, as_step, steps_of
from ..frames import ControlRun, Frame, plan_around
from ..plan import Step
from ..readiness import edges
from ..run import Run
from .bodies import close, leave
from .steps import begin, finish


def control_started(run: Run, fact: f.ControlStarted) -> None:
    begin(run, fact.step)
    step = run.steps[fact.step]
    control: Any = fact.plan
    if step.tool_name in CONTROLS:
        control = as_control(step.tool_name, step.input)
    concurrency = control.concurrency if isinstance(control, Map) else 1
    run.controls[fact.step] = ControlRun(
        step.tool_name,
        fact.items,
        concurrency,
        control,
        said={**fact.said, "input": fact.input} if fact.plan is not None else fact.said,
    )
    run.foreseen_from = run.version


def body_started(run: Run, fact: f.BodyStarted) -> None:
    control = run.controls[fact.step]
    steps = body_of(control, fact.path)
    needs = _needs(control, steps)
    frame = Frame(
        fact.path, fact.step, fact.index, tuple(step.id for step in steps), _local(control, fact),
        control.tool not in CONTROLS, len(steps),
    )  # fmt: skip
    control.open += 1
    control.following = fact.index + 1
    for step in steps:
        run.steps[step.id] = step
        run.frame_of[step.id] = frame
        run.unmet[step.id] = len(needs[step.id])
        for need in needs[step.id]:
            run.needed_by.setdefault(need, []).append(step.id)
        if not needs[step.id]:
            run.ready[step.id] = None


def body_of(control: ControlRun, path: str) -> list[Step]:
    """Return the steps of a body under their paths."""
    body: Iterable[Step]
    if control.tool not in CONTROLS:
        body = control.control.steps
    elif control.tool == "decide":
        branch = control.control.then if control.said["branch"] == "then" else control.control.else_
        body = steps_of(branch)
    else:
        body = steps_of(control.control.do)
    plain = [as_step(step) for step in body]
    return [msgspec.structs.replace(step, id=f"{path}/{step.id}" if step.id else path) for step in plain]


def _needs(control: ControlRun, steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    """Return what each step of a body waits for: of a body the one before, of a plan what it says."""
    if control.tool in CONTROLS:
        return edges([msgspec.structs.replace(step, needs=None) for step in steps])
    inside = edges(control.control.steps)
    path = {inner.id: step.id for inner, step in zip(control.control.steps, steps, strict=True)}
    return {path[inner]: tuple(path[need] for need in needs) for inner, needs in inside.items()}


def _local(control: ControlRun, fact: f.BodyStarted) -> dict[str, Any]:
    if control.tool not in CONTROLS:
        return {"input": control.said["input"]}
    if control.tool == "decide":
        return {}
    local = {"item": control.items[fact.index], "index": fact.index}
    return local | {"accumulator": fact.accumulator} if isinstance(control.control, Reduce) else local


def control_ended(run: Run, fact: f.ControlEnded) -> None:
    if fact.step in run.unmet and fact.step not in run.started:
        begin(run, fact.step)
    control = run.controls.pop(fact.step, None)
    if control is not None and control.exit is not None:
        leave(run, fact.step)
    finish(run, fact.step, "", fact.result)
    run.foreseen_from = run.version
    run.recheck = True


def exit_reached(run: Run, fact: f.ExitReached) -> None:
    begin(run, fact.step)
    finish(run, fact.step, "", fact.output)
    run.foreseen_from = run.version
    frame = plan_around(run, fact.step)
    if frame is not None and frame.owner in run.controls:
        run.controls[frame.owner].exit = fact
        close(run, frame)
        return
    run.exit = fact
    run.ready.clear()
    run.waits.clear()
    run.questions.clear()


def question_asked(run: Run, fact: f.QuestionAsked) -> None:
    begin(run, fact.step)
    run.questions[fact.step] = fact
    run.foreseen_from = run.epoch


def question_answered(run: Run, fact: f.QuestionAnswered) -> None:
    if fact.step not in run.started:
        begin(run, fact.step)
    run.questions.pop(fact.step, None)
    finish(run, fact.step, "", fact.result)
    run.recheck = True
