"""The hash chain of a run: each record holds the hash of the one before it.

The hash covers every stored field: run, version, topic, and the state bytes, which hold schema, time,
actor, cause, the hash before, and the payload as stored. A chain cannot show that its tail was cut, so the
last version and hash of every run are kept in a table of their own, changed with every append; verifying
compares the two. Verifying needs no key. It proves that nothing was altered since by anyone who did not
rewrite the whole chain *and* its head: keep a head elsewhere to be safe from that too.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

GENESIS = "0" * 64
"""What the first record of a run holds in place of a hash before it."""


class Head(msgspec.Struct, frozen=True, gc=False):
    """Where a run stands.

    Args:
        version: version of its last record; 0 for a run that does not exist.
        hash: hash of its last record, in hex.
        updated: time of its last record, in seconds since the epoch.
    """

    version: int = 0
    hash: str = GENESIS
    updated: float = 0.0


class Problem(msgspec.Struct, frozen=True):
    """Something verifying found.

    Args:
        run_id: the run.
        version: the first record that does not fit.
        what: what is wrong with it.
    """

    run_id: str
    version: int
    what: str


class _Before(msgspec.Struct, frozen=True):
    """The one field of a stored record that verifying reads."""

    prev: str


_before = msgspec.json.Decoder(_Before).decode


def link(run_id: str, version: int, topic: str, state: bytes) -> str:
    """Return the hash of a record: BLAKE2b-256 over all its stored fields, in hex."""
    return blake2b(f"{run_id}\0{version}\0{topic}\0".encode() + state, digest_size=32).hexdigest()


def check_chain(run_id: str, rows: Iterable[tuple[int, str, bytes]], head: Head | None) -> Problem | None:
    """Return the first record of a run that does not fit, or ``None`` if all do.

    Args:
        run_id: the run.
        rows: its (version, topic, state) rows, in order of version.
        head: what the table of heads says of it.
    """
    version, hash_ = 0, GENESIS
    suspect = False
    for found, topic, state in rows:
        if found != version + 1:
            return Problem(run_id, version + 1, f"is missing: the record after {version} has version {found}")
        prev = _prev_of(state)
        if suspect:
            return _blame(run_id, version, genuine=prev == hash_)
        if prev is None:
            return Problem(run_id, found, "was altered: it is not a JSON object with a `prev` hash")
        suspect = prev != hash_
        version, hash_ = found, link(run_id, found, topic, state)
    if suspect:
        return _blame(run_id, version, genuine=head is not None and head.hash == hash_)
    return _check_head(run_id, version, hash_, head)


def _prev_of(state: bytes) -> str | None:
    try:
        return _before(state).prev
    except (msgspec.MsgspecError, RecursionError):
        return None


def _blame(run_id: str, version: int, *, genuine: bool) -> Problem:
    """Say which side of a broken link was altered: ``version``, unless what follows vouches for it."""
    if genuine and version > 1:
        return Problem(run_id, version - 1, f"was altered: record {version} holds another hash for it")
    return Problem(
        run_id, version, "was altered: it does not follow the record before, and nothing after vouches for it"
    )


def _check_head(run_id: str, version: int, hash_: str, head: Head | None) -> Problem | None:
    if head is None and not version:
        return Problem(run_id, 0, "there is no such run")
    if head is None:
        return Problem(run_id, version, "is not accounted for: the table of heads does not know this run")
    is_number: bool = isinstance(head.version, int)  # SQLite stores any type in any column
    if not is_number:
        return Problem(run_id, version, f"is not accounted for: the table of heads says {head.version!r}")
    if head.version > version:
        return Problem(
            run_id, version + 1, f"is missing: the run was at version {head.version}, its tail is cut"
        )
    if head.version < version:
        return Problem(
            run_id, head.version + 1, f"was added from outside: the run was at version {head.version}"
        )
    if head.hash != hash_:
        return Problem(run_id, version, "was altered: the table of heads holds another hash for it")
    return None
