"""The reconciler of one run: the only writer of its facts in this process.

It takes the messages that wait, decides over them in turn in memory, and appends what they amount to at once.
Only after the commit it answers, sends the orders and tells those who watch. Until then it gets no further
turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ..domain.decide import record
from ..domain.errors import MidcourseError
from ..domain.facts import Fact
from ..domain.messages import Advance, Message
from ..domain.orders import Order
from ..domain.run import Run
from ..domain.summary import FINAL, is_dormant, wake_at
from ..store import Append, Appended, JournalError, RunIndex, UnencodableError, VersionConflictError
from ._pykka import HOLD, Envelope, Hold, TurnActor
from ._pykka.dispatcher import Dispatcher
from .conflicts import Conflicts
from .errors import RunNotFoundError, RunParkedError
from .home import Home, Look, Turn, answer_to, refuse_all
from .indexing import row_of, warn_of_attention
from .loading import LONG, Loaded
from .outcome import outcome_of
from .recordable import recordable
from .snapshots import due_after
from .timers import SHORT_WAIT_S


class Reconciler(TurnActor):
    """Reconciles one run with what happens to it.

    Args:
        run_id: the run.
        home: what all reconcilers of the engine share.
        dispatcher: gives the turns.
        loaded: the run; without it, `load` has to be called.

    Attributes:
        run_id: the run.
        priority: how much it gets of what is scarce.
        is_behind: others have written to the run since it was folded.
        is_admitted: it has a place, or needs none; else what happens to it is recorded, and nothing begins.
    """

    def __init__(
        self, *, run_id: str, home: Home, dispatcher: Dispatcher, loaded: Loaded | None = None
    ) -> None:
        super().__init__(urn=run_id, dispatcher=dispatcher, is_held=loaded is None)
        self.run_id = run_id
        self.is_behind, self.is_admitted = False, True
        self._home, self._run = home, Run(run_id)
        self.priority = self._run.priority
        self._hash = ""
        self._row: RunIndex | None = None
        self._row_before: RunIndex | None = None
        self._turn: Turn | None = None
        self._wake: float | None = None
        self._conflicts = Conflicts()
        self._alone = 0
        self._snapshot_due = due_after(0)
        if loaded is not None:
            self._take_up(loaded)

    def on_start(self) -> None:
        """Be found under the run's id."""
        self._home.register(self)

    def load(self, envelopes: list[Envelope[Any]], *, known: Loaded | None = None) -> None:
        """Fold the run, or what is new since ``known``, then decide; no turns are taken meanwhile."""
        self._home.busy.add(self)
        self._home.load(self.run_id, lambda loaded: self._loaded(loaded, envelopes), known)

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let go of the run: a mistake in here must not leave it hanging."""
        super().on_failure(exception_type, exception_value, traceback)
        error = exception_value or RuntimeError("the reconciler failed")
        self._park(error, () if self._turn is None else self._turn.envelopes)

    def settle(self, orders: list[Order], at: float) -> None:
        """Act on a start that is durable."""
        self._finish(Turn([], [], orders, at))

    # -------------------------------------------------------------------------------------------------- turns

    def on_turn(self, messages: list[Envelope[Any]]) -> Hold | None:
        """Decide over messages, and hold until what they amount to is durable."""
        if self.is_behind:
            self.is_behind = False
            known = None if self._row is None else Loaded(self._run, self._hash, self._row)
            self.load(messages, known=known)
            return HOLD
        if self._alone:
            self._alone -= 1
            self.actor_inbox.waiting[:0] = messages[1:]
            del messages[1:]
        return self._decide(messages)

    def _decide(self, envelopes: list[Envelope[Any]]) -> Hold | None:
        run, catalog = self._run, self._home.catalog
        decide = self._home.decide if self.is_admitted else record
        version = run.version
        entries: list[tuple[float, str, int, Fact]] = []
        answers: list[tuple[Envelope[Any], Any]] = []
        orders: list[Order] = []
        at = 0.0
        for envelope in envelopes:
            message = envelope.message
            if message.__class__ is Look:
                answers.append((envelope, message.picture(run)))
                continue
            before = run.version
            try:
                facts, wanted = decide(run, message, catalog)
            except Exception as error:  # noqa: BLE001 - a boundary: a broken rule ends no other run
                instead = self._instead(error, before, envelope)
                if instead is None:
                    return self._park(error, envelopes)
                if envelope.reply_to is not None:
                    answers.append((envelope, error))
                    continue
                facts, wanted = decide(run, instead, catalog)
            at = max(at, message.at)
            entries += [(message.at, message.actor, cause, fact) for fact, cause in facts]
            orders += wanted
            if envelope.reply_to is not None:
                answers.append((envelope, [fact for fact, _ in facts]))
        turn = Turn(envelopes, answers, orders, at)
        if entries:
            return self._append(version, entries, turn)
        self._finish(turn)
        return None

    def _instead(self, error: Exception, before: int, envelope: Envelope[Any]) -> Message | None:
        """Return what to decide over instead of a refused message; an asker's own is left to the asker."""
        if not isinstance(error, MidcourseError) or self._run.version != before:
            return None
        message: Message = envelope.message
        return message if envelope.reply_to is not None else recordable(message, error)

    def _append(self, version: int, entries: list[tuple[float, str, int, Fact]], turn: Turn) -> Hold | None:
        row = row_of(self._run, self._row, turn.at)
        index = None if row is self._row else row
        self._row_before, self._row, self._turn = self._row, row, turn
        append = Append(self.run_id, version, self._hash, entries, index)
        try:
            self._home.journal.submit(append, self._committed)
        except UnencodableError as error:
            return self._unrecordable(error, turn.envelopes)
        except JournalError as error:
            return self._park(error, turn.envelopes)
        self._home.busy.add(self)
        return HOLD

    def _unrecordable(self, error: UnencodableError, envelopes: list[Envelope[Any]]) -> Hold | None:
        """Find the message whose facts cannot be written, and have it answered or told in other words."""
        if len(envelopes) > 1:
            self._alone = len(envelopes)
            self.actor_inbox.waiting[:0] = envelopes
            self.load([])
            return HOLD
        envelope = envelopes[0]
        if envelope.reply_to is not None:
            answer_to(envelope, error)
            self.load([])
            return HOLD
        if (instead := recordable(envelope.message, error)) is None:
            return self._park(error, envelopes)
        self.load([Envelope(instead)])
        return HOLD

    # ------------------------------------------------------------------------------------------------ commits

    def _committed(self, result: Appended | JournalError) -> None:
        try:
            self._take_result(result)
        except Exception as error:  # noqa: BLE001 - a boundary, as a turn is
            self.fail(error)

    def _take_result(self, result: Appended | JournalError) -> None:
        turn = self._turn
        assert turn is not None  # noqa: S101 - one append is under way at a time
        self._turn = None
        if result.__class__ is Appended:
            self._hash = result.head_hash
            if self._run.version >= self._snapshot_due:
                self._snapshot_due = self._home.snapshots.ask(self.run_id, self._run.version)
            if self._row is not None and self._row is not self._row_before:
                warn_of_attention(self._run, self._row_before, self._row)
            if self.run_id in self._home.watchers.moved:
                self._home.watchers.move(self.run_id)
            self._finish(turn)
            self._resume()
        elif isinstance(result, VersionConflictError) and self._conflicts.may_decide_again(result):
            self.load(turn.envelopes)
        else:
            self._park(result, turn.envelopes)  # type: ignore[arg-type]  # an error, as it is no Appended

    @property
    def version(self) -> int:
        """How many facts the run has."""
        return self._run.version

    @property
    def is_under_way(self) -> bool:
        """Whether the run is known here, and what is recorded of it is not its end."""
        return self._row is not None and self._row.status not in FINAL

    def _finish(self, turn: Turn) -> None:
        """Say and do what follows from facts that are durable."""
        for envelope, answer in turn.answers:
            answer_to(envelope, answer)
        if turn.orders:
            self._home.send(self.run_id, turn.orders)
        if self.is_admitted:
            self._go_on()
        else:
            self._wait_for_place()

    def _go_on(self) -> None:
        """See to it that the run is taken up when it has to be, and let go of while it need not be kept."""
        run, home = self._run, self._home
        if run.parent is not None:
            home.tell_parent(run)
        wake = wake_at(run)
        if wake != self._wake:
            self._wake = wake
            if wake is None:
                home.wake_ups.drop(self.run_id)
            else:
                home.wake_ups.hold(self.run_id, wake)
        if len(run.running) > len(run.children):
            return
        if run.final is not None and self._row is not None and self._row.status in FINAL:
            if self.run_id in home.watchers.ended:
                home.watchers.end(self.run_id, outcome_of(run))
        elif not home.passivate or (wake is not None and wake - home.clock() < SHORT_WAIT_S):
            return
        if is_dormant(run) and self.actor_inbox.empty():
            if run.version >= LONG:
                home.snapshots.ask(self.run_id, run.version)
            home.release(self, ended=run if run.final is not None else None)

    def _wait_for_place(self) -> None:
        """Let go of a run that may not begin yet; one that is to be undone may, whoever else waits."""
        if self._run.unwinding is not None:
            self.is_admitted = True
            self.actor_inbox.put(Envelope(Advance(at=self._home.clock())))
        elif self.actor_inbox.empty():
            self._home.release(self)

    def _resume(self) -> None:
        self._home.rest(self)
        self.resume_turns()

    # --------------------------------------------------------------------------------------- loading, parking

    def _take_up(self, loaded: Loaded) -> None:
        self._run, self._hash, self._row = loaded.run, loaded.hash, loaded.row
        self.priority = loaded.run.priority
        self.is_admitted = self._home.places.admit(loaded.run)
        self._wake = None

    def _loaded(self, loaded: Loaded | Exception | None, envelopes: list[Envelope[Any]]) -> None:
        if isinstance(loaded, Exception):
            self._park(loaded, envelopes)
            return
        if loaded is None:
            self._refuse_all(RunNotFoundError(self.run_id, self._home.journal.url), envelopes)
            self._home.release(self)
            self._resume()
            return
        self._take_up(loaded)
        try:
            if self._decide(envelopes) is not HOLD:
                self._resume()
        except Exception as error:  # noqa: BLE001 - a boundary, as a turn is
            self.fail(error)

    def _park(self, error: BaseException, envelopes: Sequence[Envelope[Any]]) -> Hold | None:
        """Let go of the run: what is recorded stays, what is not is lost as in a crash."""
        parked = error if isinstance(error, RunParkedError) else RunParkedError(self.run_id, error)
        self._refuse_all(parked, envelopes)
        self._home.park(self, parked)
        self._resume()
        return None

    def _refuse_all(self, error: Exception, envelopes: Sequence[Envelope[Any]]) -> None:
        waiting, self.actor_inbox.waiting = self.actor_inbox.waiting, []
        refuse_all((*envelopes, *waiting), error, self)
