"""What the demo prints: facts as they land, then the audit, then the outside world's own books."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
from rich.console import Console
from rich.text import Text

from midcourse import Outcome
from midcourse.examples.order.books import books
from midcourse.examples.order.kit import Kit
from midcourse.examples.order.scenario import Scenario
from midcourse.examples.order.story import HIGHLIGHTS, Story, told
from midcourse.store import Problem, Record, open_journal

WIDTH = 80


class Output(Protocol):
    """Is told what happens, in this order."""

    def opened(self) -> None:
        """The demo begins."""

    def begun(self, scenario: Scenario, *, in_full: bool) -> None:
        """A run is begun, or found again."""

    def fact(self, record: Record) -> bool:
        """The next fact of the run; returns whether there was anything to see."""

    def ended(self, outcome: Outcome) -> None:
        """The run has ended."""

    def interrupted(self) -> None:
        """The demo is ended by Ctrl-C."""

    def closed(self, kit: Kit, *, is_kept: bool) -> bool:
        """The engine is closed; returns whether the store is unaltered and no effect happened twice."""


class TextOutput:
    """Lines of at most 80 columns, in colour on a terminal.

    Args:
        folder: the demo's folder.
        program: how `midcourse` is called from here.
        options: what the same demo is called with again; empty where the folder does not stay.
    """

    def __init__(self, folder: Path, *, program: str, options: Sequence[str]) -> None:
        self._console = Console(width=WIDTH, highlight=False, emoji=False)
        self._folder = folder
        self._runs = f"{program} --config {shlex.quote(str(folder / 'midcourse.toml'))} runs"
        self._again = f"{program} demo {shlex.join(options)}" if options else ""
        self._story = Story()
        self._in_full = True

    def opened(self) -> None:
        """Say that it may be killed, and how it goes on."""
        self._note(f"Kill this whenever you like (kill -9 {os.getpid()}), then let it go on:")
        self._how_to_go_on()

    def begun(self, scenario: Scenario, *, in_full: bool) -> None:
        """Head the run."""
        self._story = Story()
        self._in_full = in_full
        self._head(f"Order {scenario.order} to {scenario.destination}", scenario.twist)

    def fact(self, record: Record) -> bool:
        """Tell a fact, unless it is left out of a short telling."""
        lines = self._story.tell(record)
        if not (self._in_full or isinstance(record.fact, HIGHLIGHTS)):
            return False
        self._console.print(told(record, lines, width=WIDTH))
        return True

    def ended(self, outcome: Outcome) -> None:
        """Say how it ended."""
        style = "bold green" if outcome.completed else "bold red"
        ending = f"{outcome.status} with revision {outcome.revision} after {outcome.version} facts"
        self._note(f"Run {outcome.run_id}: {ending}", style)

    def interrupted(self) -> None:
        """Say how to go on."""
        self._console.print()
        self._note("Stopped. Nothing is lost; let it go on with")
        self._how_to_go_on()

    def closed(self, kit: Kit, *, is_kept: bool) -> bool:
        """Print audit and books."""
        facts, problems = audited(kit.store)
        twice = kit.world.duplicates()
        self._head("Audit", "what the store can prove")
        if not problems:
            self._note(f"{facts} facts, each holding the hash of the one before: unaltered.", "green")
        for problem in problems:
            self._note(f"run {problem.run_id}, fact {problem.version}: {problem.what}", "bold red")
        self._head("Books", "what the outside world was asked, and what it did")
        self._console.print(books(kit.world, width=WIDTH))
        if not twice:
            self._note("Every effect happened exactly once.", "bold green")
        for duplicate in twice:
            self._note(f"{duplicate.operation} happened {duplicate.times} times.", "bold red")
        if is_kept:
            self._console.print()
            self._note(f"Kept in {self._folder}; look around with")
            self._command(f"{self._runs} list")
        return not (problems or twice)

    def _how_to_go_on(self) -> None:
        self._command(f"{self._runs} resume")
        if self._again:
            self._note("That carries on what was begun. The same demo again finishes what is left:")
            self._command(self._again)

    def _head(self, title: str, remark: str) -> None:
        self._console.print()
        heading = Text.assemble((title, "bold"), (f": {remark}", "dim"))
        self._console.print(heading)
        self._console.rule(style="dim")

    def _note(self, text: str, style: str = "dim") -> None:
        self._console.print(Text(text, style))

    def _command(self, text: str) -> None:
        self._console.print(Text(f"  {text}", "bold"), soft_wrap=True)


class JsonOutput:
    """One JSON document at the end."""

    def __init__(self) -> None:
        self._runs: list[dict[str, Any]] = []

    def opened(self) -> None:
        """Print nothing yet."""

    def begun(self, scenario: Scenario, *, in_full: bool) -> None:  # noqa: ARG002 - JSON is always in full
        """Begin a run's part of the document."""
        self._runs.append({"key": scenario.key, "variant": scenario.name, "facts": []})

    def fact(self, record: Record) -> bool:
        """Keep a fact."""
        kept = {name: getattr(record, name) for name in ("version", "at", "actor", "cause", "topic")}
        self._runs[-1]["facts"].append({**kept, "data": record.fact})
        return False

    def ended(self, outcome: Outcome) -> None:
        """Keep the outcome."""
        fields = ("run_id", "status", "revision", "version", "result", "failure")
        self._runs[-1] |= {name: getattr(outcome, name) for name in fields}

    def interrupted(self) -> None:
        """Print no half document."""

    def closed(self, kit: Kit, *, is_kept: bool) -> bool:  # noqa: ARG002 - the caller knows its folder
        """Print the document."""
        facts, problems = audited(kit.store)
        twice = kit.world.duplicates()
        world = {"summary": kit.world.summary(), "effects": kit.world.effects(), "duplicates": twice}
        audit = {"facts": facts, "problems": [*problems]}
        document = msgspec.json.encode({"runs": self._runs, "audit": audit, "world": world})
        sys.stdout.write(msgspec.json.format(document, indent=2).decode() + "\n")
        return not (problems or twice)


def audited(store: str) -> tuple[int, list[Problem]]:
    """Verify a store; return how many facts it holds and what is wrong with them."""
    with open_journal(store, read_only=True) as journal:
        runs = asyncio.run(journal.list()).runs
        return sum(run.version for run in runs), list(journal.verify())
