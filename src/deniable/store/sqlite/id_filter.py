"""A filter of ids in memory: it says "never seen" for certain, and "seen" with few mistakes.

A Bloom filter [Blo70] whose bits for one id lie in one word of 64, so that a look costs one access
to memory. Tables of rising size stand beside each other: a full one stays as it is. With 32 bits
per id a full table takes about one stranger in 5,000 for a member; only the disk knows then.

The hash is keyed with random numbers of this process: nobody outside can choose ids that look like
known ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Hashed = tuple[Words, Words]
"""Of each id, a word's place, of 64 bits, and the bits in it."""

_BITS = 32
"""Bits of a filter for each id that it has room for."""
_FIRST, _GROWTH = 2**14, 4
_PLACES = np.array([58, 52, 46, 40, 34, 28, 22, 16], dtype=np.uint64)
"""Where the eight places of six bits stand in a hash."""


class IdFilter:
    """A set of ids that never forgets one, and sometimes takes a stranger for a member."""

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._keys = np.frombuffer(random_bytes(32), dtype=np.uint64) | np.uint64(1)
        self._tables: list[Words] = []
        self._room = 0

    @property
    def memory(self) -> int:
        """The bytes of its tables."""
        return sum(table.nbytes for table in self._tables)

    def holds(self, ids: Hashed) -> NDArray[np.bool_]:
        """Tell of each id whether it may have been added."""
        places, bits = ids
        found = np.zeros(len(places), dtype=bool)
        for table in self._tables:
            found |= (table[_index(places, table)] & bits) == bits
        return found

    def add(self, ids: Hashed) -> None:
        """Add ids; those that it holds already take no room."""
        strange = ~self.holds(ids)
        places, bits = (each[strange] for each in ids)
        if len(places) > self._room:
            # Rising sizes, so that an epoch has a handful of tables, whatever its size.
            largest = len(self._tables[-1]) * 64 // _BITS if self._tables else 0
            wanted = max(_FIRST, _GROWTH * largest, 2 * len(places))
            self._room = 1 << (wanted - 1).bit_length()
            self._tables.append(np.zeros(self._room * _BITS // 64, dtype=np.uint64))
        self._room -= len(places)
        while len(places):
            # Of two ids in one word, an assignment by index keeps the last: so it is done again.
            table = self._tables[-1]
            index = _index(places, table)
            table[index] |= bits
            lost = (table[index] & bits) != bits
            places, bits = places[lost], bits[lost]

    def hashed(self, ids: bytes) -> Hashed:
        """Return the hashes of ids of 16 bytes, one after the other."""
        words = np.frombuffer(ids, dtype=np.uint64).reshape(-1, 2)
        first, second, third, fourth = self._keys
        mixed: Any = words[:, 0] * first + words[:, 1] * second
        mixed = (mixed ^ (mixed >> np.uint64(32))) * third
        chosen = (mixed ^ (mixed >> np.uint64(29))) * fourth
        # All eight at once: of a single id, calls cost more than what they compute.
        each = np.uint64(1) << ((chosen[:, None] >> _PLACES) & np.uint64(63))
        return mixed, np.bitwise_or.reduce(each, axis=1)


def _index(places: Words, table: Words) -> NDArray[np.int64]:
    """Return the places in a table, whose size is a power of two: the highest bits of a hash."""
    return (places >> np.uint64(65 - len(table).bit_length())).astype(np.int64)
