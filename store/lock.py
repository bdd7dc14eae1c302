"""One engine owns a store at a time: a lock on a file beside the database.

``flock`` dies with its process, so nothing has to be cleaned up after a crash, and holds between two
engines of one process. It is never taken on the database file itself, where closing any descriptor would
drop SQLite's own locks.
"""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from .errors import OwnershipLostError, StoreMissingError, StoreOwnedError

_OWNER_BYTES = 512


class EngineLock:
    """The lock on a store, held until :meth:`release`.

    Args:
        database: path of the database file.
        url: the store's URL, for messages.

    Raises:
        StoreOwnedError: another engine holds it.
        StoreMissingError: the file cannot be made.
    """

    def __init__(self, database: Path, url: str) -> None:
        self._url = url
        self._database = database
        self._opened: os.stat_result | None = None
        self._path = database.with_name(database.name + ".lock")
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreMissingError(
                f"{url} cannot be owned: {self._path} cannot be made ({error.strerror}). "
                "Create the folder, or give this process the right to write in it"
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(self._descriptor, _OWNER_BYTES, 0).decode(errors="replace").split()
            os.close(self._descriptor)
            pid, host = owner if len(owner) == 2 and owner[0].isdigit() else ("0", "")  # noqa: PLR2004
            raise StoreOwnedError(url, int(pid), host) from None
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)

    def database_opened(self) -> None:
        """Remember which file the database is, now that it is open."""
        self._opened = self._database.stat()

    def lost(self) -> OwnershipLostError | None:
        """Return an error if the files we hold are no longer those others would lock and open."""
        change = _change(os.fstat(self._descriptor), self._path)
        if change is not None:
            return self._lost(f"its lock file {self._path} {change}")
        change = _change(self._opened, self._database) if self._opened is not None else None
        if change is not None:
            return self._lost(f"its database file {self._database} {change}")
        return None

    def _lost(self, what: str) -> OwnershipLostError:
        return OwnershipLostError(
            f"this engine lost {self._url}: {what}, and another engine may own the store now. "
            "Nothing more is appended; stop this engine and find out what happened to the file"
        )

    def release(self) -> None:
        """Give the store up. The file stays: removing it would let two engines hold two files of one name."""
        os.close(self._descriptor)


def _change(held: os.stat_result, path: Path) -> str | None:
    """Say what became of a file we hold; ``None`` if its path still leads to it."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return "was removed"
    except OSError as error:
        return f"cannot be looked at any more ({error.strerror})"
    return None if os.path.samestat(held, there) else "was replaced"
