"""Who lets turn actors take their turns."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import Context
from typing import Protocol


class ReadyTurn(Protocol):
    """Something with a turn to take."""

    def run_turn(self) -> None:
        """Take one turn; do not block."""


class Dispatcher:
    """Runs the turns that are ready, first come first served, in slices of one loop callback each.

    A slice ends when its time is up or nothing is ready; whatever else waits on the loop runs before the next
    slice. A turn is never interrupted: one that takes longer than a slice holds the loop for as long as it
    takes.

    What the turns leave behind (appends, say) is handed over by `flush`: after the slice that leaves nothing
    ready, and after one that ends `flush_s` after the last time. So while very many are ready, those that
    went first wait a little for those behind them: few large hand-overs cost less than many small ones.

    Every turn starts with an empty `contextvars.Context`: it sees neither the sender's variables nor those
    set by another turn. Make the dispatcher on the event loop it is for, and use it only there.

    Args:
        flush: called at the end of slices.
        slice_s: seconds after which a slice starts no further turn.
        flush_s: seconds after which a slice ends with a flush, whatever is ready.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        flush: Callable[[], None],
        *,
        slice_s: float = 0.001,
        flush_s: float = 0.008,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._flush = flush
        self._slice_s = slice_s
        self._flush_s = flush_s
        self._flush_at_s = 0.0
        self._is_flushed = True
        self._clock = clock
        self._ready: deque[ReadyTurn] = deque()
        self._is_posted = self._is_running = False

    def schedule(self, turn: ReadyTurn) -> None:
        """Let `turn` run once, after those scheduled before; from within a turn or a flush too."""
        self._ready.append(turn)
        self._post_slice()

    def run(self, turns: Iterable[ReadyTurn]) -> None:
        """Let turns run once, after those scheduled before; begin at once, unless a slice is on its way.

        For callbacks of the loop that do nothing after it: it spares them a round of the loop. An error in a
        turn goes to the loop's exception handler.
        """
        self._ready.extend(turns)
        if self._is_posted or self._is_running:
            return
        try:
            self._run_slice()
        except Exception as error:  # noqa: BLE001 - a boundary: a turn's error is not that of who brought turns
            self.loop.call_exception_handler({"message": "a turn raised", "exception": error})

    def _post_slice(self) -> None:
        if not self._is_posted and not self._is_running:
            self.loop.call_soon(self._run_posted, context=Context())
            self._is_posted = True  # only now: a loop that is closed, or another thread's, may refuse

    def _run_posted(self) -> None:
        self._is_posted = False
        self._run_slice()

    def _run_slice(self) -> None:
        # An error leaves through the loop's exception handler; the turns behind it still get their slice.
        self._is_running = True
        try:
            try:
                self._run_turns()
            finally:
                if not self._ready or self._clock() >= self._flush_at_s:
                    self._is_flushed = True
                    self._flush()
        finally:
            self._is_running = False
            if self._ready:
                self._post_slice()

    def _run_turns(self) -> None:
        ready, clock = self._ready, self._clock
        start_s = clock()
        end_s = start_s + self._slice_s
        if self._is_flushed:
            self._is_flushed = False
            self._flush_at_s = start_s + self._flush_s
        while ready:
            Context().run(ready.popleft().run_turn)
            if clock() >= end_s:
                return
