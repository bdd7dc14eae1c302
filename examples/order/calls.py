"""The counter of the outside world: operation keys are honoured and every call is written down."""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from midcourse.examples.order.answers import Answer, KeyConflictError, WorldError

AnswerT = TypeVar("AnswerT", bound=Answer)

SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    number INTEGER PRIMARY KEY, operation TEXT NOT NULL, verb TEXT NOT NULL, arguments TEXT NOT NULL,
    was_effect INTEGER NOT NULL, outcome TEXT NOT NULL, pid INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS calls_by_operation ON calls (operation);
"""
BUSY_TIMEOUT_S = 30.0
_SELECT = "SELECT operation, verb, arguments, was_effect, outcome, pid FROM calls"


class KillAt(Struct, frozen=True):
    """Where the process kills itself: at the n-th call it makes (from 1), on one side of its commit."""

    call: int
    moment: Literal["before_commit", "after_commit"]


class Call(Struct, frozen=True):
    """One call as it was received. `outcome` is the JSON of the answer, or the text of the refusal."""

    operation: str
    verb: str
    arguments: str
    was_effect: bool
    outcome: str
    pid: int


class Duplicate(Struct, frozen=True):
    """An operation that had its effect more than once."""

    operation: str
    verb: str
    times: int


class Calls:
    """Runs each call in one durable transaction, safe among threads and processes.

    Args:
        path: the SQLite file; it is created when missing.
        schema: further tables to create.
        kill_at: where to kill this process, for crash tests.
    """

    def __init__(self, path: Path, *, schema: str, kill_at: KillAt | None) -> None:
        self.connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        self._lock = Lock()
        self._kill_at = kill_at
        self._received = 0
        with _one_process_at_a_time(path.parent):
            self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        with self.transaction():
            for statement in (schema + SCHEMA).split(";"):
                self.connection.execute(statement)

    def close(self) -> None:
        """Close the file; a call in another thread is waited for."""
        with self._lock:
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block does, durably; roll it back when the block raises."""
        with self._lock:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the connection for several reads of one moment."""
        with self._lock:
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("ROLLBACK")

    def receive(
        self,
        verb: str,
        arguments: Mapping[str, object],
        act: Callable[[], AnswerT],
        *,
        operation: str,
        answer_type: type[AnswerT],
        ignores_keys: bool = False,
    ) -> AnswerT:
        """Answer a call: by acting, or, when the operation has already had its effect, from the record.

        A refused operation had no effect, so its key may be used again.

        Raises:
            WorldError: the call was refused (a conflict of keys included); that is recorded too.
        """
        given = msgspec.json.encode(arguments, order="sorted").decode()
        with self.transaction():
            self._received += 1
            number = self._received
            recorded = None if ignores_keys else self._effect_of(operation)
            answer: AnswerT | WorldError
            try:
                answer = (
                    act() if recorded is None else _repeat(recorded, verb, given, answer_type=answer_type)
                )
            except WorldError as refusal:
                answer = refusal
            refused = isinstance(answer, WorldError)
            outcome = str(answer) if refused else msgspec.json.encode(answer).decode()
            was_effect = recorded is None and not refused
            self._record(Call(operation, verb, given, was_effect, outcome, os.getpid()))
            self._die_if(number, "before_commit")
        self._die_if(number, "after_commit")
        if isinstance(answer, WorldError):
            raise answer
        return answer

    def probe(self, operation: str) -> Answer | None:
        """The recorded answer of an operation, or None when it has had no effect."""
        with self._lock:
            recorded = self._effect_of(operation)
        return None if recorded is None else msgspec.json.decode(recorded.outcome, type=Answer)

    def all(self) -> list[Call]:
        """Every call in the order it was received."""
        with self._lock:
            return [_call(row) for row in self.connection.execute(f"{_SELECT} ORDER BY number")]

    def duplicates(self) -> list[Duplicate]:
        """The operations that had their effect more than once."""
        with self._lock:
            rows = self.connection.execute(
                "SELECT operation, verb, count(*) FROM calls WHERE was_effect "
                "GROUP BY operation HAVING count(*) > 1 ORDER BY min(number)"
            )
            return [Duplicate(*row) for row in rows]

    def _effect_of(self, operation: str) -> Call | None:
        row = self.connection.execute(
            f"{_SELECT} WHERE operation = ? AND was_effect ORDER BY number LIMIT 1", (operation,)
        ).fetchone()
        return None if row is None else _call(row)

    def _record(self, call: Call) -> None:
        self.connection.execute(
            "INSERT INTO calls (operation, verb, arguments, was_effect, outcome, pid) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            msgspec.structs.astuple(call),
        )

    def _die_if(self, number: int, moment: Literal["before_commit", "after_commit"]) -> None:
        if self._kill_at == KillAt(number, moment):
            os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def _one_process_at_a_time(folder: Path) -> Iterator[None]:
    """Lock a folder: when two processes switch to WAL, one fails at once, whatever the busy timeout."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _call(row: tuple[str, str, str, int, str, int]) -> Call:
    operation, verb, arguments, was_effect, outcome, pid = row
    return Call(operation, verb, arguments, bool(was_effect), outcome, pid)


def _repeat(recorded: Call, verb: str, arguments: str, *, answer_type: type[AnswerT]) -> AnswerT:
    if (recorded.verb, recorded.arguments) != (verb, arguments):
        raise KeyConflictError(
            recorded.operation, f"{recorded.verb} {recorded.arguments}", f"{verb} {arguments}"
        )
    return msgspec.json.decode(recorded.outcome, type=answer_type)
