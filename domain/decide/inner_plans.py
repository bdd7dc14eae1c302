"""Plans that steps call as tools: each is run inside its step, and sees nothing of what is around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .. import facts as f
from ..frames import ControlRun, frames_around
from ..plan import Step
from ..run import Run
from ..scopes import render_in
from ..tools import Catalog
from .decision import Decision
from .errors import ControlError
from .validation import normalize

PLAN_PREFIX: Final = "plan__"
MAX_DEPTH: Final = 8
"""Plans below plans."""


def begin_plan(run: Run, step: Step, catalog: Catalog) -> Decision:
    """Begin the plan that a step calls.

    Raises:
        ControlError: it is called from inside itself, too deep, or with inputs that do not fit.
        TemplateError: its inputs cannot be rendered.
    """
    _check_depth(run, step)
    plan = normalize(catalog.plans[step.tool_name], catalog, 0)
    given = render_in(run, step.id, step.input)
    input = _taken(step.tool_name, given, catalog)
    return Decision((f.ControlStarted(step.id, plan=plan, input=input), f.BodyStarted(step.id, step.id)))


def _check_depth(run: Run, step: Step) -> None:
    around = [run.steps[frame.owner].tool_name for frame in frames_around(run, step.id) if frame.is_plan]
    if not around:
        return
    way = [name.removeprefix(PLAN_PREFIX) for name in (*reversed(around), step.tool_name)]
    if way[-1] in way[:-1]:
        raise ControlError(f"recursive plan cycle: {' → '.join(way[way.index(way[-1]) :])}")
    if len(way) > MAX_DEPTH:
        raise ControlError(
            f"plans call plans {len(way)} deep, at most {MAX_DEPTH} are allowed: {' → '.join(way)}"
        )


def _taken(name: str, given: Mapping[str, Any], catalog: Catalog) -> Mapping[str, Any]:
    """Return the inputs of a plan with its defaults, if they fit its schema."""
    take = catalog.inputs.get(name)
    if take is None:
        return given
    inputs, problems = take(given)
    if problems:
        raise ControlError(f"{name} takes other inputs: {'; '.join(problems)}")
    return inputs


def ended_by_exit(run: Run, step: str, reached: f.ExitReached) -> Decision:
    """End a step whose plan has reached an exit: as a tool that returns, or that fails."""
    if reached.status == "success":
        return Decision((f.ControlEnded(step, reached.output),))
    tool = run.steps[step].tool_name
    message = reached.message or "its plan ended with an error"
    return Decision((f.StepFailed(step, "", 0, f.Failure("tool_error", message, step, tool, "exit")),))


def result_of_plan(run: Run, step: str, control: ControlRun, last: Any) -> Any:
    """Return what a plan whose steps are done results in.

    Raises:
        TemplateError: its output cannot be rendered.
    """
    plan = control.control
    if plan.output is None:
        return last
    return render_in(run, f"{step}/{plan.steps[-1].id}", plan.output)
