"""Writing reports: the statements of one transaction. The caller opens and commits it."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence

from deniable.errors import InvalidParameter
from deniable.protocol import Report
from deniable.store.base import ACCEPTED, DUPLICATE, SIMULATED, Appended, Batch, Counters
from deniable.store.batches import BatchRow, find_row
from deniable.store.chunks import insert_chunk
from deniable.store.schema import claim_statement
from deniable.store.shuffle import RandomBytes, shuffled

CHUNK_BYTES = 2**20
"""The most bytes of the records of a chunk, unless a single record is longer."""


def append_reports(
    connection: sqlite3.Connection,
    reports: Sequence[Report],
    random_bytes: RandomBytes,
    *,
    simulated: bool = False,
) -> Appended:
    """Write the new reports of a group as one shuffled chunk per batch, and count them.

    `simulated` marks all of them as invented people's.

    Cost: one insertion into a tree of ids per report.
    """
    new = _claim_ids(connection, reports)
    kept = SIMULATED if simulated else ACCEPTED
    counts: Counter[tuple[str, str]] = Counter()
    # Keyed by plain tuples: making and comparing a Batch for each report would cost as much as
    # writing it.
    records: defaultdict[tuple[str, int, bytes, int, int, str], list[bytes]] = defaultdict(list)
    for report, is_new in zip(reports, new, strict=True):
        counts[report.question, kept if is_new else DUPLICATE] += 1
        if is_new:
            record = report.record
            batch = (
                report.question,
                report.version,
                report.digest,
                report.epoch,
                len(record),
                report.segments,
            )
            records[batch].append(record)
    for (question, version, digest, epoch, size, segments), parts in records.items():
        of = Batch(question, version, digest, epoch, simulated, segments)
        append_chunks(connection, of, b"".join(parts), size, random_bytes)
    add_counters(connection, counts)
    accepted = sum(new)
    return Appended(accepted, len(new) - accepted, new)


def append_chunks(
    connection: sqlite3.Connection,
    batch: Batch,
    records: bytes,
    size: int,
    random_bytes: RandomBytes,
) -> int:
    """Write records of one batch, shuffled together, and return their number.

    Raises:
        InvalidParameter: if a record would be empty or cut.
    """
    count, rest = divmod(len(records), size) if size > 0 else (0, 1)
    if rest:
        raise InvalidParameter(
            f"The records must be whole, each of {size} bytes (1 or more). "
            f"Got {len(records):,} bytes."
        )
    if not count:
        return 0
    found = find_row(connection, batch, size)
    row = found or BatchRow(random_number(random_bytes), batch, size)
    for part in pieces(shuffled(records, size, random_bytes), size):
        insert_chunk(connection, row.number, part, random_bytes)
    if found:
        row.more(count).update(connection)
    else:
        row.more(count).insert(connection)
    return count


def pieces(records: bytes, size: int) -> list[bytes]:
    """Cut records into pieces of at most CHUNK_BYTES, between records."""
    step = max(1, CHUNK_BYTES // size) * size
    return [records[start : start + step] for start in range(0, len(records), step)]


def random_number(random_bytes: RandomBytes) -> int:
    """Return a random batch number: 63 bits, so that two never meet."""
    return int.from_bytes(random_bytes(8), "little") >> 1


def add_counters(connection: sqlite3.Connection, counters: Counters) -> None:
    """Add to the counters."""
    connection.executemany(
        "INSERT INTO counters (question, reason, count) VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(question, reason, count) for (question, reason), count in counters.items()],
    )


def _claim_ids(connection: sqlite3.Connection, reports: Sequence[Report]) -> tuple[bool, ...]:
    """Write the ids, and say of each report whether its id was new in its epoch."""
    epochs = {report.epoch for report in reports}
    statements = {epoch: claim_statement(connection, epoch) for epoch in epochs}
    return tuple(
        connection.execute(statements[report.epoch], (report.id,)).rowcount == 1
        for report in reports
    )
