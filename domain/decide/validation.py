"""Whether a plan can be used: every problem at once, each naming the step and field it is about."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

import msgspec

from ..errors import UnknownTool
from ..ids import digest
from ..plan import Plan, Step
from ..readiness import cycle, edges
from ..run import Run
from ..templates import compile_value, is_literal, references, syntax_errors
from ..tools import Catalog
from .operations import conflict, intent_of, next_key

RESERVED_IDS = frozenset(("input", "item", "index", "accumulator", "length", "board"))
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def normalize(plan: Plan, catalog: Catalog, first_number: int) -> Plan:
    """Return the plan with every step numbered and every tool by its full name.

    Names that resolve to nothing are left as they are, for ``problems_of`` to report.
    """
    taken = {step.id for step in plan.steps}
    free = (f"E{n}" for n in range(first_number, first_number + 2 * len(plan.steps) + 1))
    numbers = (name for name in free if name not in taken)
    steps = tuple(
        msgspec.structs.replace(
            step, id=step.id or next(numbers), tool_name=_full_name(step.tool_name, catalog)
        )
        for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=steps)


def _full_name(name: str, catalog: Catalog) -> str:
    try:
        return catalog.resolve(name).name
    except UnknownTool:
        return name


def problems_of(run: Run, plan: Plan, catalog: Catalog) -> tuple[str, ...]:
    """Return what keeps a normalized plan from being the tail of a run's plan."""
    problems = [*_id_problems(run, plan), *_undo_problems(run, plan.undo)]
    for step in plan.steps:
        problems += _tool_problems(step, catalog)
        problems += _undoes_problems(run, step, plan.undo)
    shape = [*_template_problems(run, plan), *_need_problems(run, plan)]
    problems += shape
    if not shape:
        path = cycle(edges(plan.steps))
        if path:
            problems.append(f"the steps wait for each other in a cycle: {' → '.join(path)}; break it")
    return tuple(problems)


def _id_problems(run: Run, plan: Plan) -> Iterator[str]:
    seen: set[str] = set()
    for step in plan.steps:
        if not _IDENTIFIER.match(step.id):
            yield f"step id {step.id!r} must be letters, digits and _, not starting with a digit"
        elif step.id in RESERVED_IDS:
            yield f"step id {step.id!r} is reserved ({', '.join(sorted(RESERVED_IDS))}); choose another"
        elif step.id in seen:
            yield f"two steps have the id {step.id!r}; ids are unique"
        elif step.id in run.started:
            yield f"step {step.id!r} was started already and keeps its place; leave it out, or use a new id"
        seen.add(step.id)


def _tool_problems(step: Step, catalog: Catalog) -> Iterator[str]:
    try:
        spec = catalog.resolve(step.tool_name)
    except UnknownTool as error:
        yield f"step {step.id}: {error}"
        return
    if step.timeout_s is not None and step.timeout_s <= 0:
        yield f"step {step.id}: timeout_s must be above 0 seconds, not {step.timeout_s}"
    declared = spec.parameters
    if not spec.input_schema:
        return
    for name in step.input:
        if name not in declared and not spec.input_schema.get("additionalProperties"):
            near = difflib.get_close_matches(name, declared, n=1)
            hint = (
                f" (did you mean {near[0]!r}?)"
                if near
                else f" (it takes: {', '.join(sorted(declared)) or 'none'})"
            )
            yield f"step {step.id}: {spec.name} takes no argument {name!r}{hint}"
    for name in sorted(spec.required - set(step.input)):
        yield f"step {step.id}: {spec.name} needs the argument {name!r}"


def _undoes_problems(run: Run, step: Step, also: Iterable[str]) -> Iterator[str]:
    if not step.undoes:
        return
    entry = run.ledger.get(step.undoes)
    if entry is None:
        yield f"step {step.id}: undoes {step.undoes!r}, which is not committed (committed: {_committed(run)})"
    elif entry.undo != step.tool_name:
        yield f"step {step.id}: {step.undoes!r} is undone by {entry.undo or 'nothing'}, not by {step.tool_name}"
    elif step.undoes in also:
        yield f"step {step.id}: {step.undoes!r} is listed under undo as well; say it once"


def _undo_problems(run: Run, undo: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for key in undo:
        entry = run.ledger.get(key)
        if key in seen:
            yield f"undo lists operation {key!r} twice; list it once"
        elif entry is None:
            yield f"undo lists operation {key!r}, which is not committed (committed: {_committed(run)})"
        elif entry.effect != "reversible":
            yield f"undo lists operation {key!r} of {entry.tool}, whose effect is {entry.effect} and cannot be undone"
        elif entry.state != "committed" or entry.undone_by:
            yield f"undo lists operation {key!r}, which is {entry.state} already"
        seen.add(key)


def _committed(run: Run) -> str:
    return ", ".join(entry.key for entry in run.standing()) or "none"


def _template_problems(run: Run, plan: Plan) -> Iterator[str]:
    later = {step.id for step in plan.steps}
    known = {"input", "board", *run.done}
    dag = any(step.needs is not None for step in plan.steps)
    before: set[str] = set()
    for step in plan.steps:
        for problem in (*syntax_errors(step.input), *syntax_errors(step.operation)):
            yield f"step {step.id}: {problem}"
        if not any(True for _ in (*syntax_errors(step.input), *syntax_errors(step.operation))):
            roots = references(compile_value(step.input)) | references(compile_value(step.operation))
            for root in sorted(roots - known - (later if dag else before)):
                yield _reference_problem(step.id, root, later, known | before)
        before.add(step.id)


def _reference_problem(step: str, root: str, later: set[str], known: set[str]) -> str:
    if root in later:
        return f"step {step}: its templates refer to step {root!r}, which comes later; move it before"
    return f"step {step}: its templates refer to {root!r}, which is no step (available: {', '.join(sorted(known))})"


def _need_problems(run: Run, plan: Plan) -> Iterator[str]:
    ids = {step.id for step in plan.steps}
    for step in plan.steps:
        for need in step.needs or ():
            if need not in ids and need not in run.done:
                known = ", ".join(sorted(ids | set(run.done))) or "none"
                yield f"step {step.id}: needs {need!r}, which is no step (available: {known})"


def literal_conflicts(run: Run, plan: Plan, catalog: Catalog) -> tuple[str, ...]:
    """Return the conflicts with the ledger that show before anything runs: those of steps without templates."""
    problems: list[str] = []
    positions: dict[str, int] = {}
    for step in plan.steps:
        spec = catalog.get(step.tool_name)
        if spec is None or step.undoes or not is_literal(step.input) or not is_literal(step.operation):
            continue
        intent = intent_of(run, step, spec, step.input, step.operation)
        key = next_key(run, step, spec, intent, positions.get(intent, 0))
        if not step.again:
            positions[intent] = int(key.rpartition(".")[2]) + 1
        entry = run.ledger.get(key)
        if (
            entry is not None
            and key not in plan.undo
            and (problem := conflict(entry, step, digest(step.input)))
        ):
            problems.append(problem)
    return tuple(problems)
