"""Reading the SQLite store. Every call sees one moment of it, on a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deniable.store.base import Batch, Chunk, Tally
from deniable.store.connection import reading

_WANTED = """
    SELECT batch, version, digest, epoch, size, simulated FROM batches
    WHERE question = ?1 AND (?2 IS NULL OR version = ?2)
        AND (?3 IS NULL OR epoch >= ?3) AND (?4 IS NULL OR epoch <= ?4)
"""


def read_chunks(
    path: Path,
    question: str,
    version: int | None,
    first_epoch: int | None,
    last_epoch: int | None,
) -> Iterator[Chunk]:
    """Yield the chunks of a question, one at a time in memory.

    Edge cases: an unknown question has no chunks. The log cannot be truncated before the iterator
    is exhausted or closed.
    """
    with reading(path) as connection:
        wanted = connection.execute(_WANTED, (question, version, first_epoch, last_epoch))
        for number, its_version, digest, epoch, size, simulated in wanted.fetchall():
            batch = Batch(question, its_version, digest, epoch, bool(simulated))
            rows = connection.execute("SELECT records FROM chunks WHERE batch = ?", (number,))
            for (records,) in rows:
                yield Chunk(batch, records, len(records) // size)


def read_tallies(path: Path) -> list[Tally]:
    """Return the number of reports and bytes of each batch, sorted."""
    with reading(path) as connection:
        rows = connection.execute(
            "SELECT question, version, digest, epoch, simulated, sum(reports), sum(reports * size),"
            " max(batch)"
            " FROM batches GROUP BY question, version, digest, epoch, simulated"
            " ORDER BY question, version, digest, epoch, simulated"
        )
        return [
            Tally(Batch(question, version, digest, epoch, bool(simulated)), reports, size, stamp)
            for question, version, digest, epoch, simulated, reports, size, stamp in rows
        ]


def read_counters(path: Path) -> dict[tuple[str, str], int]:
    """Return the counters that are above zero."""
    with reading(path) as connection:
        rows = connection.execute("SELECT question, reason, count FROM counters WHERE count > 0")
        return {(question, reason): count for question, reason, count in rows}
