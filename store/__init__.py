"""The journal of facts: what is recorded, how it is kept, and how it is read again.

====================  =================================================================================
``journal``           what the rest of the program asks of a journal: the protocol and its values
``record``            a fact as it is recorded; ``chain`` the hashes between records
``codec``             facts to bytes and back; ``upcast`` shapes that have been retired
``index``             the index of runs and its filters
``streams``           streams of facts beside the runs
``commit``            which waiting appends go into one transaction; ``writer`` the thread that commits
``snapshots``         states of long runs, kept beside their facts
``backed``            the journal over any backend; ``reading`` its reading half
``backend``           what is asked of a database; ``reader`` the queries SQLite and PostgreSQL share
``sqlite``            committing to SQLite; ``sqlite_file``, ``sqlite_schema`` its connections and tables
``postgres``          PostgreSQL; ``memory`` a store for tests and trials
``recorder``          the event sourcing library's tables and readers
``lock``              one engine owns a store at a time
``url``               opening what a store URL names
``errors``            what can go wrong
====================  =================================================================================
"""

from .chain import GENESIS, Head, Problem
from .errors import (
    BadStoreUrlError,
    CorruptRecordError,
    CorruptSnapshotError,
    DriverMissingError,
    JournalClosedError,
    JournalError,
    JournalFailedError,
    KeyTakenError,
    NewerRecordError,
    NewerStoreError,
    NotAStoreError,
    OwnershipLostError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
    StoreOwnedError,
    UnencodableError,
    VersionConflictError,
)
from .index import FINAL_STATUSES, IndexedRun, RunFilter, RunIndex, RunPage
from .journal import Append, Appended, Journal, OnDone, Post, Reads
from .record import Entry, Record
from .snapshots import Snapshot, digest_of
from .streams import ENGINE, SCHEDULES
from .url import open_journal

__all__ = [
    "ENGINE",
    "FINAL_STATUSES",
    "GENESIS",
    "SCHEDULES",
    "Append",
    "Appended",
    "BadStoreUrlError",
    "CorruptRecordError",
    "CorruptSnapshotError",
    "DriverMissingError",
    "Entry",
    "Head",
    "IndexedRun",
    "Journal",
    "JournalClosedError",
    "JournalError",
    "JournalFailedError",
    "KeyTakenError",
    "NewerRecordError",
    "NewerStoreError",
    "NotAStoreError",
    "OnDone",
    "OwnershipLostError",
    "Post",
    "Problem",
    "Reads",
    "Record",
    "RunFilter",
    "RunIndex",
    "RunPage",
    "Snapshot",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreMissingError",
    "StoreOwnedError",
    "UnencodableError",
    "VersionConflictError",
    "digest_of",
    "open_journal",
]
