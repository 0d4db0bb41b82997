"""Writing reports to SQLite: the statements of one transaction. The caller opens and commits it."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.protocol import Report
from deniable.store.base import Appended, Batch
from deniable.store.grouping import first_of_each, grouped, number_of_records, pieces
from deniable.store.rows import BatchRow
from deniable.store.shuffle import shuffled
from deniable.store.sqlite.ids import Ids
from deniable.store.sqlite.tables import SqliteTables
from deniable.store.tables import random_number


def append_reports(
    tables: SqliteTables, ids: Ids, reports: Sequence[Report], *, simulated: bool = False
) -> Appended:
    """Write the new reports of a group as one shuffled chunk per batch, and count them.

    `simulated` marks all of them as invented people's.

    Cost: the ids of a group are one row, and a share of merging it with earlier ones.
    """
    claimed: dict[int, set[bytes]] = {}
    for epoch in {report.epoch for report in reports}:
        wanted = [report.id for report in reports if report.epoch == epoch]
        claimed[epoch] = ids.claim(tables.connection, epoch, wanted)
    new = first_of_each(reports, claimed)
    records, counts = grouped(reports, new, simulated)
    for (batch, size), parts in records.items():
        append_chunks(tables, batch, parts, size)
    tables.add_counters(counts)
    accepted = sum(new)
    return Appended(accepted, len(new) - accepted, new)


def append_chunks(tables: SqliteTables, batch: Batch, records: bytes, size: int) -> int:
    """Write records of one batch, shuffled together, and return their number.

    Raises:
        InvalidParameter: if a record would be empty or cut.
    """
    count = number_of_records(records, size)
    if not count:
        return 0
    found = _find_row(tables, batch, size)
    row = found or BatchRow(random_number(tables.random_bytes), batch, size)
    for part in pieces(shuffled(records, size, tables.random_bytes), size):
        tables.insert_chunk(row, part)
    if found:
        tables.update(row.more(count))
    else:
        tables.insert(row.more(count))
    return count


def _find_row(tables: SqliteTables, batch: Batch, size: int) -> BatchRow | None:
    """Return the row of a batch whose records have a size, if there is one."""
    found = tables.rows(
        "question = ? AND version = ? AND digest = ? AND epoch = ? AND size = ? AND simulated = ?"
        " AND segments = ?",
        (
            batch.question,
            batch.version,
            batch.digest,
            batch.epoch,
            size,
            int(batch.simulated),
            batch.segments,
        ),
    )
    return found[0] if found else None
