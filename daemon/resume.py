"""Carrying runs on with an engine of this process, until they end or need a person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeAlias

import msgspec

from ..actors.engine import Engine
from ..actors.handle import RunHandle
from ..domain.decide.controls import is_carried_out
from ..domain.errors import MidcourseError
from ..domain.facts import Failure
from ..domain.run import Run
from ..domain.summary import FINAL, Attention, status
from ..domain.view import RunState, view
from ..store import Record
from .history import History
from .parts import Parts

Look: TypeAlias = Callable[[RunHandle, Run], Awaitable[None]]
"""What a person does who looks at a run: its state is as far as its facts were read."""


class Ending(msgspec.Struct, frozen=True):
    """Where a run was left.

    Args:
        run: the run.
        status: ``completed``, ``failed``, ``cancelled``, ``attention``, or ``parked``: it was let go of.
        version: version of its last fact.
        revision: number of its last plan.
        result: what it ended with, if it is completed.
        failure: why it ended otherwise.
        attention: what waits for a person.
        error: why the engine let go of it.
    """

    run: str
    status: str
    version: int
    revision: int
    result: Any = None
    failure: Failure | None = None
    attention: tuple[Attention, ...] = ()
    error: str = ""


def missing_parts(run: Run, parts: Parts) -> list[str]:
    """Return the tools and the planner that a run may yet need and that are not there."""
    if run.final is not None and not run.undos_open:
        return []
    planned = (run.steps[step].tool_name for step in run.order if step not in run.done)
    begun = (each.tool for place in (run.running, run.backoff, run.unknown) for each in place.values())
    undoing = (undo.tool for undo in run.undos_open.values())
    undoable = (entry.undo for entry in run.reversible.values())
    catalog = parts.catalog
    tools = dict.fromkeys(name for names in (planned, begun, undoing, undoable) for name in names)
    missing = [
        f"tool {name}" for name in tools if catalog.get(name) is None and not is_carried_out(name, catalog)
    ]
    if run.planner and run.planner not in parts.planners:
        missing.append(f"planner {run.planner}")
    return missing


async def carry_on(
    engine: Engine,
    histories: Iterable[History],
    parts: Parts,
    *,
    on_record: Callable[[Record], None],
    on_ending: Callable[[Ending], None],
    person: Look | None = None,
) -> Sequence[Ending]:
    """Wait for runs to end or to need a person.

    Args:
        engine: an open engine; it has taken the runs up.
        histories: the runs, as they were before it was opened.
        parts: what the engine works with.
        on_record: told of every new fact of these runs.
        on_ending: told of every run that is left, as it is left.
        person: looks at a run after every new fact, and may say something to it.
    """

    async def carry(history: History) -> Ending:
        ending = await _carry(engine, history, parts, on_record, person)
        on_ending(ending)
        return ending

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(carry(history)) for history in histories]
    return [task.result() for task in tasks]


async def _carry(
    engine: Engine,
    history: History,
    parts: Parts,
    on_record: Callable[[Record], None],
    person: Look | None,
) -> Ending:
    run = history.run
    handle = engine.run(run.id)
    if person is not None and run.version and run.final is None:
        await person(handle, run)
        if (await handle.state()).version != run.version:
            return await _follow(handle, history, on_record, person)
    if _stays(run, parts):
        return _ending(view(run))
    return await _follow(handle, history, on_record, person)


async def _follow(
    handle: RunHandle, history: History, on_record: Callable[[Record], None], person: Look | None
) -> Ending:
    run = history.run
    try:
        async for record in handle.facts(after=run.version):
            history.take(record)
            on_record(record)
            if person is not None:
                await person(handle, run)
            if status(run) == "attention":
                state = await handle.state()
                if state.status == "attention" and state.version == run.version:
                    break
    except MidcourseError as error:
        return _ending(view(run), error)
    return _ending(view(run))


def _stays(run: Run, parts: Parts) -> bool:
    """Whether nothing will happen to a run by itself, even with the parts that are there now."""
    if status(run) in FINAL:
        return True
    back = any(
        name in parts.planners if kind == "planner" else parts.catalog.has(name) for kind, name in run.missing
    )
    return status(run) == "attention" and not back


def _ending(state: RunState, error: MidcourseError | None = None) -> Ending:
    return Ending(
        state.id,
        "parked" if error else state.status,
        state.version,
        state.revision,
        state.result,
        state.failure,
        state.attention,
        str(error) if error else "",
    )
