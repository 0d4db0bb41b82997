"""Both kinds of store behind one face, for tests that must hold on each of them."""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from deniable.store import STORE_FILE, SqliteStore
from deniable.store.place import open_database
from deniable.store.postgres import PostgresStore
from deniable.store.postgres.connection import transaction
from deniable.store.postgres.tables import PostgresTables
from deniable.store.sqlite.connection import connect_writer
from deniable.store.sqlite.connection import transaction as sqlite_transaction
from deniable.store.sqlite.tables import SqliteTables
from deniable.store.tabled import Closer, TabledStore
from material.cluster import Cluster


class Stores(ABC):
    """Opens stores by a short name; all that are open are closed in the end."""

    def __init__(self) -> None:
        self._opened: list[TabledStore] = []

    @abstractmethod
    def place(self, name: str = "s") -> str:
        """Return what `open_store` and --data are told."""

    @abstractmethod
    def make(self, name: str, **options: Any) -> TabledStore:
        """Open a store."""

    @abstractmethod
    def query(
        self, statement: str, values: Sequence[object] = (), name: str = "s"
    ) -> list[tuple[Any, ...]]:
        """Run a statement on the tables behind the store's back; `?` stands for a value."""

    @abstractmethod
    def tables(self, name: str = "s") -> set[str]:
        """Return the names of all tables."""

    @abstractmethod
    def chunk_tables(self, name: str = "s") -> list[str]:
        """Return the names of the tables that hold chunks."""

    @abstractmethod
    def closer_without_lease(self, store: TabledStore) -> AbstractContextManager[Closer]:
        """Close on a connection of its own, whoever else is closing."""

    def open(self, name: str = "s", **options: Any) -> TabledStore:
        """Open a store, and remember to close it."""
        made = self.make(name, **options)
        self._opened.append(made)
        return made

    @abstractmethod
    def ids(self, name: str = "s") -> set[int]:
        """Return the epochs whose ids are kept."""

    def numbers_of_chunks(self, name: str = "s") -> set[int]:
        """Return the batch numbers under which chunks lie."""
        return {
            number
            for table in self.chunk_tables(name)
            for (number,) in self.query(f"SELECT DISTINCT batch FROM {table}", name=name)  # noqa: S608
        }

    def damage(self, where: str = "TRUE", name: str = "s") -> int:
        """Change a byte of every chunk of the batches that a condition chooses."""
        chosen = self.query(f"SELECT batch FROM batches WHERE {where}", name=name)  # noqa: S608
        done = 0
        for table in self.chunk_tables(name):
            for key, records in self.query(f"SELECT key, records FROM {table}", name=name):  # noqa: S608
                for (number,) in chosen:
                    changed = bytes([records[0] ^ 1]) + bytes(records[1:])
                    done += len(
                        self.query(
                            f"UPDATE {table} SET records = ? WHERE batch = ? AND key = ?"  # noqa: S608
                            " RETURNING batch",
                            (changed, number, key),
                            name,
                        )
                    )
        return done

    def end(self) -> None:
        """Close what is open."""
        for each in self._opened:
            each.close()


class SqliteStores(Stores):
    """Files in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def place(self, name: str = "s") -> str:
        return str(self.folder / name)

    def make(self, name: str, **options: Any) -> TabledStore:
        return SqliteStore(self.folder / name / STORE_FILE, **options)

    def query(
        self, statement: str, values: Sequence[object] = (), name: str = "s"
    ) -> list[tuple[Any, ...]]:
        path = self.folder / name / STORE_FILE
        with closing(sqlite3.connect(path)) as connection, connection:
            return connection.execute(statement, tuple(values)).fetchall()

    def tables(self, name: str = "s") -> set[str]:
        return {each for (each,) in self.query("SELECT name FROM sqlite_master", name=name)}

    def ids(self, name: str = "s") -> set[int]:
        found = self.query("SELECT epoch FROM runs UNION SELECT epoch FROM ids", name=name)
        return {epoch for (epoch,) in found}

    def chunk_tables(self, name: str = "s") -> list[str]:
        return ["chunks"]

    @contextmanager
    def closer_without_lease(self, store: TabledStore) -> Iterator[Closer]:
        assert isinstance(store, SqliteStore)
        with closing(connect_writer(store.path)) as connection:
            tables = SqliteTables(connection, store._random_bytes)
            yield tables, lambda: sqlite_transaction(connection)


class PostgresStores(Stores):
    """Schemas of one database, each dropped in the end."""

    def __init__(self, cluster: Cluster, prefix: str) -> None:
        super().__init__()
        self.cluster, self._prefix = cluster, prefix
        self._schemas: set[str] = set()

    def schema(self, name: str = "s") -> str:
        """Return the schema of a store."""
        made = f"{self._prefix}_{name}"
        self._schemas.add(made)
        return made

    def place(self, name: str = "s") -> str:
        return self.cluster.place(self.schema(name))

    def make(self, name: str, **options: Any) -> TabledStore:
        return open_database(self.place(name), **options)

    def query(
        self, statement: str, values: Sequence[object] = (), name: str = "s"
    ) -> list[tuple[Any, ...]]:
        with self.cluster.connect() as connection:
            connection.execute(f"SET search_path = {self.schema(name)}".encode())
            done = connection.execute(statement.replace("?", "%s").encode(), tuple(values))
            return [] if done.description is None else done.fetchall()

    def tables(self, name: str = "s") -> set[str]:
        found = self.query(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()", name=name
        )
        return {each for (each,) in found}

    def ids(self, name: str = "s") -> set[int]:
        return {int(each[4:]) for each in self.tables(name) if re.fullmatch("ids_[0-9]+", each)}

    def chunk_tables(self, name: str = "s") -> list[str]:
        return ["closed", *sorted(t for t in self.tables(name) if t.startswith("chunks_"))]

    @contextmanager
    def closer_without_lease(self, store: TabledStore) -> Iterator[Closer]:
        assert isinstance(store, PostgresStore)
        with closing(store._connect()) as connection:
            tables = PostgresTables(connection, store._random_bytes, store._locks)
            yield tables, lambda: transaction(connection)

    def end(self) -> None:
        super().end()
        with self.cluster.connect() as connection:
            connection.execute("SET client_min_messages = error")
            for schema in self._schemas:
                connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
