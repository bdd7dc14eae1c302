"""Writing to a run from outside its engine: what another process, such as a command line, may do."""

from __future__ import annotations

import asyncio

from ..domain.decide import Reaction, record
from ..domain.errors import SignalInvalid
from ..domain.messages import Message
from ..domain.tools import Catalog
from ..store import Append, Journal, VersionConflictError
from .errors import RunNotFoundError
from .indexing import row_of
from .loading import load_newest
from .signals import record_refusal

MOST_CONFLICTS = 50
"""Appends that may meet another one before the writer gives up: five seconds of a run that never rests."""

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.001, 0.1

NO_TOOLS = Catalog()
"""Where a message needs no tools to be decided about."""


async def write(journal: Journal, run_id: str, message: Message, catalog: Catalog = NO_TOOLS) -> Reaction:
    """Record what a message amounts to, and leave what follows to the engine that owns the run.

    No orders are sent. The run is folded, the rules decide, and their facts are appended at the version that
    was read; where something was appended in between, all of it is done again.

    Args:
        journal: the store, opened without being its owner.
        run_id: the run.
        message: what the run is told.
        catalog: the tools, where the message is a plan to be checked against them; what is declared of
            signals, where it is a signal.

    Returns:
        the facts that were recorded.

    Raises:
        RunNotFoundError: there is no such run.
        MessageRefused: the message does not fit the run as it is. A signal that does not fit what the catalog
            declares of it is recorded as refused.
        JournalError: it could not be recorded.
    """
    conflicts = 0
    while True:
        try:
            return await _write_once(journal, run_id, message, catalog)
        except SignalInvalid as refusal:
            await record_refusal(journal, refusal, at=message.at, actor=message.actor)
            raise
        except VersionConflictError:
            conflicts += 1
            if conflicts > MOST_CONFLICTS:
                raise
            await asyncio.sleep(min(_FIRST_WAIT_S * 2**conflicts, _LONGEST_WAIT_S))


async def _write_once(journal: Journal, run_id: str, message: Message, catalog: Catalog) -> Reaction:
    loaded = await load_newest(journal, run_id)
    if loaded is None:
        raise RunNotFoundError(run_id, journal.url)
    run, version = loaded.run, loaded.run.version
    reaction = record(run, message, catalog)
    if reaction.facts:
        row = row_of(run, loaded.row, message.at)
        await journal.append(
            Append(
                run_id,
                version,
                loaded.hash,
                [(message.at, message.actor, cause, fact) for fact, cause in reaction.facts],
                None if row is loaded.row else row,
            )
        )
    return reaction
