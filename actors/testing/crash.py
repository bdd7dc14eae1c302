"""The crash kit: a scenario in a process of its own, killed at every commit, and taken up again.

A *scenario* is an async function of an open journal and a folder, at the top level of a module. It opens an
engine on the journal, starts its runs **with idempotency keys**, waits for their outcomes, and returns what
is to be compared, as a JSON value. After a crash it is simply called again on the same store and folder::

    async def order(journal: Journal, folder: Path) -> object:
        async with Engine(journal, tools=tools_of(folder)) as engine:
            run = await engine.start("deliver order 42", plan=PLAN, key="order-42")
            outcome = await run.outcome(timeout_s=30)
            return {"status": outcome.status, "world": calls_of(folder)}

    for crash in crash_at_every_fact(order, folder=tmp_path):
        assert crash.result == crash.uncrashed, str(crash)
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import inspect
import multiprocessing
import signal
import sys
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, cast

from ...store import Journal, open_journal
from .crashing import CrashingJournal, Moment
from .scenario import (
    Scenario,
    ScenarioEndedError,
    ScenarioError,
    check_importable,
    existing_folder,
    name_of,
    new_folder,
)

__all__ = [
    "MOMENTS",
    "STORE",
    "Crash",
    "CrashAt",
    "Finished",
    "Moment",
    "Scenario",
    "ScenarioEndedError",
    "ScenarioError",
    "crash_at_every_fact",
    "kill_scenario",
    "preload",
    "run_scenario",
]

MOMENTS: tuple[Moment, ...] = ("before", "after")
_preloaded = ["midcourse.actors.engine", "midcourse.store.recorder", "midcourse.store.sqlite", __name__]

STORE = "store.db"
"""Name of the store's file in the scenario's folder."""


class CrashAt(NamedTuple):
    """Where to crash.

    Attributes:
        append: number of the append, from 1, counted over all runs of the process.
        moment: ``before`` it is durable, which it never becomes, or ``after`` that and before anyone is told.
    """

    append: int
    moment: Moment


class Finished(NamedTuple):
    """A scenario came to its end.

    Attributes:
        result: what it returned.
        appends: how many appends it made.
        facts: how many facts they held.
    """

    result: Any
    appends: int
    facts: int


class Crash(NamedTuple):
    """What became of a scenario that was killed once and called again.

    Attributes:
        at: where it was killed.
        result: what the second call returned.
        uncrashed: what the scenario returns without a crash.
        folder: where its files are.
    """

    at: CrashAt
    result: Any
    uncrashed: Any
    folder: Path

    def __str__(self) -> str:
        return f"killed {self.at.moment} append {self.at.append} in {self.folder}"


def preload(*modules: str) -> None:
    """Have modules imported once, by the process that all scenarios are forked from, and not in each of them.

    It saves what their import takes, many times over. Call it before the first scenario is called.

    Args:
        modules: names of modules that hold scenarios, or that those import.
    """
    _preloaded.extend(modules)


def crash_at_every_fact(
    scenario: Scenario,
    *,
    folder: Path | str,
    arguments: Mapping[str, Any] | None = None,
    moments: tuple[Moment, ...] = MOMENTS,
    timeout_s: float = 60.0,
) -> Iterator[Crash]:
    """Run a scenario once undisturbed, then kill it before and after each of its commits and call it again.

    Facts become durable by appends, each all or nothing, so the boundaries between appends are all there are.

    Args:
        scenario: see above.
        folder: an existing folder; each call gets one below it.
        arguments: further arguments of the scenario, by name.
        moments: on which sides of the commit to kill.
        timeout_s: seconds one call may take.

    Yields:
        one `Crash` for each place. It is for the caller to compare.

    Raises:
        ScenarioError: the scenario raised, or could not be killed where it should have been.
    """
    folder = existing_folder(folder)
    undisturbed = run_scenario(
        scenario, folder=new_folder(folder / "uncrashed"), arguments=arguments, timeout_s=timeout_s
    )
    for append in range(1, undisturbed.appends + 1):
        for moment in moments:
            at = CrashAt(append, moment)
            below = new_folder(folder / f"{append}-{moment}")
            kill_scenario(scenario, at, folder=below, arguments=arguments, timeout_s=timeout_s)
            again = run_scenario(scenario, folder=below, arguments=arguments, timeout_s=timeout_s)
            yield Crash(at, again.result, undisturbed.result, below)


def run_scenario(
    scenario: Scenario,
    *,
    folder: Path | str,
    arguments: Mapping[str, Any] | None = None,
    timeout_s: float = 60.0,
) -> Finished:
    """Call a scenario in a process of its own and return what it returned.

    Raises:
        ScenarioError: it cannot be called in another process, raised, was killed, or took too long.
    """
    code, answer = _call(scenario, None, existing_folder(folder), arguments or {}, timeout_s)
    if code or answer is None:
        raise ScenarioError(f"{name_of(scenario)} in {folder} ended with exit code {code}")
    if "error" in answer:
        raise ScenarioError(f"{name_of(scenario)} in {folder} raised:\n{answer['error']}")
    return Finished(answer["result"], answer["appends"], answer["facts"])


def kill_scenario(
    scenario: Scenario,
    at: CrashAt,
    *,
    folder: Path | str,
    arguments: Mapping[str, Any] | None = None,
    timeout_s: float = 60.0,
) -> None:
    """Call a scenario in a process of its own that kills itself at an append.

    Raises:
        ScenarioEndedError: it came to its end before.
        ScenarioError: it raised.
    """
    code, answer = _call(scenario, at, existing_folder(folder), arguments or {}, timeout_s)
    if code == -signal.SIGKILL:
        return
    has_ended = code == 0 and answer is not None and "error" not in answer
    raise (ScenarioEndedError if has_ended else ScenarioError)(
        f"{name_of(scenario)} in {folder} was to be killed {at.moment} append {at.append}, but ended with "
        f"exit code {code}: {answer}"
    )


def _call(
    scenario: Scenario, at: CrashAt | None, folder: Path, arguments: Mapping[str, Any], timeout_s: float
) -> tuple[int | None, dict[str, Any] | None]:
    check_importable(scenario)
    # A server that has imported the package forks for each call: real processes, without their start.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*_preloaded, *_main_package()])
    ours, theirs = context.Pipe(duplex=False)
    source = inspect.getsourcefile(scenario) or ""
    process = context.Process(
        target=_child,
        args=(
            theirs,
            source,
            scenario.__module__,
            scenario.__qualname__,
            at,
            folder.absolute(),
            dict(arguments),
        ),
    )
    process.start()
    theirs.close()
    answer: dict[str, Any] | None = None
    try:
        if ours.poll(timeout_s):
            answer = ours.recv()
    except EOFError:
        answer = None
    process.join(timeout_s)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise ScenarioError(f"{name_of(scenario)} in {folder} did not end within {timeout_s:g} s")
    code = process.exitcode
    process.close()
    ours.close()
    return code, answer


def _main_package() -> list[str]:
    """Return what a child would import anew because this process was started with it, such as pytest."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return [spec.parent] if spec is not None and spec.parent else []


def _child(
    answers: Connection,
    source: str,
    module: str,
    name: str,
    at: CrashAt | None,
    folder: Path,
    arguments: dict[str, Any],
) -> None:
    try:
        scenario = getattr(_module(source, module), name)
        answer = asyncio.run(_run(scenario, at, folder, arguments))
    except BaseException:  # noqa: BLE001 - a boundary: whatever it raised is told to the parent process
        import traceback

        answer = {"error": traceback.format_exc()}
    answers.send(answer)
    answers.close()


async def _run(
    scenario: Scenario, at: CrashAt | None, folder: Path, arguments: dict[str, Any]
) -> dict[str, Any]:
    opened = open_journal(f"sqlite:///{folder / STORE}", owner=True)
    journal = CrashingJournal(opened, at=at.append if at else 0, moment=at.moment if at else "before")
    result = await scenario(cast(Journal, journal), folder, **arguments)
    return {"result": result, "appends": journal.appends, "facts": journal.facts}


def _module(source: str, name: str) -> Any:
    """Import the scenario's module by name, or from its file where it has no name in another process."""
    if name != "__main__":
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location("midcourse_scenario", source)
    if spec is None or spec.loader is None:
        raise ScenarioError(f"the scenario's file {source!r} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules["midcourse_scenario"] = module
    spec.loader.exec_module(module)
    return module
