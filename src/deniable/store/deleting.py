"""Deleting reports: out of sight and out of the counters in one transaction, overwritten after it.

A batch that is open keeps its row, empty and under a new number: its ids stay until it is closed,
so that a report that was deleted and is sent once more is still found as a duplicate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from deniable.store.base import ACCEPTED, SIMULATED
from deniable.store.counted import forget_deleted
from deniable.store.rows import BatchRow
from deniable.store.tables import Tables


def take_out(tables: Tables, wanted: Callable[[BatchRow], bool]) -> list[BatchRow]:
    """Take batches out of sight inside a transaction; return them as they were."""
    tables.hold([row for row in tables.rows() if wanted(row)])
    found = [row for row in tables.rows() if wanted(row)]  # some came meanwhile, perhaps
    counts: Counter[tuple[str, str]] = Counter()
    for row in found:
        counts[row.batch.question, SIMULATED if row.batch.simulated else ACCEPTED] -= row.reports
        tables.forget(row)
        if row.open:
            tables.insert(BatchRow(tables.renumbered(row).number, row.batch, row.size, ran=row.ran))
        if row.batch.simulated:
            _forget_seeds(tables, row)
    tables.add_counters(counts)
    forget_deleted(tables)
    return [row for row in found if row.reports]


def _forget_seeds(tables: Tables, row: BatchRow) -> None:
    """Forget which crowds were simulated in a batch: the same one may enter again."""
    batch = row.batch
    tables.execute(
        "DELETE FROM simulations WHERE question = ? AND version = ? AND digest = ? AND epoch = ?",
        (batch.question, batch.version, batch.digest, batch.epoch),
    )
