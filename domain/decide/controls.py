"""Control steps: what a run carries out by itself, and the bodies that it runs inside of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from .. import facts as f
from .. import ids
from ..control import Ask, Condition, Decide, Exit, Filter, Gate, Map, Reduce, as_control
from ..frames import ControlRun, is_closed
from ..gates import GateError, kind_of, passes
from ..plan import Step
from ..run import Run
from ..scopes import render_in, render_text_in, scope_of
from ..templates import EmptyData, TemplateError
from ..tools import Catalog
from ..waits import WAIT
from . import questions, waits
from .decision import NOTHING, Decision
from .delivery import check_coverage, delivered
from .errors import ControlError
from .inner_plans import PLAN_PREFIX, begin_plan, ended_by_exit, result_of_plan


def begin(run: Run, step: Step, catalog: Catalog, at: float) -> Decision:
    """Carry a control step out, or begin to; a step that calls a plan runs the plan inside itself."""
    try:
        if step.tool_name.startswith(PLAN_PREFIX):
            return begin_plan(run, step, catalog)
        if step.tool_name == WAIT:
            return waits.begin(step, render_in(run, step.id, step.input), at)
        return _BEGIN[step.tool_name](run, step, as_control(step.tool_name, step.input))
    except TemplateError as error:
        return _fail(step, "template", str(error), type(error).__name__, empty=isinstance(error, EmptyData))
    except (GateError, ControlError) as error:
        return _fail(step, "arguments", str(error), type(error).__name__)


def is_carried_out(tool: str, catalog: Catalog) -> bool:
    """Whether a run carries steps of this tool name out by itself."""
    return tool in _BEGIN or tool == WAIT or tool in catalog.plans


def _fail(step: Step, kind: str, message: str, error_type: str, *, empty: bool = False) -> Decision:
    digest = ids.digest([step.tool_name, message])
    failure = f.Failure(kind, message, step.id, step.tool_name, error_type, digest, empty)
    return Decision((f.StepFailed(step.id, "", 0, failure),))


def _judged(gate: Gate, run: Run, step: Step, local: Mapping[str, Any] | None = None) -> bool:
    if not isinstance(gate, Condition):
        raise ControlError("'infer' needs a model, and none is configured; write a condition, or 'expr'")
    return passes(gate, scope_of(run, step.id, local))


def _list_of(run: Run, step: Step, over: Any) -> list[Any]:
    items = render_in(run, step.id, list(over) if isinstance(over, tuple) else over)
    if not isinstance(items, list):
        raise ControlError(f"{step.tool_name} needs an array in 'over', got {kind_of(items)}")
    return items


# ------------------------------------------------------------------------------------------------- beginning


def _begin_exit(run: Run, step: Step, control: Exit) -> Decision:
    if control.gate is not None and not _judged(control.gate, run, step):
        return Decision((f.ControlEnded(step.id, {"passed": True, "verdict": False}),))
    message = render_text_in(run, step.id, control.message)
    output = render_in(run, step.id, control.output)
    return Decision((f.ExitReached(step.id, control.status, message, output),))


def _begin_decide(run: Run, step: Step, control: Decide) -> Decision:
    verdict = _judged(control.gate, run, step)
    branch = "then" if verdict else "else" if control.else_ is not None else None
    said = {"branch": branch, "verdict": verdict, "reason": ""}
    if branch is None:
        return Decision((f.ControlEnded(step.id, {**said, "result": None}),))
    return Decision((f.ControlStarted(step.id, said=said), f.BodyStarted(step.id, f"{step.id}/{branch}")))


def _begin_filter(run: Run, step: Step, control: Filter) -> Decision:
    items: list[Any] = []
    dropped: list[Any] = []
    for index, item in enumerate(_list_of(run, step, control.over)):
        kept = _judged(control.gate, run, step, {"item": item, "index": index})
        (items if kept else dropped).append(item)
    result = {"count": len(items), "items": items, "dropped": dropped, "dropped_count": len(dropped)}
    return Decision((f.ControlEnded(step.id, result),))


def _begin_map(run: Run, step: Step, control: Map) -> Decision:
    items = _list_of(run, step, control.over)
    if not items:
        return Decision((f.ControlEnded(step.id, {"count": 0, "results": []}),))
    return Decision((f.ControlStarted(step.id, tuple(items)),))


def _begin_reduce(run: Run, step: Step, control: Reduce) -> Decision:
    items = _list_of(run, step, control.over)
    initial = render_in(run, step.id, control.initial)
    if not items:
        return Decision((f.ControlEnded(step.id, {"count": 0, "result": initial}),))
    first = f.BodyStarted(step.id, f"{step.id}/do.0", 0, initial)
    return Decision((f.ControlStarted(step.id, tuple(items)), first))


def _begin_ask(run: Run, step: Step, control: Ask) -> Decision:
    return questions.ask(run, step, control)


def _begin_agent(_run: Run, _step: Step, _control: Any) -> Decision:
    raise ControlError("an agent needs a model, and none is configured")


_BEGIN: Final[Mapping[str, Callable[[Run, Step, Any], Decision]]] = {
    "exit": _begin_exit,
    "decide": _begin_decide,
    "filter": _begin_filter,
    "map": _begin_map,
    "reduce": _begin_reduce,
    "ask": _begin_ask,
    "agent": _begin_agent,
}


# -------------------------------------------------------------------------------------------------- going on


def go_on(run: Run) -> Decision:
    """Begin the next body of a control step, or end one whose bodies are over."""
    for step, control in run.controls.items():
        if run.frame_of and is_closed(run, step):
            continue
        if control.exit is not None:
            if not _is_in_flight(run, step):
                return ended_by_exit(run, step, control.exit)
        elif control.failures:
            if not _is_in_flight(run, step):
                return Decision((f.StepFailed(step, "", 0, _failure(run, step, control)),))
        elif len(control.results) == len(control.items):
            return _end(run, step, control)
        elif not run.is_leaving and run.exit is None and _may_begin(control):
            return Decision((_next_body(step, control),))
    return NOTHING


def _may_begin(control: ControlRun) -> bool:
    return control.open < control.concurrency and control.following < len(control.items)


def _next_body(step: str, control: ControlRun) -> f.BodyStarted:
    index = control.following
    accumulator = control.results.get(index - 1) if isinstance(control.control, Reduce) else None
    return f.BodyStarted(step, f"{step}/do.{index}", index, accumulator)


def _is_in_flight(run: Run, step: str) -> bool:
    """Whether something in the bodies of a control step is under way; items finish with all their steps."""
    prefix = f"{step}/"
    places = (run.running, run.backoff, run.unknown)
    if any(operation.step.startswith(prefix) for place in places for operation in place.values()):
        return True
    inside = (*run.waits, *run.questions, *run.reviews, *run.ready)
    if any(each.startswith(prefix) for each in inside):
        return True
    return any(each.startswith(prefix) and not is_closed(run, each) for each in run.controls)


def _failure(run: Run, step: str, control: ControlRun) -> f.Failure:
    """Return the failure of the first item, in the order of the list, that failed."""
    index = min(control.failures)
    failure = control.failures[index]
    where = f"item {index}: " if len(control.items) > 1 or "over" in run.steps[step].input else ""
    return msgspec.structs.replace(failure, message=f"{where}{failure.message}", step=step)


def _end(run: Run, step: str, control: ControlRun) -> Decision:
    results = [control.results[index] for index in range(len(control.items))]
    if control.tool == "map":
        result: Any = {"count": len(results), "results": results}
    elif control.tool == "reduce":
        result = {"count": len(results), "result": results[-1]}
    elif control.tool == "decide":
        result = {**control.said, "result": results[-1]}
    else:
        try:
            result = result_of_plan(run, step, control, results[-1])
        except TemplateError as error:
            message = f"output of {control.tool}: {error}"
            empty = isinstance(error, EmptyData)
            return _fail(run.steps[step], "template", message, type(error).__name__, empty=empty)
    return Decision((f.ControlEnded(step, result),))


def leave_by_exit(run: Run, reached: f.ExitReached) -> Decision:
    """End a run whose plan has reached an exit, once nothing is in flight, nor to be reviewed."""
    if run.running or run.backoff or run.unknown or (run.reviews and reached.status == "success"):
        return NOTHING
    if reached.status == "success":
        if run.goal.requirements and run.stuck:
            return NOTHING
        open_ = check_coverage(run) if run.goal.requirements else None
        return open_ if open_ is not None else delivered(run, reached.output, reached.message)
    failure = f.Failure("exit", reached.message or "the plan ended with an error", reached.step, "exit")
    return Decision((f.UnwindingBegan("failed", failure),))
