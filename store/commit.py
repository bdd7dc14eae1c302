"""Group commit, the part every database shares: which waiting appends go in, which are left out.

The primary key of the records stops duplicates but not gaps, and one conflicting append must not fail its
neighbours. So every append is compared with the heads of the runs, read under the write lock; those that do
not fit are answered without touching the transaction, which is cheaper than a savepoint for each.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

from .chain import link
from .codec import Encoded
from .errors import JournalError, KeyTakenError, VersionConflictError
from .index import to_row
from .journal import Append, Appended, OnDone

Result = Appended | JournalError
Heads = MutableMapping[str, tuple[int, str]]
"""Version and hash of the last record of each run."""


class Pending:
    """An append on its way, encoded.

    Args:
        append: what was asked for.
        encoded: its records, ready to be stored.
        on_done: whom to tell.

    Attributes:
        key: the idempotency key it claims; only the start of a run claims one.
    """

    __slots__ = (
        "count",
        "expected",
        "hash",
        "index",
        "key",
        "on_done",
        "parameters",
        "prev",
        "run_id",
        "updated",
        "version",
    )

    def __init__(self, append: Append, encoded: Encoded, on_done: OnDone) -> None:
        self.run_id = append.run_id
        self.expected = append.expected_version
        self.prev = append.prev_hash
        self.count = len(append.entries)
        self.updated = append.entries[-1][0]
        self.index = append.index
        self.key = "" if append.index is None or append.expected_version else append.index.key
        self.parameters = encoded.parameters
        self.version = encoded.version
        self.hash = encoded.hash
        self.on_done = on_done


class Transaction:
    """What a transaction writes, and what each append of the batch is told after it.

    Args:
        position: the position of the last record there is, of all runs.
    """

    __slots__ = ("heads", "index", "parameters", "position", "results")

    def __init__(self, position: int) -> None:
        self.position = position
        self.parameters: list[Any] = []
        self.heads: dict[str, tuple[Any, ...]] = {}
        self.index: dict[str, tuple[Any, ...]] = {}
        self.results: list[Result] = []

    def take(self, batch: Sequence[Pending], heads: Heads, keys: MutableMapping[str, str]) -> None:
        """Take in the appends that fit.

        Args:
            batch: the appends, in the order they came.
            heads: where every run of the batch stands; moved on as appends go in.
            keys: the runs that own the keys the batch claims. Added to as appends go in.
        """
        for pending in batch:
            refusal = _refusal(pending, heads, keys)
            if refusal is not None:
                self.results.append(refusal)
                continue
            if pending.key:
                keys[pending.key] = pending.run_id
            self._add(pending)
            heads[pending.run_id] = (pending.version, pending.hash)

    def _add(self, pending: Pending) -> None:
        run_id, version, hash_ = pending.run_id, pending.version, pending.hash
        first = self.position + 1
        self.position += pending.count
        self.parameters += pending.parameters
        self.heads[run_id] = (run_id, version, hash_, pending.updated)
        if pending.index is not None:
            self.index[run_id] = to_row(pending.index)
        self.results.append(Appended(range(first, self.position + 1), version, hash_))


_NEW = (0, "")


def _refusal(pending: Pending, heads: Heads, keys: MutableMapping[str, str]) -> JournalError | None:
    version, hash_ = heads.get(pending.run_id, _NEW)
    if version != pending.expected or (version and hash_ != pending.prev):
        return VersionConflictError(pending.run_id, pending.expected, version)
    if pending.key and pending.key in keys:
        return KeyTakenError(pending.key, keys[pending.key])
    return None


def recognise(pending: Pending, row: tuple[int, str, bytes] | None) -> Appended | None:
    """Recognise an append whose commit was reported as failed, by the hash of its last record.

    Args:
        pending: the append.
        row: position, topic and state of the record that has its last version, if there is one.
    """
    if row is None:
        return None
    position, topic, state = row
    if link(pending.run_id, pending.version, topic, state) != pending.hash:
        return None
    return Appended(range(position - pending.count + 1, position + 1), pending.version, pending.hash)
