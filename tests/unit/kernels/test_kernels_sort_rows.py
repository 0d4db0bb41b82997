from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.sort_rows import sort_rows


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 17, 500, 30_000])
@pytest.mark.parametrize("largest", [1, 5, 2**20, 2**40, 2**64 - 1])
def test_rows_are_sorted_along_with_their_keys(rows, largest, rng):
    keys = rng.integers(0, largest, rows, np.uint64, endpoint=True)
    if largest < rows / 10:  # many rows of one key: each is moved past all others of its bucket
        keys = keys[:500]
    tables = tuple(rng.integers(0, 256, (len(keys), width), np.uint8) for width in (3, 18))
    together = np.column_stack([keys.view(np.uint8).reshape(-1, 8), *tables])
    # The slow twin: whole rows in the order of their keys, those of one key in any order.
    expected = sorted(
        map(bytes, together), key=lambda row: (int.from_bytes(row[:8], "little"), row)
    )
    order = np.argsort(keys, kind="stable")
    rising = keys[order]
    sort_rows(keys, tables)
    assert np.array_equal(keys, rising)
    found = np.column_stack([keys.view(np.uint8).reshape(-1, 8), *tables])
    assert sorted(map(bytes, found), key=lambda row: (int.from_bytes(row[:8], "little"), row)) == (
        expected
    )


def test_different_keys_have_one_order(rng):
    keys = rng.permutation(5_000).astype(np.uint64) * np.uint64(10**12)
    rows = rng.integers(0, 256, (5_000, 7), np.uint8)
    expected = rows[np.argsort(keys)]
    sort_rows(keys, (rows,))
    assert np.array_equal(rows, expected)
