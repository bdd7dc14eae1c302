import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from midcourse.actors.indexing import row_of
from midcourse.domain import facts as f
from midcourse.domain import messages as m
from midcourse.domain.decide import react
from midcourse.domain.goal import Goal
from midcourse.domain.plan import Plan, Step
from midcourse.domain.receipt import Receipt, Resource
from midcourse.domain.run import Run
from midcourse.domain.tools import Catalog, ToolSpec
from midcourse.store import GENESIS, Append, RunIndex, open_journal

BEGINNING = 1_900_000_000.0
CATALOG = Catalog(
    [
        ToolSpec("user__reserve", effect="reversible", undo="user__release"),
        ToolSpec("user__release", idempotent=True),
        ToolSpec("user__express", effect="reversible", undo="user__unship"),
        ToolSpec("user__sea", effect="reversible", undo="user__unship"),
        ToolSpec("user__unship", idempotent=True),
        ToolSpec("user__notify"),
    ]
)


class Story:
    """A run that is told to a store message by message, as its engine would record it.

    Every message comes a second after the one before.
    """

    def __init__(self, store: Path, run_id: str) -> None:
        self.store = store
        self.catalog = CATALOG
        self.run = Run(run_id)
        self._hash = GENESIS
        self._row: RunIndex | None = None

    def tell(self, kind: type[m.Message], **fields: Any) -> None:
        at = BEGINNING + self.run.version
        reaction = react(self.run, kind(at=at, **fields), self.catalog)
        row = row_of(self.run, self._row, at)
        entries = [(at, fields.get("actor", "engine"), cause, fact) for fact, cause in reaction.facts]
        version = self.run.version - len(entries)
        changed = None if row is self._row else row
        append = Append(self.run.id, version, self._hash, entries, changed)
        self._hash, self._row = asyncio.run(self._write(append)), row

    async def _write(self, append: Append) -> str:
        async with open_journal(f"sqlite:///{self.store}") as journal:
            return (await journal.append(append)).head_hash

    def start(self, *, key: str = "order-42", tags: Mapping[str, str] | None = None) -> None:
        goal = Goal("deliver order 42", {"sku": "lamp"})
        self.tell(m.StartRun, goal=goal, lineage=self.run.id, planner="orders", key=key, tags=tags or {})

    def plan(self, *steps: tuple[str, dict[str, Any]], reason: str = "") -> None:
        tail = tuple(Step(tool_name=name, input=arguments) for name, arguments in steps)
        plan = Plan(tail, reason=reason)
        self.tell(m.ProposePlan, epoch=self.run.epoch, plan=plan)

    def succeed(self, result: Any, resource: str = "") -> None:
        key, operation = next(iter(self.run.running.items()))
        kind, _, name = resource.partition(" ")
        made = (Resource(kind, name),) if resource else ()
        receipt = Receipt(result, made)
        self.tell(m.ReportSuccess, operation=key, attempt=operation.attempt, receipt=receipt)

    def ask_for_another(self, reason: str, updates: Mapping[str, Any]) -> None:
        key, operation = next(iter(self.run.running.items()))
        fields = {"operation": key, "attempt": operation.attempt, "no_effect": True}
        self.tell(m.ReportReplan, reason=reason, updates=updates, **fields)

    def lose(self, why: str) -> None:
        key, operation = next(iter(self.run.running.items()))
        self.tell(m.ReportLost, operation=key, attempt=operation.attempt, why=why)

    def park(self, problem: str) -> None:
        undo = self.run.undos[self.run.undo_running]
        failure = f.Failure("tool_error", problem)
        self.tell(m.ReportFailure, operation=undo.key, attempt=undo.attempt, failure=failure)


RUN = "01fzzzzzzzzzzzz0"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "orders.db"


@pytest.fixture
def story(store: Path) -> Story:
    """A run not yet started."""
    return Story(store, RUN)


@pytest.fixture
def replanned(story: Story) -> Story:
    """A run whose express delivery was refused: two revisions, the second under way by sea."""
    story.start(tags={"shop": "oslo"})
    story.plan(("reserve", {"sku": "lamp"}), ("express", {"to": "island"}), reason="the fastest way")
    story.succeed({"reserved": 2}, "reservation R-1")
    story.ask_for_another("no express to the island", {"options": ["sea"]})
    story.plan(("sea", {"to": "island"}), ("notify", {"text": "by sea"}), reason="sea goes there")
    return story


@pytest.fixture
def unknown(replanned: Story) -> Story:
    """The same, and nobody knows whether the ship was booked."""
    replanned.lose("timed out")
    return replanned


class Answer:
    """What a call of the command line came to."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of this process, less what would change answers; its processes share their bytecode."""
    changing = ("MIDCOURSE", "PYTHONDONTWRITEBYTECODE", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(changing)}
    bytecode = str(tmp_path_factory.mktemp("bytecode"))
    return kept | {"TZ": "UTC", "PYTHONUNBUFFERED": "1", "PYTHONPYCACHEPREFIX": bytecode}


COMMAND = (sys.executable, "-c", "from midcourse.daemon.main import main; main()")

Call = Callable[..., Answer]


@pytest.fixture
def call(tmp_path: Path, environment: dict[str, str]) -> Call:
    """Run ``midcourse`` in a process of its own, in ``tmp_path``."""

    def run(*arguments: str, stdin: str = "", cwd: Path = tmp_path, **variables: str) -> Answer:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=cwd,
            env=environment | variables,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        return Answer(done)

    return run


@pytest.fixture
def on_store(call: Call, store: Path) -> Call:
    """The same, with ``--store``."""

    def run(*arguments: str, **options: Any) -> Answer:
        return call("--store", f"sqlite:///{store}", *arguments, **options)

    return run
