"""What all commands share: the global options, the store they mean, the run they name."""

from __future__ import annotations

import os
import pwd
import re
import shlex
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .output import program

if TYPE_CHECKING:  # commands import these when they run, so that help does not wait for them
    from ...store import IndexedRun, Journal
    from ..config import Config
    from ..history import History

T = TypeVar("T")

DEFAULT_STORE = "sqlite:///midcourse.db"
STORE_VARIABLE = "MIDCOURSE_STORE"
_MOST_CANDIDATES = 8
_LONGEST_ID = 32
_PASSWORD = re.compile(r"(//[^:/@]*:)[^@]*@")


class Session:
    """One call of the command line.

    Args:
        store: the store's URL as given, or ``None``.
        config: the configuration file as given, or ``None``.
        as_json: print JSON.
    """

    def __init__(self, store: str | None, config: str | None, *, as_json: bool) -> None:
        self._store = store
        self._config_file = config
        self._config: Config | None = None
        self.as_json = as_json

    @property
    def config(self) -> Config:
        """The configuration, read once."""
        if self._config is None:
            from ..config import find_config

            self._config = find_config(self._config_file)
        return self._config

    @property
    def store(self) -> str:
        """The store's URL: the option, else the environment, else the configuration, else a file here."""
        return self._store or os.environ.get(STORE_VARIABLE) or self.config.store or DEFAULT_STORE

    @property
    def actor(self) -> str:
        """Who is recorded as the cause of what this command does."""
        try:
            return f"os:{pwd.getpwuid(os.getuid()).pw_name}"
        except KeyError:
            return f"os:{os.getuid()}"

    def command_line(self, *words: str) -> str:
        """Return a command to type that means the same store and configuration, less a password."""
        store = _PASSWORD.sub(r"\1…@", self._store or "")
        options = [f"--store {shlex.quote(store)}"] if store else []
        options += [f"--config {shlex.quote(self._config_file)}"] if self._config_file else []
        return " ".join([program(), *options, *map(shlex.quote, words)])

    def read(self) -> Journal:
        """Open the store to read; it has to exist."""
        from ...store import StoreMissingError, open_journal
        from ...store.errors import BadStoreUrlError
        from ..errors import ConfigError

        try:
            return open_journal(self.store, read_only=True)
        except BadStoreUrlError as error:
            if self._store or os.environ.get(STORE_VARIABLE) or not self.config.store:
                raise
            raise ConfigError(self.config.file, [f"store: {error}"]) from error
        except StoreMissingError as error:
            raise StoreMissingError(
                f"{error}; name it with --store, {STORE_VARIABLE} or `store` in midcourse.toml"
            ) from error

    def write(self) -> Journal:
        """Open the store to append, as another writer than its engine; it has to exist."""
        from ...store import open_journal

        self.read().close()
        return open_journal(self.store)

    def has_engine(self) -> bool:
        """Whether an engine owns the store, or may: only of a file this can be told without disturbing it."""
        from ...store import open_journal
        from ...store.errors import StoreOwnedError

        if not self.store.startswith("sqlite:"):
            return True
        try:
            open_journal(self.store, owner=True).close()
        except StoreOwnedError:
            return True
        return False

    def history(self, journal: Journal, run_id: str, *, until: int | None = None) -> History:
        """Read a run and fold it."""
        from ..history import History

        history = History(run_id)
        for records in journal.read_batches(run_id, until=until):
            history.take_all(records)
        return history


def wait_for(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; asyncio takes long to import, and help has no use for it."""
    import asyncio

    return asyncio.run(main)


def find_run(journal: Journal, reference: str) -> str:
    """Return the id of the run that an id, the beginning of one, or ``key:NAME`` means.

    Raises:
        NoSuchRunError: no run does.
        AmbiguousRunError: several do.
    """
    return wait_for(find_run_async(journal, reference))


async def find_run_async(journal: Journal, reference: str) -> str:
    """The same as :func:`find_run`, inside an event loop."""
    from ..errors import AmbiguousRunError, NoSuchRunError

    if reference.startswith("key:"):
        found = await journal.find_key(reference[4:])
        if found is None:
            raise NoSuchRunError(journal.url, reference)
        return found
    candidates = await _beginning_with(journal, reference) if reference else []
    ids = [run.run_id for run in candidates]
    if reference in ids:
        return reference
    if not ids:
        raise NoSuchRunError(journal.url, reference)
    if len(ids) > 1:
        raise AmbiguousRunError(reference, ids[:_MOST_CANDIDATES], more=len(ids) > _MOST_CANDIDATES)
    return ids[0]


async def _beginning_with(journal: Journal, beginning: str) -> list[IndexedRun]:
    """Return the newest runs whose ids begin alike: ids are in order, and none sorts after a row of z."""
    from ...store import RunFilter

    last = beginning.ljust(_LONGEST_ID, "z")
    page = await journal.list(RunFilter(), limit=_MOST_CANDIDATES + 1, cursor=last)
    return [run for run in page.runs if run.run_id.startswith(beginning)]


pass_session = click.make_pass_decorator(Session)
