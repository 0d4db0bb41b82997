"""The tables of a store as reading, closing and checking see them, whatever database keeps them.

Both databases speak the same SQL where nothing is at stake; a statement here has `?` for its
values. What differs (where chunks lie, how appending is kept out, how ids are dropped) is a method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from deniable.store.base import Batch, Counters
from deniable.store.rows import BatchRow, Damaged, checked, sound_row
from deniable.store.shuffle import RandomBytes
from deniable.store.sums import chunk_sum

KEY_BYTES = 16
_NOWHERE = Batch("", 0, b"", 0)

Transaction = Callable[[], AbstractContextManager[object]]
"""Opens one durable transaction each time it is called."""


class Tables(ABC):
    """The tables of a store on one connection. What writes runs in a transaction of the caller's.

    Args:
        random_bytes: where keys and numbers come from.
    """

    errors: tuple[type[Exception], ...]
    """The errors that the database raises when it cannot do something."""

    in_place: bool = False
    """True if a batch is shuffled where it lies; then there are `keys` and `take`."""

    def __init__(self, random_bytes: RandomBytes) -> None:
        self.random_bytes = random_bytes

    @abstractmethod
    def execute(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement with `?` for its values, and return the rows that it gives."""

    @abstractmethod
    def error_name(self, error: Exception) -> str:
        """Return the database's name of an error, without anything of the data."""

    @abstractmethod
    def moment(self) -> AbstractContextManager[object]:
        """Let the statements of a block see one moment of the store."""

    @abstractmethod
    def has(self, table: str) -> bool:
        """Tell whether a table was made that is made when it is first needed."""

    @abstractmethod
    def make(self, statement: str) -> None:
        """Make a table, unless it is there; several processes may come at once."""

    @abstractmethod
    def hold(self, rows: Sequence[BatchRow]) -> None:
        """Keep others from appending to these batches until the transaction ends."""

    @abstractmethod
    def keep(self, rows: Sequence[BatchRow]) -> bool:
        """Keep the chunks that a reader of these rows needs; False if some are gone by now."""

    # --- batches

    @abstractmethod
    def select(
        self, where: str, values: Sequence[object], lock: bool
    ) -> Iterable[tuple[tuple[Any, ...], int]]:
        """Return the columns of the chosen rows, each with what is counted beside it."""

    def judged(
        self, where: str = "TRUE", values: Sequence[object] = (), *, lock: bool = False
    ) -> Iterator[BatchRow | None]:
        """Yield the rows that a condition chooses, None for each that does not fit its sum.

        With `lock`, nobody changes them before the transaction ends.
        """
        for columns, beside in self.select(where, values, lock):
            yield sound_row(columns, beside)

    def rows(self, where: str = "TRUE", values: Sequence[object] = ()) -> list[BatchRow]:
        """Return the rows that a condition chooses.

        Raises:
            Damaged: if one of them does not fit its sum.
        """
        return checked(self.judged(where, values))

    def update(self, row: BatchRow, number: int | None = None) -> None:
        """Write a row over the one with this number, by default its own."""
        *_, segments, reports, is_open, ran, found = row.stored()
        self.execute(
            "UPDATE batches SET batch = ?, segments = ?, reports = ?, open = ?, ran = ?, sum = ?"
            " WHERE batch = ?",
            (
                row.number,
                segments,
                reports,
                bool(is_open),
                ran,
                found,
                row.number if number is None else number,
            ),
        )

    @abstractmethod
    def insert(self, row: BatchRow) -> None:
        """Write a row as a new one."""

    def forget(self, row: BatchRow) -> None:
        """Delete a row; its chunks are of no batch then."""
        self.execute("DELETE FROM batches WHERE batch = ?", (row.number,))

    @abstractmethod
    def delete(self, row: BatchRow) -> None:
        """Delete a row with its chunks."""

    # --- chunks

    @abstractmethod
    def put(self, row: BatchRow, key: bytes, found: bytes, records: bytes) -> None:
        """Write one chunk of a batch that is being closed, with its sum."""

    @abstractmethod
    def chunks(
        self, row: BatchRow, keys: tuple[bytes, bytes] | None = None
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Yield (key, sum, records) of a batch's chunks, perhaps of a range of keys only."""

    @abstractmethod
    def lengths(self, row: BatchRow, *, removable: bool = False) -> Iterable[tuple[bytes, int]]:
        """Return (key, bytes of records) of a batch's chunks, rising by key.

        With `removable`, those that `remove` deletes; others go with their table.
        """

    def insert_chunk(self, row: BatchRow, records: bytes) -> None:
        """Write one chunk under a random key."""
        key = self.random_bytes(KEY_BYTES)
        self.put(row, key, chunk_sum(row.number, key, records), records)

    def checked_records(
        self, row: BatchRow, keys: tuple[bytes, bytes] | None = None
    ) -> Iterator[bytes]:
        """Yield the records of each chunk of a batch.

        Raises:
            Damaged: at the first chunk that does not fit its sum.
        """
        for key, expected, records in self.chunks(row, keys):
            if not is_sound(row.number, key, expected, records):
                raise Damaged("one of its chunks does not fit its sum")
            yield records

    @abstractmethod
    def stored_bytes(self, row: BatchRow) -> int:
        """Return the bytes of a batch's records; no record is read for it."""

    @abstractmethod
    def unowned(self) -> Iterator[BatchRow]:
        """Yield the numbers of chunks of no batch, each as a row, that an interruption left."""

    @abstractmethod
    def remove(self, row: BatchRow, first: bytes, last: bytes) -> None:
        """Delete chunks under a number, unless a batch has it by now: the statement asks."""

    def keys(self, row: BatchRow, span: tuple[bytes, bytes]) -> list[tuple[Any, Any]]:
        """Return (key, sum) of a batch's chunks in a range of keys, as `chunks` yields them."""
        raise NotImplementedError

    def take(self, row: BatchRow, span: tuple[bytes, bytes]) -> None:
        """Delete chunks of a batch in a range of keys: their records are put back under others."""
        raise NotImplementedError

    @abstractmethod
    def give_back(self, transaction: Transaction) -> None:
        """Give room that nothing needs any more back to the system, step by step, if it can be."""

    def temporary(self, row: BatchRow) -> BatchRow:
        """Return the row under a fresh number, for chunks that are soon removed."""
        return self.renumbered(row)

    def renumbered(self, row: BatchRow) -> BatchRow:
        """Return the row under a fresh random number."""
        return replace(row, number=random_number(self.random_bytes))

    # --- ids and counters

    @abstractmethod
    def drop_ids(self, transaction: Transaction) -> None:
        """Drop the ids of every epoch in which nothing is open."""

    @abstractmethod
    def ids(self, epoch: int) -> list[bytes]:
        """Return the ids of an epoch that are kept."""

    @abstractmethod
    def put_ids(self, epoch: int, ids: Sequence[bytes]) -> None:
        """Write the ids of an epoch that has none."""

    @abstractmethod
    def add_counters(self, counters: Counters) -> None:
        """Add to the counters."""

    def counters(self) -> dict[tuple[str, str], int]:
        """Return the counters that are above zero."""
        found = self.execute(
            "SELECT question, reason, sum(count) FROM counters"
            " GROUP BY question, reason HAVING sum(count) > 0"
        )
        return {(question, reason): int(count) for question, reason, count in found}

    def leftovers(self) -> int:
        """Return the number of chunks of no batch."""
        return sum(sum(1 for _ in self.lengths(row)) for row in self.unowned())


def nowhere(number: int) -> BatchRow:
    """Return the row of a number that belongs to no batch."""
    return BatchRow(number, _NOWHERE, 1)


def is_sound(number: int, key: object, expected: object, records: object) -> bool:
    """Tell whether a chunk is what was written."""
    if not (isinstance(key, bytes) and isinstance(records, bytes)):
        return False  # damage can change the type of a column too
    return chunk_sum(number, key, records) == expected


def random_number(random_bytes: RandomBytes) -> int:
    """Return a random batch number: 63 bits, so that two never meet."""
    return int.from_bytes(random_bytes(8), "little") >> 1
