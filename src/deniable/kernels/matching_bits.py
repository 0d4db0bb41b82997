"""Count how many of an answer's bits a report has set.

Model: answer v sets the bits places[j, v, :] in cohort j; -1 stands for no bit. A report of cohort
j matches it in as many bits as it has set among them: a number below h + 1 for h hash functions.
Several such numbers fit a byte.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Cohorts = NDArray[np.uint16]
Places = NDArray[np.int32]


def matching_bits(packed: Bytes, cohorts: Cohorts, places: Places) -> Bytes:
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


def matching_digits(packed: Bytes, cohorts: Cohorts, places: Places, each: int) -> Bytes:
    """Return the same numbers as `matching_bits`, several of them in a byte.

    With base = bits per answer + 1, that of answer a is the digit of weight base^(a % each) in byte
    a // each of its report's row.

    Cost: a look-up per report, answer and bit; a byte per report and `each` answers.

    Args:
        packed: as in `matching_bits`.
        cohorts: as in `matching_bits`.
        places: as in `matching_bits`.
        each: answers to a byte; base^each is at most 256.
    """
    cohort_count, answers, hashes = places.shape
    width = 8 * packed.shape[1]
    # Answers that fill the last byte, and bits that are none, look at a bit that is never set.
    own = np.full((cohort_count, -(-answers // each) * each, hashes), width, dtype=np.int32)
    own[:, :answers] = np.where(places < 0, width, places)
    own = own.reshape(cohort_count, -1, each, hashes)[:, :, ::-1]
    found = np.empty((len(packed), own.shape[1]), dtype=np.uint8)
    every = np.arange(256, dtype=np.uint8)[:, None]
    ones = np.unpackbits(every, axis=1, bitorder="little").view(np.uint64).reshape(-1)
    _digits(packed, cohorts, np.ascontiguousarray(own), ones, found)
    return found


@njit
def _match(packed: Bytes, cohorts: Cohorts, places: Places, found: Bytes) -> None:
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
def _digits(
    packed: Bytes, cohorts: Cohorts, places: Places, ones: NDArray[np.uint64], found: Bytes
) -> None:
    base = np.int64(places.shape[3] + 1)
    eights = np.zeros(packed.shape[1] + 1, dtype=np.uint64)
    bits = eights.view(np.uint8)  # a byte per bit
    for i in range(found.shape[0]):
        for j in range(packed.shape[1]):
            eights[j] = ones[packed[i, j]]
        own = places[cohorts[i]]
        for j in range(found.shape[1]):
            value = np.int64(0)
            for digit in range(own.shape[1]):
                value *= base
                for h in range(own.shape[2]):
                    value += bits[own[j, digit, h]]
            found[i, j] = value
