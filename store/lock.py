"""One engine owns a store at a time: a lock on a file beside the database.

``flock`` dies with its process, so nothing has to be cleaned up after a crash, and holds between two
engines of one process. It is never taken on the database file itself, where closing any descriptor would
drop SQLite's own locks.
"""

from __future__ import annotations

import contextlib
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

    def lost(self) -> OwnershipLostError | None:
        """Return an error if the file we hold is no longer the one others would lock."""
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._descriptor), self._path.stat()):
                return None
        return OwnershipLostError(
            f"this engine lost {self._url}: its lock file {self._path} was removed or replaced, "
            "so another engine may own the store now. Nothing more is appended; "
            "stop this engine and find out who removed the file"
        )

    def release(self) -> None:
        """Give the store up. The file stays: removing it would let two engines hold two files of one name."""
        os.close(self._descriptor)
