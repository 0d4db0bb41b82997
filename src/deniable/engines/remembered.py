"""Counts of closed epochs, remembered in the store by whoever first asked.

What is closed does not change, so that its counts need not be made again: a page over a hundred
closed epochs then costs little more than the open one. The key of a cell's counts is made of the
numbers and reports of its batches; a late report, another floor or removed reports make another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from deniable.engines.accumulated import Accumulated, Cell, Part, no_counts
from deniable.engines.counts_file import FORMAT, cells_of, to_bytes
from deniable.engines.selection import Selection, seen_as
from deniable.errors import InvalidParameter, StoreError
from deniable.protocol import Question
from deniable.store.base import Store, Tally

_KEY_BYTES = 16


@dataclass(frozen=True)
class Remembered:
    """The closed cells of a question, and what is known of them.

    Attributes:
        parts: the counts that were kept.
        keys: of every closed cell, the key of its counts and the number of one of its batches.
        epochs: the epochs that must be read: those with cells that are not known.
        ignored: reports under the same id and version but with another digest.
    """

    parts: Mapping[Cell, Part] = field(default_factory=dict)
    keys: Mapping[Cell, tuple[bytes, int]] = field(default_factory=dict)
    epochs: tuple[int, ...] = ()
    ignored: int = 0

    @classmethod
    def of(cls, store: Store, question: Question, selection: Selection) -> Remembered:
        """Look up the closed cells of what is asked about."""
        tallies = store.tallies()
        names = seen_as(tallies, question, selection.floor)
        cells: dict[Cell, list[Tally]] = {}
        for tally in tallies:
            name = names.get(tally.batch)
            if name is not None and selection.takes(tally.batch.epoch, name):
                cells.setdefault(Cell(tally.batch.epoch, name), []).append(tally)
        keys = {
            cell: (_key(question, cell, each), min(tally.stamp for tally in each))
            for cell, each in cells.items()
            if not any(tally.open for tally in each)
        }
        found = store.remembered([key for key, _ in keys.values()])
        parts, zero = {}, no_counts(question)
        for cell, (key, _) in keys.items():
            with suppress(InvalidParameter):  # damaged: counted again, and written over
                if key in found:
                    parts[cell] = cells_of(found[key], question, zero)[cell]
        missing = sorted({cell.epoch for cell in cells if cell not in parts})
        return cls(parts, keys, tuple(missing), _ignored(tallies, question, selection))

    def remember(self, store: Store, counted: Accumulated) -> None:
        """Keep the counts of closed cells that were not known, where they are worth their bytes.

        A store that cannot be written goes without.
        """
        question, size, new = counted.question, counted.question.record_size, {}
        for cell, (key, batch) in self.keys.items():
            part = counted.cells.get(cell)
            if part is None or cell in self.parts:
                continue
            data = to_bytes(Accumulated.of_cells(question, {cell: part}))
            if len(data) < part.n * size:
                new[key] = (batch, data)
        if new:
            with suppress(StoreError):
                store.remember(new)


def _key(question: Question, cell: Cell, tallies: list[Tally]) -> bytes:
    batches = sorted((tally.stamp, tally.reports) for tally in tallies)
    named = repr((FORMAT, question.digest, cell.epoch, cell.segments, batches)).encode()
    return hashlib.blake2b(named, digest_size=_KEY_BYTES).digest()


def _ignored(tallies: list[Tally], question: Question, selection: Selection) -> int:
    """Return the number of reports under the same id and version but with another digest."""
    first, last = selection.first_epoch, selection.last_epoch
    return sum(
        tally.reports
        for tally in tallies
        if (tally.batch.question, tally.batch.version) == (question.id, question.version)
        and tally.batch.digest != question.digest
        and (first is None or tally.batch.epoch >= first)
        and (last is None or tally.batch.epoch <= last)
    )
