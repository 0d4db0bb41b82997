"""Appending to PostgreSQL: one transaction in two round trips.

The first claims ids and finds the batches; what it tells decides what the second writes and
commits. Nothing in them is a row that another collector writes too, except an id that both were
sent: then the second waits for the first, and finds a duplicate. Ids are sorted, so that the same
group at two collectors makes them wait in the same order, and so that no place in the table tells
the order of arrival within a group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from deniable.protocol import Report
from deniable.store.base import Appended, Batch, Counters
from deniable.store.grouping import Grouped, first_of_each, grouped, number_of_records, pieces
from deniable.store.postgres.connection import check_committed, unknown_if_lost
from deniable.store.postgres.ids import Ids, read_ids
from deniable.store.postgres.schema import chunks_table, ids_table
from deniable.store.postgres.tables import COUNT, SELECT, PostgresTables, put_statement, sound_rows
from deniable.store.rows import BatchRow
from deniable.store.shuffle import shuffled
from deniable.store.sums import chunk_sum
from deniable.store.tables import KEY_BYTES, random_number

_CLAIM = """
    WITH new AS (
        INSERT INTO {} (id) SELECT unnest(%s) ON CONFLICT DO NOTHING RETURNING id
    )
    SELECT count(*), CASE WHEN count(*) < %s THEN array_agg(id) END FROM new
"""
_FIND = f"""
    {SELECT} JOIN unnest(%s::text[], %s::bigint[], %s::bytea[], %s::int[], %s::bigint[], %s::text[])
        AS wanted (question_, version_, digest_, epoch_, size_, segments_)
    ON question = question_ AND version = version_ AND digest = digest_ AND epoch = epoch_
        AND size = size_ AND segments = segments_
    WHERE simulated = %s
"""
_COUNT_ALL = (
    b"""
    WITH counted AS (
        INSERT INTO parts (batch, slot, reports)
        SELECT batch, %s, reports FROM unnest(%s::bigint[], %s::bigint[]) AS given (batch, reports)
        ON CONFLICT (batch, slot) DO UPDATE SET reports = parts.reports + excluded.reports
    )
"""
    + COUNT
)
_Key = tuple[Batch, int]


@dataclass(frozen=True)
class Writer:
    """Writes groups of reports on one connection, each in a transaction of its own.

    An error leaves the connection in any state, and statements that psycopg takes for prepared:
    throw it away then.
    """

    tables: PostgresTables

    def append(self, reports: Sequence[Report], refusals: Counters, simulated: bool) -> Appended:
        """Write the new reports of a group, and count them."""
        ids: dict[int, list[bytes]] = {}
        keys: set[_Key] = set()
        for of in {
            (r.question, r.version, r.digest, r.epoch, r.segments, len(r.record)): r
            for r in reports
        }:
            question, version, digest, epoch, segments, size = of
            number_of_records(b"", size)
            ids[epoch] = []
            keys.add((Batch(question, version, digest, epoch, simulated, segments), size))
        for report in reports:
            ids[report.epoch].append(report.id)

        claimed, rows = self._claim(ids, keys)
        new = first_of_each(reports, claimed)
        records, counts = grouped(reports, new, simulated)
        for key, count in refusals.items():
            counts[key] += count
        self._write(records, rows, counts)
        accepted = sum(new)
        return Appended(accepted, len(new) - accepted, new)

    def put(self, batch: Batch, records: bytes, size: int, kept: str) -> int:
        """Write records of one batch without ids, and count them."""
        count = number_of_records(records, size)
        if not count:
            return 0

        _, rows = self._claim({batch.epoch: []}, {(batch, size)})
        self._write({(batch, size): records}, rows, {(batch.question, kept): count})
        return count

    def _claim(
        self, ids: Mapping[int, Sequence[bytes]], keys: Collection[_Key]
    ) -> tuple[dict[int, set[bytes] | None], dict[_Key, BatchRow]]:
        """Begin: claim ids and find batches. Of each epoch, return the new ids (None: all)."""
        connection, tables = self.tables.connection, self.tables
        asked = {epoch: sorted(set(of)) for epoch, of in sorted(ids.items())}
        with connection.pipeline():
            connection.execute("BEGIN")
            if asked:
                connection.execute(tables.locks.shared("append", asked))
            claims = {
                epoch: connection.execute(
                    _CLAIM.format(ids_table(epoch)).encode(), (Ids(of), len(of)), binary=True
                )
                for epoch, of in asked.items()
                if of
            }
            found = connection.execute(_FIND.encode(), _columns(keys), binary=True)
        rows = self._rows_of(keys, found.fetchall())
        return {epoch: _new_ids(cursor) for epoch, cursor in claims.items()}, rows

    def _rows_of(
        self, keys: Collection[_Key], found: list[tuple[Any, ...]]
    ) -> dict[_Key, BatchRow]:
        """Return the open row of each batch; make it, or open it again, where it is not there."""
        rows = {(row.batch, row.size): row for row in sound_rows(found)}
        missing = sorted(keys - rows.keys())
        for batch, size in missing:
            self.tables.insert(BatchRow(random_number(self.tables.random_bytes), batch, size))
        closed = sorted(row.number for row in rows.values() if not row.open)
        if closed:
            for row in self.tables.judged("batch = ANY(?)", [closed], lock=True):
                if row is not None and not row.open:
                    self.tables.update(row.reopened())
        if missing:
            # Where another collector was first, its row has committed: it is seen now.
            again = self.tables.connection.execute(_FIND.encode(), _columns(keys), binary=True)
            rows = {(row.batch, row.size): row for row in sound_rows(again.fetchall())}
        return rows

    def _write(self, records: Grouped, rows: Mapping[_Key, BatchRow], counters: Counters) -> None:
        """Write chunks, count them, and commit."""
        connection, tables = self.tables.connection, self.tables
        slot = tables.slot
        parts: dict[int, int] = {}
        with unknown_if_lost(connection), connection.pipeline():
            for key, data in records.items():
                number = rows[key].number
                statement = put_statement(chunks_table(key[0].epoch))
                parts[number] = len(data) // key[1]
                for piece in pieces(shuffled(data, key[1], tables.random_bytes), key[1]):
                    name = tables.random_bytes(KEY_BYTES)
                    values = (number, name, chunk_sum(number, name, piece), piece)
                    connection.execute(statement, values, binary=True)
            numbers = sorted(parts)
            counted = (slot, numbers, [parts[n] for n in numbers])
            connection.execute(_COUNT_ALL, (*counted, *tables.counted(counters)))
            commit = connection.execute("COMMIT")
        check_committed(commit)


def _columns(keys: Iterable[_Key]) -> tuple[object, ...]:
    """Return the values that find the rows of batches: an array for each column."""
    wanted = list(keys)
    batches = [batch for batch, _ in wanted]
    return (
        [b.question for b in batches],
        [b.version for b in batches],
        [b.digest for b in batches],
        [b.epoch for b in batches],
        [size for _, size in wanted],
        [b.segments for b in batches],
        any(b.simulated for b in batches),
    )


def _new_ids(cursor: psycopg.Cursor[Any]) -> set[bytes] | None:
    """Return the ids that were new, None if all were."""
    result = cursor.pgresult
    array = None if result is None else result.get_value(0, 1)
    ((count, _),) = cursor.fetchall()
    if array is None:
        return set() if not count else None
    return read_ids(array)
