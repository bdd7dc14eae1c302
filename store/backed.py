"""The journal over any backend: the asynchronous face of a database that blocks."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, cast

from .backend import Backend, ReadableBackend
from .codec import check_index, encode
from .commit import Pending, Result
from .errors import JournalClosedError, JournalError
from .journal import Append, Appended, OnDone, Post
from .reading import Reading
from .snapshots import Keeping, Snapshot, portions
from .streams import is_run
from .writer import MakeWriter, ThreadWriter, Writer

_TOLD_AT_ONCE = 16
"""Callers told of a commit in one go: the answers to a large one must not hold the host's loop."""


class BackedJournal(Reading):
    """A journal over a backend; see :class:`Journal` for its methods.

    Args:
        url: the store's URL, without a password.
        backend: the database; one that takes no appends makes a journal that is read-only.
        writer: makes who commits.
        readers: a thread that reads, for databases at the other end of a network.
    """

    def __init__(
        self,
        url: str,
        backend: ReadableBackend,
        *,
        writer: MakeWriter = ThreadWriter,
        readers: ThreadPoolExecutor | None = None,
    ) -> None:
        super().__init__(url, backend, readers)
        self._writable = cast(Backend, backend) if hasattr(backend, "commit") else None
        self._make_writer = writer
        self._writer: Writer | None = None
        self._post: Post | None = None
        self._buffer: list[Pending] = []
        self._flushing = False
        self._process = os.getpid()
        self._on_foreign: list[Callable[[Sequence[str]], None]] = []
        self._on_lost: list[Callable[[JournalError], None]] = []
        self._lost_told = False

    @property
    def read_only(self) -> bool:
        """Whether appends are refused."""
        return self._writable is None

    # -------------------------------------------------------------------------------------------- appending

    def dispatch(self, post: Post) -> None:
        """Hand results over through ``post``; the caller calls :meth:`flush`."""
        self._post = post

    def submit(self, append: Append, on_done: OnDone) -> None:
        """Queue an append."""
        if self._closed or self._writable is None or self._backend.refusal is not None:
            raise self._refusal()
        if not append.expected_version or not append.entries or append.index is not None:
            _check(append)
        if append.index is not None:
            check_index(append.index)
        encoded = encode(append.run_id, append.expected_version, append.prev_hash, append.entries)
        self._buffer.append(Pending(append, encoded, on_done))
        if self._post is None:
            self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._flushing:
            self._check_process()
            self._flushing = True
            asyncio.get_running_loop().call_soon(self.flush, context=contextvars.Context())

    def flush(self) -> None:
        """Hand all queued appends to the writer."""
        self._flushing = False
        batch = self._buffer
        if not batch:
            return
        self._buffer = []
        self._check_process()
        self._started().put(batch)

    async def append(self, append: Append) -> Appended:
        """Append, and return when the facts are durable."""
        future: asyncio.Future[Appended] = asyncio.get_running_loop().create_future()
        self.submit(append, functools.partial(_resolve, future))
        self._flush_soon()  # whoever dispatches may have no turn to come
        return await future

    async def keep_snapshot(self, snapshot: Snapshot, pieces: Mapping[str, bytes]) -> None:
        """Keep a state of a run in place of the one before."""
        for keeping in portions(snapshot, pieces):
            if self._closed or self._writable is None or self._backend.refusal is not None:
                raise self._refusal()
            self._check_process()
            future: asyncio.Future[JournalError | None] = asyncio.get_running_loop().create_future()
            self._started().put_aside(functools.partial(_keep, keeping, future))
            error = await future
            if error is not None:
                raise error

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise self._refusal()

    def _refusal(self) -> JournalError:
        if self._process != os.getpid():
            return JournalClosedError(
                f"{self.url} was opened by process {self._process}: open it in this process anew"
            )
        if self._closed:
            return JournalClosedError(f"{self.url} is closed: nothing can be appended")
        return self._backend.refusal or JournalClosedError(
            f"{self.url} is open for reading only: open it without read_only to append"
        )

    def _started(self) -> Writer:
        """Return the writer; start it on the running loop if there is none."""
        if self._writer is None:
            if self._writable is None or self._closed:
                raise self._refusal()
            self._writer = self._make_writer(self._writable, asyncio.get_running_loop(), self._report)
        return self._writer

    # -------------------------------------------------------------------------------------------- reporting

    def _report(self, done: Sequence[tuple[Pending, Result]], foreign: Sequence[str]) -> None:
        """Take, on the loop's thread, what the writer did and saw."""
        if done or foreign:
            self._wake_followers()
        loop = asyncio.get_running_loop()
        if foreign:
            for callback in self._on_foreign:
                loop.call_soon(callback, foreign)
        refusal = self._backend.refusal
        if refusal is not None and not self._lost_told:
            self._lost_told = True
            for tell in self._on_lost:
                loop.call_soon(tell, refusal)
        if done:
            self._hand_over(done, loop)

    def _hand_over(self, done: Sequence[tuple[Pending, Result]], loop: asyncio.AbstractEventLoop) -> None:
        calls = [
            functools.partial(_tell, done[start : start + _TOLD_AT_ONCE], loop)
            for start in range(0, len(done), _TOLD_AT_ONCE)
        ]
        if self._post is None:
            _run_in_turn(deque(calls), loop, at_once=self._closed)
        elif self._closed:
            loop.call_soon(self._post, calls)  # who closes is on the stack
        else:
            self._post(calls)

    def _watch(self) -> bool:
        if self._writable is None:
            return False
        self._started()
        return True

    def on_foreign(self, callback: Callable[[Sequence[str]], None]) -> None:
        """Call ``callback`` with the ids of runs others have appended to."""
        self._on_foreign.append(callback)
        self._started()

    def on_ownership_lost(self, callback: Callable[[JournalError], None]) -> None:
        """Call ``callback`` once, if this engine no longer owns its store."""
        self._on_lost.append(callback)
        self._started()

    # ----------------------------------------------------------------------------------------- its own life

    def close(self) -> None:
        """Write what is queued, end the writer, give up the store."""
        if self._stop():
            if self._writer is not None:
                self._writer.join()
            self._release()

    async def aclose(self) -> None:
        """The same as :meth:`close`, without holding the loop."""
        if self._stop():
            try:
                if self._writer is not None:
                    await self._writer.ended()
                await self._reads_ended()
            finally:
                if self._writer is not None:
                    self._writer.join()
                self._release()

    def _stop(self) -> bool:
        if self._closed:
            return False
        self.flush()
        self._closed = True
        if self._writer is not None:
            self._writer.stop()
        return True

    def _release(self) -> None:
        self._wake_followers()
        if self._readers is not None:
            self._readers.shutdown()
        self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _tell(done: Sequence[tuple[Pending, Result]], loop: asyncio.AbstractEventLoop) -> None:
    for pending, result in done:
        try:
            pending.on_done(result)
        except Exception as error:  # noqa: BLE001 - one caller's mistake must not leave its neighbours waiting
            what = f"the callback of an append to run {pending.run_id} raised"
            loop.call_exception_handler({"message": what, "exception": error})


def _run_in_turn(calls: deque[Callable[[], None]], loop: asyncio.AbstractEventLoop, *, at_once: bool) -> None:
    """Run one call a turn of the loop, for journals without a dispatcher."""
    while calls:
        calls.popleft()()
        if calls and not at_once:
            loop.call_soon(functools.partial(_run_in_turn, calls, loop, at_once=False))
            return


def _keep(
    keeping: Keeping, future: asyncio.Future[JournalError | None], backend: Backend
) -> Callable[[], None]:
    error = backend.keep(keeping)
    return lambda: None if future.done() else future.set_result(error)


def _resolve(future: asyncio.Future[Appended], result: Result) -> None:
    if future.done():  # its waiter was cancelled
        return
    if isinstance(result, JournalError):
        future.set_exception(result)
    else:
        future.set_result(result)


def _check(append: Append) -> None:
    """Refuse what only a mistake in the caller can produce."""
    if not append.entries:
        raise ValueError(f"an append to run {append.run_id} without facts")
    if append.index is not None and not is_run(append.run_id):
        raise ValueError(f"an append to stream {append.run_id}, which is no run's, with an index row")
    if append.index is not None and append.index.run_id != append.run_id:
        raise ValueError(f"an append to run {append.run_id} with the index row of run {append.index.run_id}")
    has_index = append.index is not None or not is_run(append.run_id)
    if not append.expected_version and (not has_index or not append.run_id or "\0" in append.run_id):
        raise ValueError(
            f"the start of run {append.run_id!r} needs an id without NUL characters and an index row"
        )
