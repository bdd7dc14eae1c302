"""The runs of an engine that are in memory, and the way to those that are not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from ..domain.decide import Reaction, react, record
from ..domain.decide.descent import report_of
from ..domain.messages import Activate, Advance, Message
from ..domain.orders import Order
from ..domain.run import Run
from ..domain.tools import Catalog
from ..store import Journal
from ._pykka import ActorDeadError, Dispatcher, Envelope
from .clock import Clock, Timers
from .couriers import Couriers
from .door import Door
from .errors import EngineClosedError, RunNotFoundError, RunParkedError
from .home import Call, Look
from .loading import Loaded, load, load_or_error
from .places import RunPlaces
from .reconciler import Reconciler
from .registry import Planners
from .snapshots import Snapshots
from .tasks import Tasks
from .timers import WakeUps

_log = logging.getLogger("midcourse.actors")

_MOST_LOADS = 4
"""Runs folded at the same time: each takes a slice of the loop's every round."""


class Directory(Door):
    """Finds the reconciler of a run, or makes it, and is what the reconcilers share.

    Args:
        journal: the store.
        catalog: the tools.
        planners: the planners, as they are at any time.
        clock: the time in seconds since the epoch.
        timers: makes things happen later.
        passivate: let go of the memory of runs that only wait.
        max_active_runs: runs that are under way at the same time; ``None`` for as many as there are.

    Attributes:
        active, parked: reconcilers by run; by run, why it was let go of after an error.
        busy: what waits for an append or for a run to be read.
        slots: places for runs that are being read.
        is_draining, is_paused: what happens is recorded, and nothing is begun (any more; until `unpause`).
        couriers: carry orders to the executor and the planner; set before the first run.
    """

    couriers: Couriers

    def __init__(
        self,
        *,
        journal: Journal,
        catalog: Catalog,
        planners: Planners,
        clock: Clock,
        timers: Timers,
        passivate: bool,
        max_active_runs: int | None = None,
    ) -> None:
        super().__init__()
        self.journal = journal
        self.catalog = catalog
        self.clock = clock
        self.passivate = passivate
        self.decide: Callable[[Run, Message, Catalog], Reaction] = react
        self.wake_ups = WakeUps(clock=clock, timers=timers)
        self.places = RunPlaces(max_active_runs, self._begin)
        self.active: dict[str, Reconciler] = {}
        self.parked: dict[str, RunParkedError] = {}
        self.busy: set[object] = set()
        self.is_draining = self.is_paused = False
        self.dispatcher = Dispatcher(journal.flush)
        self.slots = asyncio.Semaphore(_MOST_LOADS)
        self._planners = planners
        self._quiet = asyncio.Event()
        self._tasks = Tasks(self._broken)
        self.snapshots = Snapshots(journal, partial(self.spawn, name="snapshots"))
        journal.dispatch(self._run)

    # ---------------------------------------------------------------------------------------- being addressed

    def tell(self, run_id: str, message: Message) -> None:
        """Hand a message to a run, taking it up if need be."""
        reconciler = self.active.get(run_id)
        if reconciler is None:
            if run_id in self.parked:
                _log.warning("run %s is parked, its %s is lost", run_id, type(message).__name__)
                return
            reconciler = self.activate(run_id)
        reconciler.actor_inbox.put(Envelope(message))

    async def ask(self, run_id: str, message: Message | Look) -> Any:
        """Hand a message to a run, and return its answer once it is durable.

        Raises:
            EngineClosedError: nothing is admitted any more.
            WrongLoopError: the caller is in another event loop.
            RunNotFoundError: there is no such run.
            RunParkedError: it was let go of after an error.
            MidcourseError: what the run answers.
        """
        self.admit()
        return await self._ask(run_id, message)

    async def ask_for_tool(self, run_id: str, message: Message | Look) -> Any:
        """Do the same for a tool that runs: while the engine closes, it is still heard."""
        self.check_open()
        return await self._ask(run_id, message)

    async def _ask(self, run_id: str, message: Message | Look) -> Any:
        self.check_parked(run_id)
        reconciler = self.active.get(run_id) or self.activate(run_id)
        try:
            return await reconciler.actor_ref.ask(message)
        except ActorDeadError:
            self.admit()
            self.check_parked(run_id)
            raise

    def check_parked(self, run_id: str) -> None:
        """Raise why a run is parked, if it is."""
        error = self.parked.get(run_id)
        if error is not None:
            raise RunParkedError(run_id, error.__cause__ or error)

    def knows(self, run_id: str) -> bool:
        """Return whether a run is active, or parked."""
        return run_id in self.active or run_id in self.parked

    def activate(self, run_id: str, loaded: Loaded | None = None) -> Reconciler:
        """Take a run up that is not active, read or not: what was in flight is known to be lost."""
        Reconciler.start(run_id=run_id, home=self, dispatcher=self.dispatcher, loaded=loaded)
        reconciler = self.active[run_id]
        message = Envelope(self._activation())
        if loaded is not None:
            reconciler.actor_inbox.put(message)
        else:
            reconciler.load([] if self.is_draining else [message])
        return reconciler

    def _begin(self, run_id: str) -> None:
        """Go on with a run that has waited for its place."""
        if self.is_draining:
            return
        reconciler = self.active.get(run_id)
        if reconciler is None:
            self.activate(run_id)
        else:
            reconciler.is_admitted = True
            reconciler.actor_inbox.put(Envelope(self._activation()))

    def _activation(self) -> Activate:
        return Activate(at=self.clock(), planners=frozenset(self._planners.by_name))

    async def loaded(self, run_id: str) -> Loaded:
        """Return a run as the journal has it, without taking it up."""
        found = await load(self.journal, run_id)
        if found is None:
            raise RunNotFoundError(run_id, self.journal.url)
        return found

    # --------------------------------------------------------------------------------- what reconcilers share

    def post(self, call: Callable[[], None]) -> None:
        """Call a function among the turns, after which appends are handed over."""
        self.dispatcher.schedule(Call(call))

    def _run(self, calls: Sequence[Callable[[], None]]) -> None:
        self.dispatcher.run(Call(call) for call in calls)

    def register(self, reconciler: Reconciler) -> None:
        """Take a reconciler up among the active ones."""
        self.active[reconciler.run_id] = reconciler

    def release(self, reconciler: Reconciler, *, ended: Run | None = None) -> None:
        """Let go of a run that only waits, or has ended."""
        if ended is not None and ended.planner and ended.parent is None:
            self._planners.forget(ended.planner)
        if self.active.get(reconciler.run_id) is reconciler:
            del self.active[reconciler.run_id]
        self.wake_ups.forget(reconciler.run_id)
        self.couriers.forget(reconciler.run_id)
        self.places.give_back(reconciler.run_id)
        reconciler.stop()

    def park(self, reconciler: Reconciler, error: RunParkedError) -> None:
        """Let go of a run after an error."""
        run_id = reconciler.run_id
        if self.active.get(run_id) is reconciler:
            del self.active[run_id]
        self.parked[run_id] = error
        self.wake_ups.drop(run_id)
        self.watchers.fail(run_id, error)
        self.places.leave(run_id)
        reconciler.stop()
        _log.error("%s", error, exc_info=error.__cause__)

    def send(self, run_id: str, orders: Sequence[Order]) -> None:
        """Hand orders to those who carry them out."""
        try:
            self.couriers.send(run_id, orders)
        except ActorDeadError as error:
            # While closing, orders are left to the next engine; otherwise this one cannot go on.
            if not self.is_draining:
                _log.error("the orders of run %s could not be handed over", run_id, exc_info=error)
                self.fail(EngineClosedError(f"this engine cannot go on: {error}; close it, open another"))

    def tell_parent(self, run: Run) -> None:
        """Tell the parent of a child run how it ended, if it has; told again, it changes nothing."""
        report = report_of(run, self.clock())
        if report is not None and run.parent is not None:
            self.couriers.child_ended(run.id)
            self.tell(run.parent.run, report)

    def load(
        self, run_id: str, then: Callable[[Loaded | Exception | None], None], known: Loaded | None = None
    ) -> None:
        """Fold a run, or what is new of it, and hand it over in a turn of the dispatcher."""
        self.spawn(self._load(run_id, then, known), name=f"load {run_id}")

    def rest(self, who: object) -> None:
        """Note that somebody is busy no more."""
        self.busy.discard(who)
        if not self.busy:
            self._quiet.set()

    async def _load(
        self, run_id: str, then: Callable[[Loaded | Exception | None], None], known: Loaded | None
    ) -> None:
        async with self.slots:
            loaded = await load_or_error(self.journal, run_id, known)
        self.post(partial(then, loaded))

    # ------------------------------------------------------------------------------------------- its own life

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Run work in a task of the directory; its error says that the engine is broken."""
        self._tasks.spawn(work, name=name)

    def _broken(self, task: str, error: BaseException) -> None:
        _log.error("%s failed", task, exc_info=error)
        self.fail(EngineClosedError(f"this engine cannot go on: {task}: {error}"))

    def drain(self, refusal: Exception) -> None:
        """Admit nothing any more; from now on what happens is recorded, and nothing is begun."""
        if self.refusal is None:
            self.refusal = refusal
        self.decide = record
        self.is_draining = True
        self.wake_ups.stop()

    def pause(self) -> None:
        """Begin nothing until it is unpaused."""
        self.is_paused = True
        self.decide = record

    def unpause(self) -> None:
        """Let the runs in memory go on."""
        if self.is_paused and not self.is_draining:
            self.is_paused = False
            self.decide = react
            for run_id in tuple(self.active):
                self.tell(run_id, Advance(at=self.clock()))

    async def quiet(self) -> None:
        """Wait until no append is under way."""
        while self.busy:
            self._quiet.clear()
            await self._quiet.wait()

    async def close(self) -> None:
        """Let go of all runs and of all who wait."""
        await self._tasks.cancel()
        self.is_over = True
        self.watchers.close(self.refused())
        for reconciler in tuple(self.active.values()):
            reconciler.stop()
        self.active.clear()
