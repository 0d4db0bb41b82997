"""Simulate reports that are sets of a fixed size, as bits: one draw per member.

Model: Floyd's algorithm [BF87]. Of N numbers, for j = N - d, ..., N - 1 draw t from 0..j and take
it, or j if t is taken already: every set of d numbers is equally likely after d draws. The numbers
are the other answers; number o is answer o, or o + 1 from the true answer on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit
from deniable.kernels.generator import State, below, seeded

Bytes = NDArray[np.uint8]


def simulate_subsets(
    codes: NDArray[np.int64],
    included: NDArray[np.bool_],
    shape: tuple[int, int],
    bits: Bytes,
    rng: np.random.Generator,
) -> None:
    """Set d bits of each report: the code's own where it is included, and others uniformly.

    Guarantees: every set with the code, and every set without it, is equally likely, exactly; the
    same state of `rng`, the same sets.

    Cost: n d draws, and the memory of the reports alone.

    Args:
        codes: the true answer of each report, below the number of answers.
        included: whether the report holds it.
        shape: k answers, below 2^32, and d, from 1 to k - 1.
        bits: rows of zeros, ceil(k / 8) bytes each; changed.
        rng: gives the seed; it is advanced by a fixed amount.
    """
    _draw(codes, included, shape, bits, seeded(rng))


@njit
def _draw(
    codes: NDArray[np.int64],
    included: NDArray[np.bool_],
    shape: tuple[int, int],
    bits: Bytes,
    state: State,
) -> None:
    answers, size = shape
    for i in range(codes.size):
        report, code = bits[i], codes[i]
        if included[i]:
            report[code >> 3] |= np.uint8(1 << (code & 7))
        # With its own answer a report has one other member less: the first draw is left out.
        for last in range(answers - 1 - size + int(included[i]), answers - 1):
            drawn = int(below(state, np.uint64(last + 1)))
            place = drawn + int(drawn >= code)
            if report[place >> 3] >> (place & 7) & 1:
                place = last + int(last >= code)
            report[place >> 3] |= np.uint8(1 << (place & 7))
