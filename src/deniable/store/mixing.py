"""Shuffling a batch where it lies, for a store that overwrites what it deletes.

Model. As in `closing.py`: a large batch is scattered into buckets, and each bucket is shuffled by
itself. Here every step takes chunks of the batch and puts the same records back in one
transaction. So the batch holds all its records at every moment, and is open until the end: what a
crash leaves is shuffled again next time, and nothing is left over.

What a step frees it fills: pages are written once for each pass, not once to be filled and once
more to be overwritten, and the file does not grow.

Parts of buckets lie under keys of their own, above all others. Records are read and permuted
outside of the transaction, which then asks whether they are still the same: others append
meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from deniable.store.rows import BatchRow, Damaged
from deniable.store.shuffle import scattered, shuffled
from deniable.store.sums import chunk_sum
from deniable.store.tables import KEY_BYTES, Tables, Transaction, is_sound

MAX_BUCKETS = 2**16
Span = tuple[bytes, bytes]
"""The first and the last key of some chunks."""

_PARTS = b"\xff" * 6
"""How the keys of parts of buckets begin; a random key does so once in 2^48."""
_ALL = (b"", b"\xff" * (KEY_BYTES + 1))


@dataclass(frozen=True)
class Mixing:
    """The work of shuffling batches, on a closer's connection."""

    tables: Tables
    transaction: Transaction
    merge_bytes: int

    def mix(self, row: BatchRow, spans: Iterable[Span]) -> bool:
        """Shuffle a batch; False if it changed under our hands.

        Args:
            row: the batch.
            spans: its chunks, in parts that fit into memory.
        """
        if row.bytes <= self.merge_bytes:
            return self._replace(row, _ALL, lambda records: self._shuffled(row, records))
        count = buckets_for(row.bytes, self.merge_bytes)

        def scatter(records: bytes) -> Iterable[tuple[bytes, bytes]]:
            random_bytes = self.tables.random_bytes
            for bucket, part in scattered(records, row.size, count, random_bytes):
                yield _part_key(bucket, random_bytes(8)), part

        return all(self._replace(row, span, scatter) for span in spans) and all(
            self._replace(row, _bucket(number), lambda records: self._shuffled(row, records))
            for number in range(count)
        )

    def is_done(self, row: BatchRow) -> bool:
        """Tell, inside a transaction, whether all that a batch holds has been shuffled."""
        parts = self.tables.keys(row, (_PARTS, _ALL[1]))
        return not parts and is_unchanged(self.tables, row)

    def _shuffled(self, row: BatchRow, records: bytes) -> Iterable[tuple[bytes, bytes]]:
        if records:
            mixed = shuffled(records, row.size, self.tables.random_bytes)
            yield self.tables.random_bytes(KEY_BYTES), mixed

    def _replace(
        self,
        row: BatchRow,
        span: Span,
        remade: Callable[[bytes], Iterable[tuple[bytes, bytes]]],
    ) -> bool:
        """Put chunks with the same records in the place of others; False if these have changed."""
        found = list(self.tables.chunks(row, span))
        if not all(is_sound(row.number, *each) for each in found):
            raise Damaged("one of its chunks does not fit its sum")
        made = list(remade(b"".join(records for _, _, records in found)))
        with self.transaction():
            same = self.tables.keys(row, span) == [(key, has) for key, has, _ in found]
            if not same or not is_unchanged(self.tables, row):
                return False
            self.tables.take(row, span)
            for key, records in made:
                self.tables.put(row, key, chunk_sum(row.number, key, records), records)
        return True


def buckets_for(size: int, merge_bytes: int) -> int:
    """Return how many buckets keep each of them within `merge_bytes`: a power of two."""
    wanted = -(-size // merge_bytes)
    return min(MAX_BUCKETS, 1 << (wanted - 1).bit_length())


def is_unchanged(tables: Tables, row: BatchRow) -> bool:
    """Tell whether a batch still has these reports. Collectors may have run meanwhile."""
    found = tables.rows("batch = ?", (row.number,))
    return [replace(now, ran=row.ran) for now in found] == [row]


def _part_key(bucket: int, rest: bytes) -> bytes:
    return _PARTS + bucket.to_bytes(2, "big") + rest


def _bucket(number: int) -> Span:
    return _part_key(number, bytes(8)), _part_key(number, b"\xff" * 8)
