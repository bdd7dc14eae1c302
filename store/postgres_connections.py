"""Connections to a store in PostgreSQL, and a store that is only read."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg

from .backend import Reader
from .errors import BadStoreUrlError, JournalError, JournalFailedError, StoreMissingError
from .index import POSTGRES
from .postgres_tables import Connection, require
from .reader import SqlReader
from .redaction import without_password

_CONNECT_S = 10


class Connections:
    """Makes connections to one store.

    Args:
        url: the store's URL; any of libpq's, with its options.
    """

    def __init__(self, url: str) -> None:
        self._conninfo = url
        self.url = without_password(url)
        self._read: Connection | None = None
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            raise BadStoreUrlError(self.url, one_line(error)) from error

    def connect(self) -> Connection:
        """Return a new connection.

        Raises:
            StoreMissingError: there is no such server or database, or it does not let us in.
        """
        name = f"midcourse {os.getpid()} {socket.gethostname()}"
        try:
            return psycopg.connect(
                self._conninfo, autocommit=True, connect_timeout=_CONNECT_S, application_name=name
            )
        except psycopg.OperationalError as error:
            raise StoreMissingError(
                f"{self.url} cannot be reached: {one_line(error)}. Check that the server runs, "
                "that the database exists, and that the user may use it"
            ) from error

    def fetch(self, query: str, parameters: Sequence[Any]) -> list[Any]:
        """Run a query on the connection that reads; one that broke is replaced."""
        if self._read is None or self._read.closed:
            self._read = self.connect()
        try:
            return self._read.execute(query, parameters).fetchall()
        except psycopg.Error as error:
            if not self._read.broken:
                raise JournalFailedError(f"reading {self.url} failed: {one_line(error)}") from error
        self._read = self.connect()
        return self._read.execute(query, parameters).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        """Return a reader that sees one state of the store."""
        with self.connect() as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield SqlReader(
                lambda query, parameters: connection.execute(query, parameters).fetchall(), POSTGRES
            )

    def close(self) -> None:
        """Close the connection that reads."""
        if self._read is not None:
            self._read.close()


class PostgresReading:
    """A store that is only read."""

    refusal: JournalError | None = None

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.reader: Reader = SqlReader(connections.fetch, POSTGRES)
        with connections.connect() as connection:
            require(connection, connections.url)

    def snapshot(self) -> AbstractContextManager[Reader]:
        """Return a reader that sees one state of the store."""
        return self._connections.snapshot()

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()


def one_line(error: psycopg.Error) -> str:
    """Return what the server said, without its line breaks and last full stop."""
    return " ".join(str(error).split()).removesuffix(".").removesuffix("?")
