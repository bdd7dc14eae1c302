"""An engine that takes up runs while another process writes to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from midcourse import Engine, Plan, Settings, Step, tool
from midcourse.actors.writer import write
from midcourse.domain.messages import SettleOutcome
from midcourse.store import Journal, Reads, RunPage, open_journal

ONCE = Plan((Step(tool_name="once"),))
AT_ONCE = Settings(drain_s=0.0, close_grace_s=0.0)


@tool(effect="irreversible")
async def once() -> None:
    """Do something that must not be repeated, and never say whether it happened."""
    await asyncio.Event().wait()


class OvertakenView:
    """A view of a store in which runs are settled by others once they are listed, and that is noticed."""

    def __init__(self, view: Reads, settle: Any) -> None:
        self._view = view
        self._settle = settle

    async def list(self, *arguments: Any, **options: Any) -> RunPage:
        page = await self._view.list(*arguments, **options)
        for run in page.runs:
            await self._settle(run.run_id)
        return page

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)


class Overtaken:
    """A journal whose views are overtaken; in all else it is the journal it wraps."""

    def __init__(self, journal: Journal, other: Journal, operation: str) -> None:
        self._journal = journal
        self._other = other
        self._operation = operation
        self._noticed = asyncio.Event()
        self.taken_up = asyncio.Event()
        journal.on_foreign(lambda _ids: self._noticed.set())  # told before the engine is

    @contextmanager
    def frozen(self) -> Iterator[Any]:
        view: Any
        with self._journal.frozen() as view:
            yield OvertakenView(view, self._settle)
        if self._noticed.is_set():
            self.taken_up.set()

    async def _settle(self, run_id: str) -> None:
        await write(self._other, run_id, SettleOutcome(at=1.0, operation=self._operation, happened=True))
        await self._noticed.wait()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


async def test_what_others_write_to_a_run_after_it_was_read_is_not_missed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    async with Engine(url, tools=[once], settings=AT_ONCE) as engine:
        run = await engine.start("once", plan=ONCE)
        async for record in run.facts():
            if record.topic == "step_started":
                break
    operation = ""
    async with Engine(url, tools=[once], settings=AT_ONCE) as engine:
        async for record in engine.run(run.id).facts():
            if record.topic == "outcome_unknown":
                operation = record.fact.operation  # type: ignore[attr-defined]
                break
    async with open_journal(url) as other:
        journal = Overtaken(open_journal(url, owner=True), other, operation)
        async with Engine(cast(Journal, journal), tools=[once]) as engine:
            await journal.taken_up.wait()
            assert (await engine.run(run.id).outcome(timeout_s=10)).status == "completed"
