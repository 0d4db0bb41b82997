"""Add the weights of reports over every pair of bits that they have set.

Model: with b_is bit s of report i and w_i its weight, the sums over i of w_i b_is b_it: the matrix
B' diag(w) B. Two bytes of a report have one of 65,536 values: for each pair of bytes the weights
are added up by value, and the sums of 8 x 8 pairs of bits follow from those. So a report costs an
addition for 64 pairs, and no multiplication.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.floating[Any]]

_FEW = 2**12
"""Below so many reports the plain product is faster than tables of 65,536 values."""


def paired_bits(packed: Bytes, weights: Numbers, bits: int) -> Numbers:
    """Return for each pair of bits the sum of the weights of the reports that have both set.

    Cost: with B bytes B (B + 1) / 2 additions per report, and as many times 65,536 in all; half a
    megabyte, and a copy of the reports.

    Args:
        packed: reports, bit i in byte i // 8 at weight 2^(i % 8), padding bits 0.
        weights: of the reports.
        bits: k.

    Returns:
        A symmetric k x k array; on its diagonal the sums of single bits.
    """
    if len(packed) < _FEW:
        ones = np.unpackbits(packed, axis=1, count=bits, bitorder="little").astype(np.float64)
        return np.asarray((ones * weights[:, None]).T @ ones)
    width = packed.shape[1]
    found = np.zeros((width, 8, width, 8))
    table = np.empty((256, 256))
    _pair(np.ascontiguousarray(packed.T), np.ascontiguousarray(weights), table, found)
    upper = np.triu(found.reshape(8 * width, 8 * width)[:bits, :bits])
    return np.asarray(upper + np.triu(upper, 1).T)


@njit
def _pair(columns: Bytes, weights: Numbers, table: Numbers, found: Numbers) -> None:
    for j in range(columns.shape[0]):
        for k in range(j, columns.shape[0]):
            one, two = columns[j], columns[k]
            table[:] = 0.0
            for i in range(weights.size):
                table[one[i], two[i]] += weights[i]
            _spread(table, found[j, :, k])


@njit
def _spread(table: Numbers, found: Numbers) -> None:
    """Add up the sums of all pairs of bytes that have bit s and bit t set, for every s and t."""
    for s in range(8):
        half = np.zeros(256)
        for one in range(256):
            if (one >> s) & 1:
                half += table[one]
        for t in range(8):
            for two in range(256):
                if (two >> t) & 1:
                    found[s, t] += half[two]
