"""A folder that paths may not leave, and files in it that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from ..control import ToolError

KEPT = ".midcourse"
"""The folder inside for what was overwritten; no path of a plan may lead there."""


class Folder:
    """A folder and what is in it.

    Args:
        root: the folder; it is made when something is written.
        max_bytes: the largest file that is read or written.
    """

    def __init__(self, root: Path, *, max_bytes: int) -> None:
        self._root = root
        self._max_bytes = max_bytes

    def find(self, path: str) -> Path:
        """Return the file that a path means, symbolic links followed.

        Raises:
            ToolError: it is not inside of the folder; nothing was touched.
        """
        root = self._root.resolve()
        if not path or "\0" in path:
            raise refused(f"{path!r} is no path; write one such as 'reports/today.txt'")
        try:
            found = (root / path).resolve()
        except (OSError, RuntimeError) as error:  # links in a circle
            raise refused(f"{path!r} cannot be followed: {error}") from error
        if not found.is_relative_to(root) or found == root:
            raise refused(f"{path!r} leads out of the folder {self._root}; write a path inside of it")
        if found.relative_to(root).parts[0] == KEPT:
            raise refused(f"{path!r} is where files are kept that were overwritten; write another path")
        return found

    def keep(self, name: str, content: bytes | None) -> None:
        """Keep what is about to be replaced, under a name of its own; ``None`` where there is nothing."""
        place = self._place_of(name, is_new=content is None)
        # Copies of files that others may not read lie here.
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.write(place, content or b"")

    def kept(self, name: str) -> tuple[bool, bytes | None]:
        """Return whether something was kept under a name, and what."""
        content = self.read(self._place_of(name, is_new=False))
        return content is not None or self._place_of(name, is_new=True).exists(), content

    def _place_of(self, name: str, *, is_new: bool) -> Path:
        return self._root.resolve() / KEPT / (f"{name}.new" if is_new else name)

    def read(self, file: Path) -> bytes | None:
        """Return the content of a file, ``None`` if there is none.

        Raises:
            ToolError: it is no file, is too large, or cannot be read.
        """
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused(f"{file} cannot be read: {error.strerror}") from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise refused(f"{file} is no file")
            self.check_size(file, found.st_size)
            with open(descriptor, "rb", closefd=False) as opened:
                return opened.read()
        finally:
            os.close(descriptor)

    def write(self, file: Path, content: bytes) -> None:
        """Replace a file, or make it, with the folders it is in; it survives a loss of power.

        Raises:
            ToolError: it cannot be written, and is as it was.
        """
        beside = file.with_name(f".{file.name[:100]}.{secrets.token_hex(6)}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with open(descriptor, "wb") as opened:  # noqa: PTH123 - it is open already
                if file.exists():
                    os.fchmod(descriptor, stat.S_IMODE(file.stat().st_mode))
                opened.write(content)
                opened.flush()
                os.fsync(descriptor)
            beside.replace(file)
            _sync(file.parent)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise refused(f"{file} cannot be written: {error.strerror}") from error

    def remove(self, file: Path) -> None:
        """Remove a file, if it is there."""
        try:
            file.unlink(missing_ok=True)
            if file.parent.is_dir():
                _sync(file.parent)
        except OSError as error:
            raise refused(f"{file} cannot be removed: {error.strerror}") from error

    def check_size(self, file: Path, size: int) -> None:
        """Refuse a file that is too large."""
        if size > self._max_bytes:
            raise refused(f"{file} has {size} bytes; {self._max_bytes} are the most")


def refused(problem: str) -> ToolError:
    """Return the error of what was not done, and will not be however often it is tried."""
    return ToolError(problem, retryable=False, no_effect=True)


def _sync(folder: Path) -> None:
    """Have the names in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
