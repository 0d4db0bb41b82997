"""Writing reports: the statements of one transaction. The caller opens and commits it."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence

from deniable.errors import InvalidParameter
from deniable.protocol import Report
from deniable.store.base import ACCEPTED, DUPLICATE, SIMULATED, Appended, Batch, Counters
from deniable.store.schema import claim_statement
from deniable.store.shuffle import RandomBytes, shuffled

CHUNK_BYTES = 2**20
"""The records of a chunk take at most so many bytes (or are a single record)."""

KEY_BYTES = 16


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
    records: defaultdict[tuple[Batch, int], list[bytes]] = defaultdict(list)
    for report, is_new in zip(reports, new, strict=True):
        counts[report.question, kept if is_new else DUPLICATE] += 1
        if is_new:
            batch = Batch(report.question, report.version, report.digest, report.epoch, simulated)
            records[batch, len(report.record)].append(report.record)
    for (batch, size), parts in records.items():
        append_chunks(connection, batch, b"".join(parts), size, random_bytes)
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
    number = _batch_number(connection, batch, size, random_bytes)
    mixed = shuffled(records, size, random_bytes)
    for part in pieces(mixed, size):
        insert_chunk(connection, number, part, random_bytes)
    connection.execute(
        "UPDATE batches SET reports = reports + ?, open = 1 WHERE batch = ?", (count, number)
    )
    return count


def pieces(records: bytes, size: int) -> list[bytes]:
    """Cut records into pieces of at most CHUNK_BYTES, between records."""
    step = max(1, CHUNK_BYTES // size) * size
    return [records[start : start + step] for start in range(0, len(records), step)]


def insert_chunk(
    connection: sqlite3.Connection, number: int, records: bytes, random_bytes: RandomBytes
) -> None:
    """Write one chunk under a random key."""
    connection.execute(
        "INSERT INTO chunks (batch, key, records) VALUES (?, ?, ?)",
        (number, random_bytes(KEY_BYTES), records),
    )


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


def _batch_number(
    connection: sqlite3.Connection, batch: Batch, size: int, random_bytes: RandomBytes
) -> int:
    """Return the number of a batch, a new random one if it is the first of its kind."""
    key = (batch.question, batch.version, batch.digest, batch.epoch, size, batch.simulated)
    found = connection.execute(
        "SELECT batch FROM batches WHERE question = ? AND version = ? AND digest = ?"
        " AND epoch = ? AND size = ? AND simulated = ?",
        key,
    ).fetchone()
    if found:
        return int(found[0])
    number = random_number(random_bytes)
    connection.execute(
        "INSERT INTO batches (batch, question, version, digest, epoch, size, simulated, reports)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
        (number, *key),
    )
    return number
