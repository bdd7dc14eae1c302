"""Whether a plan can be used: every problem at once, each naming the step and field it is about."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import msgspec

from ..briefing import open_steps
from ..child_terms import term_problems
from ..children import PLAN_AND_EXECUTE, TAKE_BACK
from ..control import CONTROLS, bodies_of, parse_control, sites_of, steps_of, with_names
from ..errors import UnknownTool
from ..opinions import PERSON
from ..plan import Plan, Step, WhenUnapproved
from ..problems import Place, Problem
from ..readiness import cycle, edges, is_dag
from ..run import Run
from ..templates import compile_value, is_literal, references, syntax_errors
from ..tools import USER_PREFIX, Catalog
from .compensation import not_undoable
from .control_checks import body_id_problems, idle_problems
from .in_flight import changes
from .relisting import reuse_problem

RESERVED_IDS = frozenset(("input", "item", "index", "accumulator", "length", "board"))
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def normalize(plan: Plan, catalog: Catalog, first_number: int) -> Plan:
    """Return the plan with every step numbered and every tool by its full name.

    Names that resolve to nothing are left as they are, for ``problems_of`` to report.
    """
    taken = {step.id for step in plan.steps}
    free = (f"E{n}" for n in range(first_number, first_number + 2 * len(plan.steps) + 1))
    numbers = (name for name in free if name not in taken)
    full_name = partial(_full_name, catalog=catalog)
    steps = []
    for step in plan.steps:
        name = _full_name(step.tool_name, catalog)
        if not step.id or name != step.tool_name:
            step = msgspec.structs.replace(step, id=step.id or next(numbers), tool_name=name)  # noqa: PLW2901
        if bodies_of(name):
            step = msgspec.structs.replace(step, input=with_names(name, step.input, full_name))  # noqa: PLW2901
        steps.append(step)
    return msgspec.structs.replace(plan, steps=steps)


def _full_name(name: str, catalog: Catalog) -> str:
    if name in CONTROLS:
        return name
    try:
        return catalog.resolve(name).name
    except UnknownTool:
        return name


def problems_of(
    run: Run,
    plan: Plan,
    catalog: Catalog,
    *,
    relisted: Collection[str] = (),
    awaited: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Return what keeps a normalized plan from being the tail of a run's plan.

    Args:
        run: the run.
        plan: the tail.
        catalog: the tools.
        relisted: done steps that the proposal listed and the tail leaves out.
        awaited: steps in flight that will have ended before it begins.
    """
    problems = [*_id_problems(run, plan, relisted, awaited), *body_id_problems(plan)]
    problems += _undo_problems(run, plan)
    for step in plan.steps:
        problems += _tool_problems(step, catalog, run.planner)
    before = {*run.done, *awaited}
    shape = [*_template_problems(before, plan, run.skipped), *_need_problems(before, plan)]
    problems += shape
    if not shape and is_dag(plan.steps):
        path = cycle(edges(plan.steps))
        if path:
            problems.append(f"the steps wait for each other in a cycle: {' → '.join(path)}; break it")
    return tuple(problems)


def _id_problems(run: Run, plan: Plan, relisted: Collection[str], awaited: frozenset[str]) -> Iterator[str]:
    seen = set(relisted)
    can_be_kept = open_steps(run) if run.running else {}
    for step in plan.steps:
        if not _IDENTIFIER.match(step.id):
            yield f"step id {step.id!r} must be letters, digits and _, not starting with a digit"
        elif step.id in RESERVED_IDS:
            yield f"step id {step.id!r} is reserved ({', '.join(sorted(RESERVED_IDS))}); choose another"
        elif step.id in seen:
            yield f"two steps have the id {step.id!r}; ids are unique"
        elif step.id in can_be_kept:
            if change := changes(run, step, can_be_kept[step.id]):
                yield f"step {step.id!r} is in flight and can be kept only unchanged; this changes {change}"
        elif step.id in awaited:
            yield f"step {step.id!r} is in flight and keeps its place; leave it out, or use a new id"
        elif problem := reuse_problem(run, plan, step):
            yield problem
        seen.add(step.id)


def _tool_problems(step: Step, catalog: Catalog, planner: str) -> Iterator[str]:
    if step.tool_name in CONTROLS or step.tool_name in catalog.plans:
        yield from idle_problems(step)
        if step.tool_name in CONTROLS:
            yield from _control_problems(step, catalog, planner)
        return
    try:
        spec = catalog.resolve(step.tool_name)
    except UnknownTool as error:
        yield f"step {step.id}: {error}"
        return
    if spec.name in (PLAN_AND_EXECUTE, TAKE_BACK):
        yield from _child_problems(step, catalog, planner)
    yield from _terms_problems(step, catalog)
    if not spec.input_schema:
        return
    declared = spec.parameters
    for name in step.input:
        if name not in declared and not spec.input_schema.get("additionalProperties"):
            near = difflib.get_close_matches(name, declared, n=1)
            hint = (
                f" (did you mean {near[0]!r}?)"
                if near
                else f" (it takes: {', '.join(sorted(declared)) or 'none'})"
            )
            yield f"step {step.id}: {spec.name} takes no argument {name!r}{hint}"
    for name in sorted(spec.required - step.input.keys()):
        yield f"step {step.id}: {spec.name} needs the argument {name!r}"


def _child_problems(step: Step, catalog: Catalog, planner: str) -> Iterator[str]:
    """Look at a step that is a child run, or that would have one undone."""
    if step.tool_name == TAKE_BACK:
        yield f"step {step.id}: {TAKE_BACK} is no step of a plan; list the child run's operation under undo"
        return
    for _, problem in term_problems(step.input, planner, catalog.planners):
        yield f"step {step.id}: {problem}"


def _terms_problems(step: Step, catalog: Catalog) -> Iterator[str]:
    """Look at what a step says beside its tool and its input."""
    if step.when_unapproved not in get_args(WhenUnapproved):
        allowed = ", ".join(get_args(WhenUnapproved))
        yield f"step {step.id}: when_unapproved is {step.when_unapproved!r}; write one of {allowed}"
    elif step.default is not None and step.when_unapproved != "default":
        yield f"step {step.id}: default is what a step with when_unapproved: default returns; say that, too"
    if step.review and step.review != PERSON and step.review not in catalog.reviewers:
        known = ", ".join(sorted({PERSON, *catalog.reviewers}))
        yield f"step {step.id}: {step.review!r} is no reviewer of this engine (there are: {known})"
    if step.retry is not None and (problem := step.retry.problem()):
        yield f"step {step.id}: {problem}"
    if step.timeout_s is not None and step.timeout_s <= 0:
        yield f"step {step.id}: timeout_s must be above 0 seconds, not {step.timeout_s}"


def _control_problems(step: Step, catalog: Catalog, planner: str) -> Iterator[str]:
    """Look at the input of a control step and at the tools in its bodies, but for templates."""
    found: list[Problem] = []
    control = parse_control(step.tool_name, step.input, Place(found))
    own = f"{USER_PREFIX}{step.tool_name}"
    hint = f"; for the tool of that name write {own}" if catalog.get(own) else ""
    yield from (f"step {step.id}: {problem.text}{hint}" for problem in found)
    if control is None:
        return
    for name in bodies_of(step.tool_name):
        for inner in steps_of(getattr(control, "else_" if name == "else" else name)):
            named = msgspec.structs.replace(inner, id=f"{step.id}/{name}/{inner.id}".rstrip("/"))
            yield from _tool_problems(named, catalog, planner)


def _undo_problems(run: Run, plan: Plan) -> Iterator[str]:
    """Look at what a plan takes back, under ``undo`` and by steps that say ``undoes``."""
    seen: set[str] = set()
    for key in plan.undo:
        problem = _not_undoable(run, key)
        if problem:
            yield f"undo lists operation {key!r}, {problem}"
        if key in seen:
            yield f"undo lists operation {key!r} twice; list it once"
        seen.add(key)
    for step in plan.steps:
        if not step.undoes:
            continue
        entry = run.ledger.get(step.undoes)
        if entry is None or entry.state != "undone":
            problem = _not_undoable(run, step.undoes, step.id)
            if problem:
                yield f"step {step.id}: undoes {step.undoes!r}, {problem}"
        if entry is not None and entry.undo and entry.undo != step.tool_name:
            yield f"step {step.id}: {step.undoes!r} is undone by {entry.undo}, not by {step.tool_name}"
        if step.undoes in seen:
            yield f"step {step.id}: {step.undoes!r} is undone elsewhere in this plan; say it once"
        seen.add(step.undoes)
    yield from _unnamed_undos(run, plan, seen)


def _unnamed_undos(run: Run, plan: Plan, named: set[str]) -> Iterator[str]:
    """A step that calls an undo tool says what it undoes, so that nothing is undone twice."""
    standing: dict[str, list[str]] = {}
    for entry in run.reversible.values():
        if entry.key not in named:
            standing.setdefault(entry.undo, []).append(entry.key)
    for step in plan.steps:
        if not step.undoes and step.tool_name in standing:
            keys = ", ".join(standing[step.tool_name])
            yield f"step {step.id}: {step.tool_name} takes back what stands; say undoes: one of {keys}"


def _not_undoable(run: Run, key: str, by: str = "") -> str:
    """Return why a plan, or a step of it, cannot take an operation back, or nothing where it can."""
    problem = not_undoable(run, key)
    if problem:
        return problem
    step = run.undoing_step(key)
    if step not in ("", by):
        return f"which step {step!r} is undoing"
    return "which a person decided to keep" if run.ledger[key].waived else ""


def _template_problems(done: set[str], plan: Plan, skipped: Mapping[str, str]) -> Iterator[str]:
    later = {step.id for step in plan.steps}
    known = {"input", "board", *done} - skipped.keys()
    before = later if is_dag(plan.steps) else set[str]()
    for step in plan.steps:
        for roots, errors in _reads(step):
            yield from (f"step {step.id}: {error}" for error in errors)
            for root in sorted(roots - known - before):
                why = skipped.get(root, "")
                yield _reference_problem(step.id, root, later, known | before, skipped=why)
        before.add(step.id)
    yield from _output_problems(plan, known | later)


def _reads(step: Step) -> Iterator[tuple[frozenset[str], Sequence[Any]]]:
    """Yield, for each text of a step, the roots it reads from outside and its errors of syntax."""
    if step.tool_name in CONTROLS:
        for site in sites_of(step):
            errors = [] if site.is_expression else syntax_errors(site.value)
            yield frozenset() if errors else site.reads() - site.local, errors
        return
    for text in (step.input, step.operation):
        if not is_literal(text):
            errors = syntax_errors(text)
            yield frozenset() if errors else references(compile_value(text)), errors


def _output_problems(plan: Plan, known: set[str]) -> Iterator[str]:
    errors = syntax_errors(plan.output)
    yield from (f"output: {error}" for error in errors)
    for root in sorted(() if errors else references(compile_value(plan.output)) - known):
        available = ", ".join(sorted(known))
        yield f"output: its templates refer to {root!r}, which is no step (available: {available})"


def _reference_problem(step: str, root: str, later: set[str], known: set[str], *, skipped: str) -> str:
    if skipped:
        return f"step {step}: its templates refer to step {root!r}, which has no result: it was {skipped}"
    if root in later:
        return f"step {step}: its templates refer to step {root!r}, which comes later; move it before"
    available = ", ".join(sorted(known))
    return f"step {step}: its templates refer to {root!r}, which is no step (available: {available})"


def _need_problems(done: set[str], plan: Plan) -> Iterator[str]:
    ids = {step.id for step in plan.steps}
    for step in plan.steps:
        for need in step.needs or ():
            if need not in ids and need not in done:
                known = ", ".join(sorted(ids | done)) or "none"
                yield f"step {step.id}: needs {need!r}, which is no step (available: {known})"
