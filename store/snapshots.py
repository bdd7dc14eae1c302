"""Snapshots: states of long runs, kept beside their facts so that opening one need not fold them all.

A snapshot is derived data. It may be missing, cut, altered, or made by other code: then it is left aside, and
the run is folded from its first fact. Nothing is ever decided by it that the facts would not say as well.

It is kept in pieces that are named by their content. A piece that a later snapshot of the run has too is not
written again, and the row that says which pieces make up the snapshot is written last, so a process that
dies in between leaves the snapshot before as it was. The row is sealed with the fingerprint of the code that
folds facts, and with the hash of the record that the state was taken at: what the chain says now has to be
what it said then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b, sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

# ruff: noqa: S608 - queries are made of constants, values are parameters
import msgspec

from .errors import CorruptSnapshotError
from .index import Dialect

_WRITTEN_AT_ONCE = 128 * 1024
"""Bytes from which pieces are committed: appends of facts that come meanwhile wait for one such commit."""

_SNAPSHOTS = (
    "CREATE TABLE IF NOT EXISTS snapshots (run_id TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL,"
    " hash TEXT NOT NULL, pieces TEXT NOT NULL, seal TEXT NOT NULL)"
)
_PIECES = (
    "CREATE TABLE IF NOT EXISTS snapshot_pieces (run_id TEXT NOT NULL, digest TEXT NOT NULL,"
    " body {} NOT NULL, PRIMARY KEY (run_id, digest))"
)
"""The tables are made with the first snapshot. They may be dropped at any time."""

Execute = Callable[[str, Sequence[Any]], Any]
"""Runs a statement on the connection that writes; its result has ``fetchall``."""


class Snapshot(msgspec.Struct, frozen=True):
    """A state of a run that was kept.

    Args:
        run_id: the run.
        version: version of the last fact in the state.
        hash: hash of that fact's record.
        pieces: digests of its pieces, in order.
    """

    run_id: str
    version: int
    hash: str
    pieces: tuple[str, ...]

    @property
    def seal(self) -> str:
        """What shows that all this was written together, by this very code."""
        text = "\0".join((fingerprint(), self.run_id, str(self.version), self.hash, *self.pieces))
        return blake2b(text.encode(), digest_size=32).hexdigest()


def read_snapshot(run_id: str, row: Sequence[Any]) -> Snapshot | None:
    """Return a row as a snapshot; ``None`` if it is not as this code wrote it."""
    version, hash_, pieces, seal = row
    try:
        digests = msgspec.json.decode(pieces, type=tuple[str, ...])
        snapshot = msgspec.convert((run_id, version, hash_, digests), tuple[str, int, str, tuple[str, ...]])
    except (msgspec.MsgspecError, TypeError):
        return None
    found = Snapshot(*snapshot)
    return found if found.seal == seal else None


def digest_of(piece: bytes) -> str:
    """Return the name of a piece: half the SHA-256 digest of its content, in hex.

    Processors have instructions for it, and opening a run takes the digest of its whole state.
    """
    return sha256(piece).hexdigest()[:32]


def in_order(run_id: str, digests: Sequence[str], found: Mapping[str, Any]) -> list[bytes]:
    """Return pieces in the order they were asked for.

    Raises:
        CorruptSnapshotError: one is missing, or is not what its name says.
    """
    for digest in digests:
        body = found.get(digest)
        if not isinstance(body, bytes) or digest_of(body) != digest:
            raise CorruptSnapshotError(run_id, digest, "was altered" if digest in found else "is missing")
    return [found[digest] for digest in digests]


class Keeping:
    """A part of a snapshot on its way into the store.

    Args:
        run_id: the run.
        pieces: pieces by digest.
        snapshot: the snapshot, with its last pieces; the one before is forgotten with it.
    """

    def __init__(self, run_id: str, pieces: Mapping[str, bytes], snapshot: Snapshot | None = None) -> None:
        self._run_id = run_id
        self._pieces = pieces
        self._snapshot = snapshot

    def write(self, execute: Execute, dialect: Dialect) -> None:
        """Write it in the transaction that is open."""
        execute(_SNAPSHOTS, ())
        execute(_PIECES.format(dialect.blob), ())
        p = dialect.parameter
        insert = (
            f"INSERT INTO snapshot_pieces (run_id, digest, body) VALUES ({p}, {p}, {p})"
            " ON CONFLICT (run_id, digest) DO UPDATE SET body = excluded.body"
        )
        for digest, body in self._pieces.items():
            execute(insert, (self._run_id, digest, body))
        if self._snapshot is not None:
            self._switch(execute, p, self._snapshot)

    def _switch(self, execute: Execute, p: str, snapshot: Snapshot) -> None:
        replace = (
            f"INSERT INTO snapshots (run_id, version, hash, pieces, seal) VALUES ({p}, {p}, {p}, {p}, {p})"
            " ON CONFLICT (run_id) DO UPDATE SET version = excluded.version, hash = excluded.hash,"
            " pieces = excluded.pieces, seal = excluded.seal"
        )
        pieces = msgspec.json.encode(snapshot.pieces).decode()
        execute(replace, (snapshot.run_id, snapshot.version, snapshot.hash, pieces, snapshot.seal))
        all_ = execute(f"SELECT digest FROM snapshot_pieces WHERE run_id = {p}", (snapshot.run_id,))
        kept = frozenset(snapshot.pieces)
        for (digest,) in all_.fetchall():
            if digest not in kept:
                execute(
                    f"DELETE FROM snapshot_pieces WHERE run_id = {p} AND digest = {p}",
                    (snapshot.run_id, digest),
                )


def portions(snapshot: Snapshot, pieces: Mapping[str, bytes]) -> Iterator[Keeping]:
    """Yield a snapshot in parts that are committed one by one, the row that names its pieces last."""
    portion: dict[str, bytes] = {}
    size = 0
    for digest, body in pieces.items():
        portion[digest] = body
        size += len(body)
        if size >= _WRITTEN_AT_ONCE:
            yield Keeping(snapshot.run_id, portion)
            portion, size = {}, 0
    yield Keeping(snapshot.run_id, portion, snapshot)


_fingerprint: list[str] = []


def fingerprint() -> str:
    """Return the digest of the code that makes states of records: any change of it makes other snapshots."""
    for _ in take_fingerprint():
        pass
    return _fingerprint[0]


def take_fingerprint() -> Iterator[None]:
    """Have the fingerprint ready, once a process, in steps short enough for a loop."""
    if _fingerprint:
        return
    package = files(__package__.rpartition(".")[0])
    digest = blake2b(digest_size=16)
    for folder in ("domain", "store"):
        for name, source in sorted(_sources(package / folder, folder)):
            content = source.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
            yield
    _fingerprint[:] = [digest.hexdigest()]


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for each in folder.iterdir():
        name = f"{path}/{each.name}"
        if each.is_dir():
            if each.name != "__pycache__":
                yield from _sources(each, name)
        elif name.endswith((".py", ".pyc")):
            yield name, each
