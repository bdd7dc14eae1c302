"""What the steps of a plan refer to: ids, templates, expressions, ``needs``; and that there is no cycle."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..control import PlanStep, bodies_of, sites_of
from ..control.references import ALWAYS, Site
from ..expressions import ExpressionError
from ..problems import JsonPath, Place, did_you_mean
from ..readiness import cycle, is_dag
from ..templates import TemplateSyntaxError, compile_value, references, syntax_errors
from ..templates.errors import listed

_PSEUDO = frozenset(("item", "index", "accumulator"))


def check_references(
    steps: Sequence[PlanStep | None],
    solver: Any,
    output: Any,
    place: Place,
) -> None:
    """Say everything that is wrong with what steps, solver and output refer to.

    Args:
        steps: the steps in their places, ``None`` where there is no step.
        solver: what stands under ``solver``.
        output: what stands under ``output``.
        place: the top of the document.
    """
    top = [step.id if step is not None else "" for step in steps]
    ids = {step_id for step_id in top if step_id}
    _check_unique(steps, place.at("steps"))
    known_steps = [step for step in steps if step is not None]
    dag = is_dag(known_steps)
    before: set[str] = set(ids) if dag else set()
    edges: dict[str, tuple[str, ...]] = {}
    for index, step in enumerate(steps):
        if step is None:
            continue
        where = place.at("steps", index, step=step.id or f"#{index + 1}")
        reads = set[str]()
        for site in sites_of(step):
            reads |= _check_site(site, where, before, ids, step.id)
        _check_needs(step, where, ids)
        if dag and step.id:
            named = step.needs or ()
            edges[step.id] = (*named, *sorted((reads & ids).difference(named)))
        before.add(step.id)
    if dag:
        _check_cycle(edges, top, place.at("steps"))
    for name, value in (("solver", solver), ("output", output)):
        if isinstance(value, dict):
            for key, each in value.items():
                _check_site(Site((name, key), each), place, ids, ids, "")


def _check_site(
    site: Site, where: Place, before: Collection[str], ids: Collection[str], own: str
) -> frozenset[str]:
    """Say what is wrong with one value, and return the roots it reads or may read outside of its step.

    Args:
        site: the value.
        where: the place of the step.
        before: ids of the steps that are done before.
        ids: ids of all steps.
        own: id of the step.
    """
    here = Place(where.found, (*where.path, *site.path), site.step or where.step)
    errors = () if site.is_expression else syntax_errors(site.value)
    for error in errors:
        _say_syntax(error, here)
    if errors:
        return frozenset()
    try:
        reads = site.reads() - site.local - ALWAYS
    except ExpressionError:
        return frozenset()  # said where the condition is read
    for root in sorted(reads):
        if root not in before or root == own:
            here.at(*_way_to(site, root)).say(_no_root(root, site, before, ids, own))
    return reads | site.may_read() - site.local - ALWAYS


def _way_to(site: Site, root: str) -> JsonPath:
    """Return the way from a value to the first text in it that reads a root."""
    pending: list[tuple[JsonPath, Any]] = [] if site.is_expression else [((), site.value)]
    while pending:
        way, value = pending.pop()
        if isinstance(value, str):
            if "{{" in value and root in references(compile_value(value)):
                return way
        elif isinstance(value, Mapping):
            pending += [((*way, key), each) for key, each in reversed(list(value.items()))]
        elif isinstance(value, (list, tuple)):
            pending += [((*way, index), each) for index, each in reversed(list(enumerate(value)))]
    return ()


def _say_syntax(error: TemplateSyntaxError, here: Place) -> None:
    place = f"line {error.line}, column {error.column} of the text: " if "\n" in error.text else ""
    here.at(*error.where).say(f"template syntax error: {place}{error.problem}")


def _no_root(root: str, site: Site, before: Collection[str], ids: Collection[str], own: str) -> str:
    what = "the expression" if site.is_expression else "a template"
    if root in site.later or root in ids:
        if root in (site.step, own):
            return f"{what} reads step {root!r}, which is this step itself"
        return f"{what} reads step {root!r}, which comes later; move it before this one"
    if root in _PSEUDO:
        return f"{what} reads {root!r}, which exists only in the body or gate of {_has(root)}"
    available = sorted((set(before) | site.local | ALWAYS) - {""})
    hint = did_you_mean(root, available, otherwise=f"available: {listed(tuple(available))}")
    return f"{what} reads {root!r}, which is no step{hint}"


def _has(root: str) -> str:
    return "a reduce" if root == "accumulator" else "a map, reduce or filter"


def _check_needs(step: PlanStep, where: Place, ids: Collection[str]) -> None:
    for index, need in enumerate(step.needs or ()):
        if need not in ids:
            hint = did_you_mean(need, ids, otherwise=f"available: {listed(tuple(sorted(ids)))}")
            where.at("needs", index).say(f"needs {need!r}, which is no step{hint}")


def _check_cycle(edges: Mapping[str, tuple[str, ...]], top: Sequence[str], place: Place) -> None:
    path = cycle(edges)
    if path:
        index = top.index(path[0])
        place.at(index, step=path[0]).say(
            f"the steps wait for each other in a cycle: {' → '.join(path)}; break it"
        )


def _check_unique(steps: Sequence[PlanStep | None], place: Place) -> None:
    """Ids are unique in the whole plan, bodies included, so that a path names one step."""
    seen: dict[str, str] = {}
    for step_id, path, owner in _ids(steps):
        if step_id in seen:
            elsewhere = seen[step_id]
            inside = (
                f" (the other is in a body of step {elsewhere})" if elsewhere and elsewhere != owner else ""
            )
            Place(place.found, (*place.path, *path, "id"), step_id).say(
                f"two steps have the id {step_id!r}; ids are unique, in bodies too{inside}"
            )
        seen.setdefault(step_id, owner)


def _ids(steps: Sequence[PlanStep | None]) -> Iterator[tuple[str, JsonPath, str]]:
    inner: list[tuple[str, JsonPath, str]] = []
    for index, step in enumerate(steps):
        if step is None:
            continue
        if step.id:
            yield step.id, (index,), ""
        for name in bodies_of(step.tool_name):
            inner += _ids_in(step.input.get(name), (index, "input", name), step.id)
    yield from inner


def _ids_in(body: Any, path: JsonPath, owner: str) -> Iterator[tuple[str, JsonPath, str]]:
    if not isinstance(body, list):
        return
    for index, each in enumerate(body):
        if isinstance(each, dict) and isinstance(each.get("id"), str):
            yield each["id"], (*path, index), owner
