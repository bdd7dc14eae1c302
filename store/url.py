"""Store URLs, and opening what they name."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from .errors import BadStoreUrlError, DriverMissingError
from .journal import Journal

_POSTGRES = ("postgresql", "postgres")


def open_journal(url: str, *, read_only: bool = False, owner: bool = False) -> Journal:
    """Open the store a URL names; close it with ``close``, ``aclose``, ``with`` or ``async with``.

    It opens files or connects, which takes milliseconds; where that matters to an event loop, call it in a
    thread.

    Args:
        url: ``sqlite:///relative.db``, ``sqlite:////absolute/path.db``, ``postgresql://user@host/database``,
            or ``memory:`` for a store that lives as long as the journal.
        read_only: create nothing, change nothing, lock nothing; the store has to exist.
        owner: be the engine of this store; there is one at a time.

    Raises:
        BadStoreUrlError: the URL makes no sense.
        DriverMissingError: the database's driver is not installed.
        StoreError: the store cannot be used; see ``store.errors``.
    """
    scheme, colon, rest = url.partition(":")
    if not colon:
        raise BadStoreUrlError(url, "it has no scheme")
    if read_only and owner:
        raise BadStoreUrlError(url, "a store cannot be owned and read only at once")
    if scheme == "memory":
        return _memory(url, rest, read_only=read_only, owner=owner)
    if scheme == "sqlite":
        return _sqlite(url, read_only=read_only, owner=owner)
    if scheme in _POSTGRES:
        try:
            from .postgres import open_postgres
        except ImportError as error:
            raise DriverMissingError(
                f"{scheme} stores need a driver that cannot be imported ({error}): "
                "pip install 'midcourse[postgres]'"
            ) from error
        return open_postgres(url, read_only=read_only, owner=owner)
    raise BadStoreUrlError(url, f"there are no stores of the kind {scheme!r}")


def _memory(url: str, rest: str, *, read_only: bool, owner: bool) -> Journal:
    if rest:
        raise BadStoreUrlError(url, "a store in memory has no name")
    if read_only:
        raise BadStoreUrlError(url, "a store in memory belongs to whoever makes it, so none can be read")
    from .memory import MemoryJournal

    return MemoryJournal(owner=owner)


def _sqlite(url: str, *, read_only: bool, owner: bool) -> Journal:
    path = sqlite_path(url)
    from .backed import BackedJournal
    from .sqlite_file import FileDatabase, ReadOnlyBackend

    database = FileDatabase(path, url, read_only=read_only)
    if read_only:
        return BackedJournal(url, ReadOnlyBackend(database))
    from .sqlite import SqliteBackend

    return BackedJournal(url, SqliteBackend(database, owner=owner))


def sqlite_path(url: str) -> Path:
    """Return the file an SQLite URL names.

    Raises:
        BadStoreUrlError: it names none.
    """
    if "\0" in url:
        raise BadStoreUrlError(url, "the name of a file holds no NUL character")
    parts = urlsplit(url)
    if parts.netloc or not url.startswith("sqlite:///"):
        raise BadStoreUrlError(url, "three slashes come before a relative path, four before an absolute one")
    if parts.query or parts.fragment:
        raise BadStoreUrlError(url, "it takes no options")
    name = parts.path.removeprefix("/")
    if not name or name.endswith("/") or name == ":memory:":
        raise BadStoreUrlError(url, "it names no file")
    return Path(name)
