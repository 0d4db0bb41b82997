"""The tables of the PostgreSQL store on one connection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import Connection

from deniable.store.base import Counters
from deniable.store.postgres.ids import Ids
from deniable.store.postgres.locks import Locks
from deniable.store.postgres.schema import chunks_table, create_tables, ids_table
from deniable.store.rows import INSERT, BatchRow, checked, sound_row
from deniable.store.shuffle import RandomBytes
from deniable.store.tables import Tables, Transaction, nowhere

SELECT = """
    SELECT batch, question, version, digest, epoch, size, simulated::int, segments, reports,
        open::int, ran, sum,
        (SELECT coalesce(sum(p.reports), 0)::bigint FROM parts p WHERE p.batch = batches.batch)
    FROM batches
"""
_INSERT = f"{INSERT} ON CONFLICT DO NOTHING".replace("?", "%s")
COUNT = b"""
    INSERT INTO counters (question, reason, slot, count)
    SELECT question, reason, %s, count
    FROM unnest(%s::text[], %s::text[], %s::bigint[]) AS given (question, reason, count)
    ON CONFLICT (question, reason, slot) DO UPDATE SET count = counters.count + excluded.count
"""
_DELETE = "DELETE FROM {} WHERE batch = ?"
_CHUNKS = "SELECT key, sum, records FROM {} WHERE batch = %s"
_LENGTHS = "SELECT key, octet_length(records) FROM {} WHERE batch = ?"
_BYTES = "SELECT coalesce(sum(octet_length(records)), 0)::bigint FROM {} WHERE batch = ?"
_REMOVE = """
    DELETE FROM {} WHERE batch = ? AND key BETWEEN ? AND ?
        AND NOT EXISTS (SELECT FROM batches WHERE batch = ?)
"""
_UNOWNED = """
    WITH RECURSIVE found AS (
        SELECT min(batch) AS batch FROM {0}
        UNION ALL
        SELECT (SELECT min(batch) FROM {0} WHERE batch > found.batch) FROM found
        WHERE found.batch IS NOT NULL
    )
    SELECT batch FROM found
    WHERE batch IS NOT NULL AND NOT EXISTS (SELECT FROM batches WHERE batch = found.batch)
"""
"""Numbers of chunks that no batch has, by jumping from number to number in the index."""
_PUT = "INSERT INTO {} (batch, key, sum, records) VALUES (%s, %s, %s, %s)"
_THERE = """
    SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(?)
"""
_IDS = "SELECT id FROM {}"
_PUT_IDS = "INSERT INTO {} (id) SELECT unnest(%s)"
_SAME_TABLES = """
    SELECT bool_and(oid IS NOT DISTINCT FROM to_regclass(name)::oid) FROM unnest(?::text[]) name
        LEFT JOIN pg_class ON relname = name AND relnamespace = current_schema()::regnamespace
"""
_OF_EPOCHS = re.compile(r"(?:ids|chunks)_([0-9]+)")
_MOST_SLOTS = 1_000


class _InUse(Exception):
    """Ends the transaction of dropping tables that somebody reads."""


class PostgresTables(Tables):
    """Chunks of open batches lie in a table of their epoch, those of closed ones in `closed`.

    A batch that late reports opened again has chunks in both.
    """

    errors = (psycopg.Error,)

    def __init__(
        self, connection: Connection[Any], random_bytes: RandomBytes, locks: Locks
    ) -> None:
        super().__init__(random_bytes)
        self.connection = connection
        self.locks = locks
        self._slot: int | None = None
        self._scattered: tuple[str, set[int]] = ("", set())

    @property
    def slot(self) -> int:
        """The place in `parts` and `counters` that only this connection writes to."""
        if self._slot is None:
            numbers = range(_MOST_SLOTS)
            free = (n for n in numbers if self._true(self.locks.for_ever("slot", n)))
            self._slot = next(free, 0)
        return self._slot

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement, and return the rows that it gives."""
        done = self.connection.execute(
            statement.replace("?", "%s").encode(), tuple(values), binary=True
        )
        return [] if done.description is None else done.fetchall()

    def error_name(self, error: Exception) -> str:
        """Return the code of an error."""
        return str(getattr(error, "sqlstate", None) or type(error).__name__)

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Read inside of one transaction that sees one snapshot."""
        self.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")

    def has(self, table: str) -> bool:
        """Look into the catalogue."""
        return bool(self.execute("SELECT 1 WHERE to_regclass(?::text) IS NOT NULL", (table,)))

    def make(self, statement: str) -> None:
        """Make a table under a lock: two who make the same one at once would fail."""
        self.connection.execute(self.locks.exclusive("tables"))
        self.execute(statement)

    def hold(self, rows: Sequence[BatchRow]) -> None:
        """Lock out those who append to these epochs, other closers, and then the rows."""
        for epoch in sorted({row.batch.epoch for row in rows}):
            self.connection.execute(self.locks.exclusive("append", epoch))
        self.connection.execute(self.locks.exclusive("chunks"))
        numbers = [row.number for row in rows]
        self.execute(
            "SELECT FROM batches WHERE batch = ANY(?) ORDER BY batch FOR UPDATE", [numbers]
        )

    def keep(self, rows: Sequence[BatchRow]) -> bool:
        """Share the locks of the open epochs, and see whether their tables are still the same.

        Dropping a table takes it from those who read an earlier moment, too: so whoever drops must
        have the lock alone. The catalogue shows the table of this moment, to_regclass that of now.
        """
        epochs = sorted({row.batch.epoch for row in rows if row.open})
        if not epochs:
            return True
        self.connection.execute(self.locks.shared("read", epochs))
        names = [chunks_table(epoch) for epoch in epochs]
        found = self.execute(_SAME_TABLES, [names])
        return bool(found[0][0])

    # --- batches

    def select(
        self, where: str, values: Sequence[object], lock: bool
    ) -> Iterable[tuple[tuple[Any, ...], int]]:
        """Return the columns of the rows, each with what collectors counted beside it."""
        locked = " ORDER BY batch FOR UPDATE" if lock else ""
        for *columns, beside in self.execute(f"{SELECT} WHERE {where}{locked}", values):
            yield tuple(columns), beside

    def insert(self, row: BatchRow) -> None:
        """Write a row as a new one, unless another collector has just done so."""
        *first, simulated, segments, reports, is_open, ran, found = row.stored()
        values = (*first, bool(simulated), segments, reports, bool(is_open), ran, found)
        self.connection.execute(_INSERT.encode(), values)

    def update(self, row: BatchRow, number: int | None = None) -> None:
        """Write a row over another; under a new number, all its reports are counted in the row."""
        super().update(row, number)
        if number not in (None, row.number):
            self.execute("DELETE FROM parts WHERE batch = ?", (number,))

    def forget(self, row: BatchRow) -> None:
        """Delete a row, and what is counted beside it."""
        super().forget(row)
        self.execute("DELETE FROM parts WHERE batch = ?", (row.number,))

    def delete(self, row: BatchRow) -> None:
        """Delete a row with its chunks."""
        for table in self._tables_of(row):
            self.execute(_DELETE.format(table), (row.number,))
        self.forget(row)

    # --- chunks

    def put(self, row: BatchRow, key: bytes, found: bytes, records: bytes) -> None:
        """Write one chunk of a batch that is being closed."""
        statement = put_statement(self._home(row))
        self.connection.execute(statement, (row.number, key, found, records))

    def chunks(
        self, row: BatchRow, keys: tuple[bytes, bytes] | None = None
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Yield a batch's chunks, one at a time in memory."""
        between = "" if keys is None else " AND key BETWEEN %s AND %s"
        tables = self._tables_of(row)
        statement = " UNION ALL ".join(_CHUNKS.format(table) + between for table in tables)
        values = (row.number, *(keys or ())) * len(tables)
        with self.connection.cursor(binary=True) as cursor:
            yield from cursor.stream(statement.encode(), values)

    def lengths(self, row: BatchRow, *, removable: bool = False) -> Iterable[tuple[bytes, int]]:
        """Return the keys of a batch's chunks, and how long they are."""
        tables = [self._home(row)] if removable else self._tables_of(row)
        parts = " UNION ALL ".join(_LENGTHS.format(table) for table in tables)
        return [(k, n) for k, n in self.execute(f"{parts} ORDER BY 1", [row.number] * len(tables))]

    def stored_bytes(self, row: BatchRow) -> int:
        """Return the bytes of a batch's records."""
        return sum(
            int(found)
            for table in self._tables_of(row)
            for (found,) in self.execute(_BYTES.format(table), (row.number,))
        )

    def unowned(self) -> Iterator[BatchRow]:
        """Yield the numbers in `closed` that no batch has."""
        for (number,) in self.execute(_UNOWNED.format("closed")):
            yield nowhere(number)

    def remove(self, row: BatchRow, first: bytes, last: bytes) -> None:
        """Delete chunks of `closed` under a number that no batch has.

        A statement sees what was committed before it began. Who gives a number to a batch has the
        same lock, so it has committed by then, or finds the chunks gone and gives up.
        """
        self.connection.execute(self.locks.exclusive("chunks"))
        values = (row.number, first, last, row.number)
        self.execute(_REMOVE.format(self._home(row)), values)

    def temporary(self, row: BatchRow) -> BatchRow:
        """Return a number whose chunks lie in a temporary table, outside of PostgreSQL's log."""
        name = f"scattered_{row.number}"
        if self._scattered[0] != name:
            if self._scattered[0]:
                self.execute(f"DROP TABLE {self._scattered[0]}")
            self.execute(f"CREATE TEMPORARY TABLE {name} (LIKE closed INCLUDING ALL)")
            self._scattered = (name, set())
        made = super().temporary(row)
        self._scattered[1].add(made.number)
        return made

    def _home(self, row: BatchRow) -> str:
        """Return where new chunks of a batch go that is being closed."""
        name, numbers = self._scattered
        return name if row.number in numbers else "closed"

    def _tables_of(self, row: BatchRow) -> list[str]:
        """Return where the chunks of a batch lie; a closed one has none in its epoch's table."""
        home = self._home(row)
        if home != "closed" or not row.open:
            return [home]
        return [home, *self._there(chunks_table(row.batch.epoch))]

    def _there(self, *names: str) -> list[str]:
        """Return those tables that exist."""
        found = self.execute(_THERE, [list(names)])
        return [name for (name,) in found]

    # --- ids and counters

    def drop_ids(self, transaction: Transaction) -> None:
        """Drop the tables of the epochs in which nothing is open; tidy the others up."""
        names = self.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
            " AND relkind = 'r'"
        )
        found = {int(match[1]) for (name,) in names if (match := _OF_EPOCHS.fullmatch(name))}
        for epoch in sorted(found):
            with suppress(_InUse, psycopg.errors.LockNotAvailable), transaction():
                if self._is_open(epoch):
                    self._tidy(epoch)
                else:
                    self._drop(epoch)

    def give_back(self, transaction: Transaction) -> None:
        """Do nothing: a dropped table has given back its files."""

    def _is_open(self, epoch: int) -> bool:
        return bool(self.execute("SELECT FROM batches WHERE epoch = ? AND open LIMIT 1", (epoch,)))

    def _tidy(self, epoch: int) -> None:
        """Remove what closed batches have left in a table that others still need."""
        self.connection.execute(self.locks.exclusive("chunks"))
        for table in self._there(chunks_table(epoch)):
            for (number,) in self.execute(_UNOWNED.format(table)):
                self.execute(_DELETE.format(table), (number,))

    def _drop(self, epoch: int) -> None:
        """Drop the tables of an epoch, unless somebody reads them or has just appended to it."""
        self.connection.execute(self.locks.exclusive("append", epoch))
        if self._is_open(epoch) or not self._true(self.locks.attempt("read", epoch)):
            raise _InUse
        chunks = chunks_table(epoch)
        there = self._there(chunks, ids_table(epoch))
        if not there:
            return  # another closer was here
        # A backup that reads all tables, say: it goes on, and the next closer drops them.
        self.execute(f"LOCK TABLE {', '.join(there)} IN ACCESS EXCLUSIVE MODE NOWAIT")
        if chunks in there and self.execute(
            f"SELECT FROM {chunks} JOIN batches USING (batch) LIMIT 1"
        ):
            raise _InUse  # a closed batch has nothing here: whatever this is, it is kept
        self.execute(f"DROP TABLE {', '.join(there)}")

    def ids(self, epoch: int) -> list[bytes]:
        """Return the ids of an epoch; none without a table."""
        return [
            each.bytes
            for table in self._there(ids_table(epoch))
            for (each,) in self.execute(_IDS.format(table))
        ]

    def put_ids(self, epoch: int, ids: Sequence[bytes]) -> None:
        """Make the tables of an epoch and write its ids."""
        create_tables(self.connection, self.locks, [epoch])
        self.connection.execute(_PUT_IDS.format(ids_table(epoch)).encode(), (Ids(ids),))

    def add_counters(self, counters: Counters) -> None:
        """Add to the counters, in this connection's slot."""
        if counters:
            self.connection.execute(COUNT, self.counted(counters))

    def counted(self, counters: Counters) -> tuple[object, ...]:
        """Return the values of the statement that adds to the counters."""
        keys = sorted(counters)
        questions, reasons = [key[0] for key in keys], [key[1] for key in keys]
        return self.slot, questions, reasons, [counters[key] for key in keys]

    def _true(self, statement: bytes) -> bool:
        return bool(self.connection.execute(statement).fetchall()[0][0])


def sound_rows(found: list[tuple[Any, ...]]) -> list[BatchRow]:
    """Return the rows that `SELECT` gave.

    Raises:
        Damaged: if one of them does not fit its sum.
    """
    return checked(sound_row(columns[:-1], columns[-1]) for columns in found)


def put_statement(table: str) -> bytes:
    """Return the statement that writes one chunk."""
    return _PUT.format(table).encode()
