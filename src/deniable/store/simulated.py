"""Simulated crowds in the store: kept from real reports, noted by their seed, removed together.

The statements of one transaction each. The caller opens and commits it.
"""

from __future__ import annotations

from deniable._words import plural
from deniable.errors import InvalidParameter, StoreError
from deniable.store.base import SIMULATED, Batch
from deniable.store.rows import BatchRow
from deniable.store.tables import Tables


def note_simulation(
    tables: Tables, batch: Batch, seed: int, people: int, *, among_real: bool
) -> None:
    """Note that a crowd enters, unless it would mix with real reports or enter twice."""
    if not batch.simulated:
        raise InvalidParameter("A simulated crowd needs a batch that is marked as simulated.")
    real = sum(row.reports for row in tables.rows() if not row.batch.simulated)
    if real and not among_real:
        raise StoreError(
            f"The store holds {plural(real, 'real report')}, and simulated ones would be "
            "counted with "
            "them. Simulate into a store of its own (--data simulated), or say "
            "--into-real-store; deniable simulate --remove takes them out again."
        )
    # The seed is text: a database's integers end at 2^63.
    key = (batch.question, batch.version, batch.digest, str(seed))
    # The note is written before it is looked for: a second process that has the same seed waits
    # here for the first.
    made = tables.execute(
        "INSERT INTO simulations (question, version, digest, seed, epoch, people)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING people",
        (*key, batch.epoch, people),
    )
    if not made:
        ((found, epoch),) = tables.execute(
            "SELECT people, epoch FROM simulations"
            " WHERE question = ? AND version = ? AND digest = ? AND seed = ?",
            key,
        )
        raise StoreError(
            f"Seed {seed} was simulated for {batch.question!r} already: {found:,} people, in "
            f"epoch {epoch}. The same people would be counted twice. Choose another seed, or "
            "take all simulated reports out first: deniable simulate --remove"
        )


def forget_simulations(tables: Tables) -> list[BatchRow]:
    """Take the simulated batches out of sight, with their counters and notes; return them."""
    found = [row for row in tables.rows() if row.batch.simulated]
    tables.hold(found)
    found = [row for row in tables.rows() if row.batch.simulated]  # some came, perhaps
    for row in found:
        tables.forget(row)
    tables.execute("DELETE FROM counters WHERE reason = ?", (SIMULATED,))
    tables.execute("DELETE FROM simulations")
    return found
