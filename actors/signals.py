"""Signals that are checked: JSON Schemas of their payloads, and the record of those that were refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from ..domain.engine_facts import refused
from ..domain.errors import InvalidInputError, SignalInvalid
from ..domain.signals import ANY_SIGNAL, Check, SignalRules
from ..store import ENGINE, GENESIS, Append, Journal, Record, VersionConflictError
from .json_schemas import problems_of, validator_of
from .schedule_stream import MOST_CONFLICTS

Schema: TypeAlias = Mapping[str, Any] | bool
"""A JSON Schema 2020-12; ``False`` fits nothing, ``True`` everything."""


_MASK = "what was sent"
"""Stands for values in problems: these are recorded, and a payload may hold anything."""


def signal_rules(declared: Mapping[str, Schema]) -> SignalRules:
    """Return what is declared of signals as the rules see it.

    Args:
        declared: by name or glob, the schema of the payload; ``False`` where no such signal is taken, so that
            ``{"paid": {…}, "*": False}`` takes one kind and no other.

    Raises:
        InvalidInputError: a name is none, or a schema is none; the text says which.
    """
    if not declared:
        return ANY_SIGNAL
    return SignalRules({name: _check_of(name, schema) for name, schema in declared.items()})


def _check_of(name: Any, schema: Any) -> Check | None:
    if not isinstance(name, str) or not name:
        raise InvalidInputError(f"signals: {name!r} is no name of a signal; write one such as 'paid'")
    if not isinstance(schema, (Mapping, bool)):
        raise InvalidInputError(f"signals[{name!r}]: must be a JSON Schema, true or false, not {schema!r}")
    if schema is False:
        return None
    try:
        return partial(problems_of, validator_of(schema, mask=_MASK))
    except InvalidInputError as error:
        raise InvalidInputError(f"signals[{name!r}]: {error}") from error


async def record_refusal(journal: Journal, refusal: SignalInvalid, *, at: float, actor: str) -> None:
    """Record in the stream of the engine that a signal was refused; returns once that is durable.

    Args:
        journal: the store.
        refusal: what its sender is told.
        at: the time, in seconds since the epoch.
        actor: who sent it.

    Raises:
        JournalError: it could not be recorded.
    """
    fact, conflicts = refused(refusal), 0
    while True:
        head = await journal.head(ENGINE)
        version, hash_ = (head.version, head.hash) if head else (0, GENESIS)
        try:
            await journal.append(Append(ENGINE, version, hash_, [(at, actor, 0, fact)]))
        except VersionConflictError:
            conflicts += 1
            if conflicts > MOST_CONFLICTS:
                raise
            await asyncio.sleep(0)
        else:
            return


async def engine_facts(journal: Journal, after: int = 0) -> AsyncIterator[Record]:
    """Yield the records of the stream of a store's engines.

    Args:
        journal: the store.
        after: version of the last record that is not wanted.
    """
    async for batch in journal.batches(ENGINE, after=after):
        for record in batch:
            yield record
