"""The rows with the smallest keys of many, a table of bytes per field, held once.

    rows and keys, some at a time -> tables that fill up -> only the smallest -> sorted in place

Rows are copied into tables of their own fields as they come, and put in order where they are: a
second copy of ten million reports is what a sample of them would otherwise need.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.store.archive.reading import Bytes

Keys = NDArray[np.uint64]

_ROOM = 2**20
"""Rows beyond those that are kept, before the largest keys are left out."""


class Smallest:
    """The rows with the smallest keys, so far.

    Guarantees: the same rows in the same order, however they came.

    Cost: the bytes of as many rows as are kept, and eight for the key of each; a million rows more
        where some are left out. Memory that was asked for is used only when rows come.

    Args:
        most: the most rows.
        widths: the bytes of a row in each table.
        expected: about how many will come.

    Attributes:
        widths: as given.
    """

    def __init__(self, most: int, widths: Sequence[int], expected: int) -> None:
        self._most, self._largest = most, 2**64 - 1
        self._used, self.widths = 0, tuple(widths)
        room = min(expected, most + _ROOM)
        self._keys: Keys = np.empty(room, np.uint64)
        self._columns = tuple(np.empty((room, width), np.uint8) for width in widths)

    def add(self, parts: Sequence[Bytes], keys: Keys) -> None:
        """Add rows, as the bytes of each table, with their keys."""
        for start in range(0, len(keys), _ROOM):
            some = slice(start, start + _ROOM)
            self._add([part[some] for part in parts], keys[some])

    def sorted(self) -> tuple[tuple[Bytes, ...], Keys]:
        """Return the rows in the order of their keys, and these; nothing may be added later."""
        # Imported here because Numba takes most of a second to load.
        from deniable.kernels.sort_rows import sort_rows

        if self._used > self._most:
            self._cut()
        keys, columns = self._keys[: self._used], tuple(one[: self._used] for one in self._columns)
        sort_rows(keys, columns)
        return tuple(one[: self._most] for one in columns), keys[: self._most]

    def _add(self, parts: Sequence[Bytes], keys: Keys) -> None:
        if self._largest < 2**64 - 1:  # most of those that come late are not among the smallest
            small = keys <= np.uint64(self._largest)
            parts, keys = [part[small] for part in parts], keys[small]
        if self._used + len(keys) > len(self._keys) and self._used > self._most:
            self._cut()
        if self._used + len(keys) > len(self._keys):
            self._grow(self._used + len(keys))
        some = slice(self._used, self._used + len(keys))
        self._keys[some] = keys
        for column, part in zip(self._columns, parts, strict=True):
            column[some] = part
        self._used += len(keys)

    def _grow(self, rows: int) -> None:
        """Make room for more rows than were expected."""
        room = max(rows, 2 * len(self._keys))
        self._keys = np.concatenate([self._keys, np.empty(room - len(self._keys), np.uint64)])
        self._columns = tuple(
            np.concatenate([one, np.empty((room - len(one), one.shape[1]), np.uint8)])
            for one in self._columns
        )

    def _cut(self) -> None:
        """Leave out the rows of the largest keys, moving the others together."""
        if self._most == 0:
            self._used = 0
            return
        cut = np.partition(self._keys[: self._used], self._most - 1)[self._most - 1]
        self._largest, kept = int(cut), 0
        for start in range(0, self._used, _ROOM):
            some = slice(start, min(start + _ROOM, self._used))
            small = self._keys[some] <= cut
            end = kept + int(np.count_nonzero(small))
            self._keys[kept:end] = self._keys[some][small]
            for column in self._columns:
                column[kept:end] = column[some][small]
            kept = end
        self._used = kept
