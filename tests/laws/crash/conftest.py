"""Where the scenarios play, and what they import once for all of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from midcourse.actors.testing.crash import preload

from . import controlling, replanning, running, undoing

preload(
    running.__name__,
    replanning.__name__,
    undoing.__name__,
    controlling.__name__,
    "midcourse.actors.planners.goap",
)

IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def crash_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory, where the system has one.

    A process that is killed loses nothing that it has written, synced or not, so the files need no disk; and
    to wait for disks would be nine tenths of the time that the matrix takes.
    """
    if not IN_MEMORY.is_dir():
        yield tmp_path_factory.mktemp("crashes")
        return
    with tempfile.TemporaryDirectory(prefix="midcourse-crashes-", dir=IN_MEMORY) as made:
        yield Path(made)
