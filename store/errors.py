"""What can go wrong between the engine and its store.

::

    StoreError                       the store as a whole
    ├── BadStoreUrlError             a store URL that makes no sense
    ├── StoreMissingError            a store to read that does not exist
    ├── NotAStoreError               a database that is not a Midcourse store, or is damaged as a whole
    ├── NewerStoreError              a store written by a newer Midcourse
    ├── StoreOwnedError              another engine owns the store
    ├── DriverMissingError           the database driver is not installed
    └── JournalError                 one append or read
        ├── VersionConflictError     the run has moved on since it was read
        ├── KeyTakenError            another run was started with the same key
        ├── UnencodableError         a fact that cannot be written
        ├── NewerRecordError         a record this code is too old to read
        ├── CorruptRecordError       a record that does not read as what it says it is
        ├── CorruptSnapshotError     a part of a snapshot that is missing or altered
        ├── StoreFullError           no space left
        ├── StoreLockedError         another process keeps the write lock
        ├── OwnershipLostError       this engine no longer owns its store
        ├── JournalClosedError       the journal is closed, or belongs to another process
        └── JournalFailedError       anything else the database reported; the outcome is not known
"""

from __future__ import annotations

from ..domain.errors import MidcourseError
from .redaction import without_password


class StoreError(MidcourseError):
    """The base of every error of the store."""


class BadStoreUrlError(StoreError):
    """A store URL that makes no sense; the message lists the forms that do, and keeps passwords to itself."""

    def __init__(self, url: str, why: str) -> None:
        self.url = without_password(url) if "://" in url else url
        super().__init__(
            f"{self.url!r} is not a store URL: {why}. Allowed are sqlite:///relative.db, "
            "sqlite:////absolute/path.db, postgresql://user@host/database and memory:"
        )


class StoreMissingError(StoreError):
    """A store that is to be read, or the folder it is to be made in, does not exist."""


class NotAStoreError(StoreError):
    """The database exists and is not a Midcourse store, or is too damaged to be opened."""


class NewerStoreError(StoreError):
    """The tables of the store have a newer shape than this code knows."""

    def __init__(self, store: str, found: int, known: int) -> None:
        self.store, self.found, self.known = store, found, known
        super().__init__(
            f"{store} has store format {found}, written by a newer Midcourse; this one reads up to format "
            f"{known}. Upgrade Midcourse to open it"
        )


class StoreOwnedError(StoreError):
    """Another engine owns the store.

    Args:
        store: the store's URL.
        pid: process id of the owner, 0 if it is not known.
        host: the owner's machine, empty if it is not known.
    """

    def __init__(self, store: str, pid: int, host: str) -> None:
        self.store, self.pid, self.host = store, pid, host
        owner = f"process {pid} on {host}" if pid else "another process"
        super().__init__(
            f"{store} is owned by the engine of {owner}. One engine owns a store at a time: "
            "stop that one first, or go through it"
        )


class DriverMissingError(StoreError):
    """The driver of the database is not installed."""


class JournalError(StoreError):
    """The base of what an append or a read can end with."""


class VersionConflictError(JournalError):
    """The run has moved on since it was read: nothing was appended. Read it again and decide again."""

    def __init__(self, run_id: str, expected: int, actual: int) -> None:
        self.run_id, self.expected, self.actual = run_id, expected, actual
        found = f"it is at version {actual}"
        if expected == actual:
            found = f"version {actual} has other content than was read"
        super().__init__(
            f"run {run_id} was expected at version {expected}, but {found}: nothing was appended. "
            "Read the run again and decide again"
        )


class KeyTakenError(JournalError):
    """A run with the same idempotency key exists: the start was not recorded, that run is the one meant."""

    def __init__(self, key: str, run_id: str) -> None:
        self.key, self.run_id = key, run_id
        super().__init__(f"key {key!r} belongs to run {run_id} already: no second run was started")


class UnencodableError(JournalError):
    """A fact holds a value that cannot be written; nothing was appended.

    Args:
        fact: name of the fact's class.
        path: where in the fact, such as ``receipt.result.items[2]``.
        found: what was found there.
    """

    def __init__(self, fact: str, path: str, found: str) -> None:
        self.fact, self.path, self.found = fact, path, found
        super().__init__(
            f"{fact}.{path} cannot be recorded: {found}. "
            "Facts hold JSON values: null, booleans, numbers, strings, lists, and objects with string keys"
        )


class NewerRecordError(JournalError):
    """A record of a kind or shape this code does not know."""

    def __init__(self, run_id: str, version: int, topic: str, what: str) -> None:
        self.run_id, self.version, self.topic = run_id, version, topic
        super().__init__(
            f"record {version} of run {run_id} ({topic}) {what}: it was written by a newer Midcourse. "
            "Upgrade Midcourse to read this run"
        )


class CorruptRecordError(JournalError):
    """A record that does not read as what it says it is."""

    def __init__(self, run_id: str, version: int, what: str) -> None:
        self.run_id, self.version, self.what = run_id, version, what
        super().__init__(
            f"record {version} of run {run_id} is damaged: {what}. "
            "`midcourse audit verify` shows how far the store can be trusted; restore it from a backup"
        )


class CorruptSnapshotError(JournalError):
    """A part of a snapshot is missing or altered: the run has to be folded from its facts."""

    def __init__(self, run_id: str, digest: str, what: str) -> None:
        self.run_id = run_id
        self.digest = digest
        super().__init__(f"piece {digest} of the snapshot of run {run_id} {what}: fold its facts instead")


class StoreFullError(JournalError):
    """There is no space left for the append; nothing was recorded."""


class StoreLockedError(JournalError):
    """Another process kept the write lock longer than the journal waits; nothing was recorded."""


class OwnershipLostError(JournalError):
    """This engine no longer owns its store and must not append."""


class JournalClosedError(JournalError):
    """The journal is closed, read-only, or was opened by another process."""


class JournalFailedError(JournalError):
    """The database reported an error; whether the append is recorded is not known. Read the run again."""
