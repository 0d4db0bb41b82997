"""Sums over the bytes of reports: each byte of a report stands for a number, or takes a weight.

Model: with b_ij byte j of report i and c(i) its group, two sums that are each other's transpose:

    summed_bytes   sum over bytes j of table[c(i), j, b_ij]               a number per report
    added_bytes    sum of weights[i] over reports i of group c, b_ij = v  a number per c, j and v

A byte that holds several bits or digits stands for any sum over them: 256 sums are made once per
group and byte, and a report takes one look-up for all that a byte holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Groups = NDArray[np.uint16]
Numbers = NDArray[np.floating[Any]]


def summed_bytes(packed: Bytes, groups: Groups, table: Numbers) -> Numbers:
    """Return for each report the sum of what its bytes stand for.

    Cost: one look-up and addition per report and byte.

    Args:
        packed: reports x bytes.
        groups: of the reports, below the length of `table`.
        table: groups x bytes x 256.
    """
    found = np.empty(len(packed))
    _sum(packed, groups, np.ascontiguousarray(table), found)
    return found


def added_bytes(packed: Bytes, groups: Groups, weights: Numbers, count: int) -> Numbers:
    """Return for each group, byte and value the sum of the weights of the reports that have it.

    Cost: one addition per report and byte, and 256 numbers per group and byte.

    Args:
        packed: reports x bytes.
        groups: of the reports, below `count`.
        weights: of the reports.
        count: the number of groups.

    Returns:
        groups x bytes x 256.
    """
    table = np.zeros((count, packed.shape[1], 256))
    _add(packed, groups, weights, table)
    return table


def summed_bits(packed: Bytes, groups: Groups, values: Numbers) -> Numbers:
    """Return for each report the sum of its group's values over the bits that it has set.

    Cost: as `summed_bytes`.

    Args:
        packed: reports, bit i in byte i // 8 at weight 2^(i % 8).
        groups: of the reports, below the length of `values`.
        values: groups x bits.
    """
    count, bits = values.shape
    padded = np.zeros((count, 8 * packed.shape[1]))
    padded[:, :bits] = values
    every = np.arange(256, dtype=np.uint8)[:, None]
    ones = np.unpackbits(every, axis=1, bitorder="little").astype(np.float64)
    return summed_bytes(packed, groups, padded.reshape(count, -1, 8) @ ones.T)


@njit
def _sum(packed: Bytes, groups: Groups, table: Numbers, found: Numbers) -> None:
    for i in range(found.size):
        own = table[groups[i]]
        total = 0.0
        for j in range(packed.shape[1]):
            total += own[j, packed[i, j]]
        found[i] = total


@njit
def _add(packed: Bytes, groups: Groups, weights: Numbers, table: Numbers) -> None:
    for i in range(weights.size):
        own = table[groups[i]]
        for j in range(packed.shape[1]):
            own[j, packed[i, j]] += weights[i]
