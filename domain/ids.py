"""Identities derived from content: canonical JSON, digests, operation keys, run ids."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from .errors import InvalidInputError
from .finite import not_finite

_encode = msgspec.json.Encoder(order="sorted").encode

RUN_ID_CHARACTERS = 16
_UNDO = "undo/"
_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_BITS, _RANDOM_BITS = 48, 32


def canonical(value: Any) -> bytes:
    """Return the one JSON text of a value: keys sorted, no spaces.

    Raises:
        InvalidInputError: the value holds something JSON cannot carry.
    """
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"not a JSON value: {error}") from error


def plain(value: Any, kind: Any = Any) -> Any:
    """Return a value as it will be read back from a fact, so that a replay sees what the live run saw.

    Args:
        value: anything.
        kind: the type it is read back as.

    Raises:
        InvalidInputError: the value holds something JSON cannot carry.
    """
    try:
        written = msgspec.json.encode(value)
        if b"null" in written and (found := not_finite(msgspec.to_builtins(value))):
            raise InvalidInputError(f"not a JSON value: {found}; use None or a finite number")
        return msgspec.json.decode(written, type=kind)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"not a JSON value: {error}") from error


def digest_of(text: bytes) -> str:
    """Return a 96-bit BLAKE2b digest (24 hex digits) of bytes."""
    return blake2b(text, digest_size=12).hexdigest()


def digest(value: Any) -> str:
    """Return the digest of a value's canonical JSON."""
    return digest_of(canonical(value))


def intent(lineage: str, tool: str, identity: bytes) -> str:
    """Return the name of a business intent: the operation key without its number.

    Args:
        lineage: id of the run at the root of the lineage.
        tool: full name of the tool.
        identity: canonical JSON of the identifying arguments, or of the step's ``operation`` text.
    """
    text = b"%b\0%b\0%b" % (lineage.encode(), tool.encode(), identity)
    return f"{tool}:{blake2b(text, digest_size=12).hexdigest()}"


def operation_key(intent_: str, n: int) -> str:
    """Return the stable key of the ``n``-th operation of an intent, such as ``user__charge:9f….0``."""
    return f"{intent_}.{n}"


def split_key(operation: str) -> tuple[str, int]:
    """Return intent and number of an operation key."""
    if operation.endswith(".0"):  # nearly all, and folding asks for each
        return operation[:-2], 0
    intent_, _, n = operation.rpartition(".")
    return intent_, int(n)


def child_key(operation: str, name: str) -> str:
    """Return the key of the child run that the tool of an operation has started under a name."""
    return f"{operation}/{name}"


def child_id(at: float, run: str, operation: str, attempt: int) -> str:
    """Return the id of a child run, which is settled by what it is, so that it is started once."""
    text = b"%b\0%b\0%d" % (run.encode(), operation.encode(), attempt)
    return run_id(at, int.from_bytes(blake2b(text, digest_size=4).digest()))


def undo_key(operation: str) -> str:
    """Return the key of the operation that takes ``operation`` back."""
    return f"{_UNDO}{operation}"


def is_undo(operation: str) -> bool:
    """Whether an operation key is that of an undo."""
    return operation.startswith(_UNDO)


def run_id(at: float, random: int) -> str:
    """Return a time-ordered run id: 48 bits of milliseconds, 32 bits of randomness, in base32.

    Args:
        at: seconds since the epoch.
        random: any integer; its lowest 32 bits are used.
    """
    number = (int(at * 1000) & ((1 << _TIME_BITS) - 1)) << _RANDOM_BITS | random & ((1 << _RANDOM_BITS) - 1)
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(75, -1, -5))
