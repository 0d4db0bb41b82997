"""Add the weights of reports over every pair of answers that their bytes stand for.

Model: byte j of report i has a value v, which stands for the numbers values[v, :] of the answers
that the byte holds. With A_ia the number of answer a and w_i the weight of report i, the sums over
i of w_i A_ia A_ib: the matrix A' diag(w) A. Two bytes of a report have one of 65,536 values: for
each pair of bytes the weights are added up by value, and what the pairs of answers in them sum to
follows from those. So a report costs one addition for 64 pairs of bits, and no multiplication.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.floating[Any]]

_FEW = 2**13
"""The least number of reports for which tables of up to 65,536 values beat the plain product."""


def paired_bytes(packed: Bytes, weights: Numbers, values: Numbers, answers: int) -> Numbers:
    """Return for each pair of answers the weighed sum of the product of their numbers.

    Cost: with B bytes B (B + 1) / 2 additions per report, and as many times the values squared in
    all; half a megabyte, and a copy of the reports.

    Args:
        packed: reports x bytes, each below the length of `values`.
        weights: of the reports, at least 0.
        values: what each value of a byte says of the answers that it holds: values x answers.
        answers: how many there are; the last byte may hold fewer than the others.

    Returns:
        A symmetric array, answers x answers.
    """
    width, each = packed.shape[1], values.shape[1]
    if len(packed) < _FEW:
        numbers = values[packed].reshape(len(packed), width * each)
        numbers *= np.sqrt(weights)[:, None]
        return np.asarray((numbers.T @ numbers)[:answers, :answers])
    columns, weights = np.ascontiguousarray(packed.T), np.ascontiguousarray(weights)
    found = np.zeros((width, each, width, each))
    table = np.empty((len(values), len(values)))
    for j in range(width):
        for k in range(j, width):
            table[:] = 0.0
            _pair(columns[j], columns[k], weights, table)
            # sum_i w_i A_ia A_ib = sum over values v, u of T_vu V_va V_ub, T the weights by value.
            found[j, :, k] = values.T @ table @ values
    upper = np.triu(found.reshape(width * each, -1)[:answers, :answers])
    return np.asarray(upper + np.triu(upper, 1).T)


@njit
def _pair(one: Bytes, two: Bytes, weights: Numbers, table: Numbers) -> None:
    for i in range(weights.size):
        table[one[i], two[i]] += weights[i]
