"""Count how many of an answer's bits a report has set, and add over the bits that reports have set.

Model: answer v sets the bits places[j, v, :] in cohort j; -1 stands for no bit. A report of cohort
j matches it in as many bits as it has set among them. With b_is bit s of report i and c(i) its
cohort, two sums that are each other's transpose:

    summed_bits   sum over bits s of values[c(i), s] b_is               a number per report
    added_bits    sum over reports i of cohort j of weights[i] b_is     a number per cohort and bit
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Places = NDArray[np.int32]
Numbers = NDArray[np.floating[Any]]


def matching_bits(packed: Bytes, cohorts: NDArray[np.uint16], places: Places) -> Bytes:
    """Return the number of matching bits, a row per report and a column per answer.

    Cost: one look-up per report, answer and bit.

    Args:
        packed: reports, bit i in byte i // 8 at weight 2^(i % 8).
        cohorts: of the reports, below the length of `places`.
        places: cohorts x answers x bits, fewer than 256 per answer; -1 for none.
    """
    found = np.empty((len(packed), places.shape[1]), dtype=np.uint8)
    _match(packed, cohorts, np.ascontiguousarray(places), found)
    return found


def summed_bits(packed: Bytes, cohorts: NDArray[np.uint16], values: Numbers) -> Numbers:
    """Return for each report the sum of its cohort's values over the bits that it has set.

    Cost: one addition per report and byte, and a table of 256 sums per cohort and byte.

    Args:
        packed: reports, as above.
        cohorts: of the reports, below the length of `values`.
        values: cohorts x bits.
    """
    cohort_count, bits = values.shape
    padded = np.zeros((cohort_count, 8 * packed.shape[1]))
    padded[:, :bits] = values
    table = padded.reshape(cohort_count, -1, 8) @ _bits_of_bytes().T
    found = np.empty(len(packed))
    _sum(packed, cohorts, np.ascontiguousarray(table), found)
    return found


def added_bits(
    packed: Bytes, cohorts: NDArray[np.uint16], weights: Numbers, shape: tuple[int, int]
) -> Numbers:
    """Return for each cohort and bit the sum of the weights of the reports that have it set.

    Cost: one addition per report and byte, and a table of 256 sums per cohort and byte.

    Args:
        packed: reports, as above.
        cohorts: of the reports, below the number of cohorts.
        weights: of the reports.
        shape: the numbers of cohorts and of bits.
    """
    cohort_count, bits = shape
    table = np.zeros((cohort_count, packed.shape[1], 256))
    _add(packed, cohorts, weights, table)
    return np.asarray((table @ _bits_of_bytes()).reshape(cohort_count, -1)[:, :bits])


def _bits_of_bytes() -> Numbers:
    """Return the bits of the numbers 0..255, a row each, the lowest first."""
    every = np.arange(256, dtype=np.uint8)[:, None]
    return np.unpackbits(every, axis=1, bitorder="little").astype(np.float64)


@njit
def _match(packed: Bytes, cohorts: NDArray[np.uint16], places: Places, found: Bytes) -> None:
    for i in range(found.shape[0]):
        own = places[cohorts[i]]
        for v in range(found.shape[1]):
            both = 0
            for h in range(own.shape[1]):
                place = own[v, h]
                if place >= 0:
                    both += (packed[i, place >> 3] >> (place & 7)) & 1
            found[i, v] = both


@njit
def _sum(packed: Bytes, cohorts: NDArray[np.uint16], table: Numbers, found: Numbers) -> None:
    for i in range(found.size):
        own = table[cohorts[i]]
        total = 0.0
        for j in range(packed.shape[1]):
            total += own[j, packed[i, j]]
        found[i] = total


@njit
def _add(packed: Bytes, cohorts: NDArray[np.uint16], weights: Numbers, table: Numbers) -> None:
    for i in range(weights.size):
        own = table[cohorts[i]]
        for j in range(packed.shape[1]):
            own[j, packed[i, j]] += weights[i]
