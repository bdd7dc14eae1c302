"""The second layer: whether everything a plan calls is there, in its bodies and in the plans it calls too."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from ..child_terms import term_problems
from ..children import PLAN_AND_EXECUTE
from ..control import CONTROLS
from ..errors import UnknownTool
from ..problems import Place, Problem, did_you_mean
from ..shapes import Shape
from ..tools import USER_PREFIX, Catalog, ToolSpec
from .calls import Call, calls_of
from .fitting import check_fit
from .model import PLAN_PREFIX, PlanFile

MAX_DEPTH: Final = 8
"""Plans below plans."""

_BUILTIN: Final = "builtin__"
_TOOL: Final = "tool_name"
_MOST_NAMED: Final = 5


class Surroundings(msgspec.Struct, frozen=True):
    """What a plan is looked at together with.

    Args:
        tools: the tools there are.
        plans: the other plans, by identifier.
        servers: names of the MCP servers that are configured.
        unusable: plans that are there and cannot be called, by identifier, with the reason.
        shapes: what was seen of the results of tools, by full name.
    """

    tools: Catalog
    plans: Mapping[str, PlanFile] = msgspec.field(default_factory=dict[str, PlanFile])
    servers: frozenset[str] = frozenset()
    unusable: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    shapes: Mapping[str, Shape] = msgspec.field(default_factory=dict[str, Shape])


def problems_in(plan: PlanFile, around: Surroundings, *, to_run: bool = False) -> list[Problem]:
    """Return what is missing or wrong around a plan that keeps the rules of its form.

    Args:
        plan: the plan.
        around: what there is.
        to_run: it is to run now, so that a server it declares and that is not configured is an error.
    """
    found: list[Problem] = []
    place = Place(found)
    _check_servers(plan, around, place, to_run=to_run)
    for call in calls_of(plan):
        _check_call(call, plan, around, place)
    within = msgspec.structs.replace(around, plans={**around.plans, plan.identifier: plan})
    for identifier, called in _plans_below(plan, around).items():
        inner: list[Problem] = []
        _check_servers(called, within, Place(inner), to_run=to_run)
        for call in calls_of(called):
            _check_call(call, called, within, Place(inner))
        origin = _first_call(plan, identifier, around)
        for problem in inner:
            text = f"in {PLAN_PREFIX}{identifier}: {problem}"
            found.append(
                Problem(text, origin.path if origin else (), origin.step if origin else "", problem.severity)
            )
    _check_nesting(plan, around, place)
    check_fit(plan, around.tools, around.shapes, place)
    return found


def _check_servers(plan: PlanFile, around: Surroundings, place: Place, *, to_run: bool) -> None:
    for index, server in enumerate(plan.requires_servers):
        if server not in around.servers:
            place.at("requires_servers", index).say(
                f"needs MCP server {server!r}, which is not configured"
                + ("" if to_run else "; the plan cannot run until it is"),
                severity="error" if to_run else "note",
            )


def _check_call(call: Call, plan: PlanFile, around: Surroundings, place: Place) -> None:
    here = Place(place.found, (*place.path, *call.path, _TOOL), call.step)
    if call.tool in CONTROLS:
        if call.tool == "agent":
            _check_globs(call, plan, around, place)
        return
    spec, problem = resolve(call.tool, plan, around)
    inputs = Place(place.found, (*place.path, *call.path, "input"), call.step)
    if problem:
        here.say(problem)
    elif spec is not None:
        _check_arguments(call.input, spec.name, spec.input_schema, inputs, is_open=False)
        if spec.name == PLAN_AND_EXECUTE:
            for name, said in term_problems(call.input, "", around.tools.planners):
                inputs.at(name).say(said)
    elif call.tool.startswith(PLAN_PREFIX):
        called = around.plans.get(call.tool.removeprefix(PLAN_PREFIX), plan)
        _check_arguments(call.input, call.tool, called.input_schema or {}, inputs, is_open=True)


def resolve(name: str, plan: PlanFile, around: Surroundings) -> tuple[ToolSpec | None, str]:
    """Return the tool of a name, if it is one of the catalog, and what keeps the name from being used.

    A tool of an MCP server is looked at only as far as its server; the tool itself is looked for when it is
    called.
    """
    if name == PLAN_AND_EXECUTE and around.tools.planners == frozenset():
        return None, f"{name!r} asks a planner, and none is configured; register one"
    if name.startswith(PLAN_PREFIX):
        if name.removeprefix(PLAN_PREFIX) in (*around.plans, plan.identifier):
            return None, ""
        reason = around.unusable.get(name.removeprefix(PLAN_PREFIX))
        if reason is not None:
            return None, f"plan {name!r} cannot be called: {reason}"
        hint = _known_plans(name.removeprefix(PLAN_PREFIX), around)
        return None, f"unknown plan {name!r}{hint}"
    try:
        return around.tools.resolve(name), ""
    except UnknownTool as error:
        return None, _unresolved(name, str(error), plan, around)


def _unresolved(name: str, said: str, plan: PlanFile, around: Surroundings) -> str:
    server, separator, _ = name.partition("__")
    if name.startswith(USER_PREFIX):
        return said
    if name.startswith(_BUILTIN):
        return said.replace("unknown tool", "unknown built-in tool", 1)
    if not separator:
        hint = did_you_mean(name, CONTROLS)
        return f"unknown tool {name!r}{hint}" if hint else said
    if server in around.servers or server in plan.requires_servers:
        return ""
    hint = did_you_mean(name, (spec.name for spec in around.tools))
    return f"needs MCP server {server!r}, which is not configured{hint}"


def _known_plans(identifier: str, around: Surroundings) -> str:
    # The prefix is the same for all, and would make any two names look alike.
    if near := difflib.get_close_matches(identifier, sorted(around.plans), n=1):
        return f" (did you mean {PLAN_PREFIX + near[0]!r}?)"
    names = sorted(map(PLAN_PREFIX.__add__, around.plans))
    more = ", …" if len(names) > _MOST_NAMED else ""
    return f" (there are: {', '.join(names[:_MOST_NAMED]) or 'none'}{more})"


def _check_arguments(
    given: Mapping[str, Any], tool: str, schema: Mapping[str, Any], place: Place, *, is_open: bool
) -> None:
    """Look at the names of arguments; their values are known when they are rendered.

    Args:
        given: the arguments.
        tool: the name of what is called.
        schema: JSON Schema of what it takes.
        place: where they stand.
        is_open: names that the schema does not declare are welcome, unless it says otherwise.
    """
    declared = schema.get("properties")
    declared = declared if isinstance(declared, Mapping) else {}
    required = schema.get("required")
    others = schema.get("additionalProperties", is_open or not schema)
    for name in given:
        if name not in declared and others is False:
            otherwise = f"it takes: {', '.join(sorted(declared)) or 'none'}"
            hint = did_you_mean(name, declared, otherwise=otherwise)
            place.at(name).say(f"{tool} takes no argument {name!r}{hint}")
    for name in required if isinstance(required, (list, tuple)) else ():
        if name not in given:
            place.say(f"{tool} needs the argument {name!r}")


def _check_globs(call: Call, plan: PlanFile, around: Surroundings, place: Place) -> None:
    """An agent's globs have to match something; those that admit effects are worth a warning."""
    globs = call.input.get("tools")
    here = Place(place.found, (*place.path, *call.path, "input"), call.step)
    names = [spec.name for spec in around.tools] + [PLAN_PREFIX + each for each in around.plans]
    servers = around.servers | set(plan.requires_servers)
    for index, glob in enumerate(globs or ()):
        server = glob.partition("__")[0]
        if any(fnmatchcase(name, glob) for name in names):
            continue
        if "__" in glob and any(fnmatchcase(each, server) for each in servers):
            continue
        here.at("tools", index).say(f"the glob {glob!r} matches no tool{did_you_mean(glob, names)}")
    admitted = [
        spec.name
        for spec in around.tools
        if spec.effect != "read" and any(fnmatchcase(spec.name, glob) for glob in globs or ("*",))
    ]
    if admitted:
        shown = ", ".join(sorted(admitted)[:_MOST_NAMED]) + (", …" if len(admitted) > _MOST_NAMED else "")
        where = here.at("tools") if globs else here
        where.say(f"the agent may call tools with effects: {shown}", severity="warning")


def _plans_below(plan: PlanFile, around: Surroundings) -> dict[str, PlanFile]:
    """Return the plans a plan calls, directly or through others, each once."""
    below: dict[str, PlanFile] = {}
    pending = [plan]
    while pending:
        for call in _first_calls(pending.pop()):
            called = call.tool.removeprefix(PLAN_PREFIX)
            each = around.plans.get(called)
            if each is not None and called != plan.identifier and called not in below:
                below[called] = each
                pending.append(each)
    return below


def _first_call(plan: PlanFile, identifier: str, around: Surroundings) -> Call | None:
    """Return the call of a plan that leads to another, directly or not."""
    for call in calls_of(plan):
        if call.tool.startswith(PLAN_PREFIX):
            called = call.tool.removeprefix(PLAN_PREFIX)
            each = around.plans.get(called)
            if called == identifier or (each is not None and identifier in _plans_below(each, around)):
                return call
    return None


def _check_nesting(plan: PlanFile, around: Surroundings, place: Place) -> None:
    """Plans that call each other in a circle, or more than 8 deep, are errors."""
    longest: dict[str, tuple[str, ...]] = {}

    def walk(here: PlanFile, way: tuple[str, ...], origin: Call | None) -> tuple[str, ...]:
        """Return the longest chain of plans from here on, and say where it comes back to itself."""
        chain: tuple[str, ...] = ()
        for call in _first_calls(here):
            called = call.tool.removeprefix(PLAN_PREFIX)
            first = origin or call
            if called in way:
                cycle = " → ".join((*way[way.index(called) :], called))
                Place(place.found, (*first.path, _TOOL), first.step).say(f"recursive plan cycle: {cycle}")
            elif called in around.plans:
                if called not in longest:
                    longest[called] = walk(around.plans[called], (*way, called), first)
                chain = max(chain, (called, *longest[called]), key=len)
        return chain

    chain = walk(plan, (plan.identifier,), None)
    if len(chain) > MAX_DEPTH:
        first = next(call for call in _first_calls(plan) if call.tool == PLAN_PREFIX + chain[0])
        Place(place.found, (*first.path, _TOOL), first.step).say(
            f"plans call plans {len(chain)} deep, at most {MAX_DEPTH} are allowed: "
            f"{' → '.join((plan.identifier, *chain))}"
        )


def _first_calls(plan: PlanFile) -> list[Call]:
    """Return the first call of each plan that a plan calls."""
    calls: dict[str, Call] = {}
    for call in calls_of(plan):
        if call.tool.startswith(PLAN_PREFIX):
            calls.setdefault(call.tool, call)
    return list(calls.values())
