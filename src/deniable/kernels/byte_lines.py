"""From the bytes of reports to the likelihoods of answers, a block of reports at a time.

Model: with d answers to a byte, b_ij byte j of report i and c(i) its cohort,

    lines[a, i] = scale[c(i), a] values[b_i,a // d, a % d].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.floating[Any]]


def byte_lines(
    packed: Bytes, values: Numbers, scale: Numbers, cohorts: NDArray[np.uint16], more: int = 0
) -> Numbers:
    """Return a line of numbers per answer, a column per report, and `more` empty lines.

    Cost: a look-up and a product per report and answer.

    Args:
        packed: reports x bytes.
        values: a row per value of a byte, a column per answer that a byte holds.
        scale: cohorts x answers.
        cohorts: of the reports, below the length of `scale`.
        more: the number of lines to leave for the caller, after the others.
    """
    lines = np.empty((scale.shape[1] + more, len(packed)))
    _lines(packed, values, scale, cohorts, lines)
    return lines


@njit
def _lines(
    packed: Bytes,
    values: Numbers,
    scale: Numbers,
    cohorts: NDArray[np.uint16],
    lines: Numbers,
) -> None:
    each = values.shape[1]
    for a in range(scale.shape[1]):
        byte, digit = a // each, a % each
        for i in range(lines.shape[1]):
            lines[a, i] = values[packed[i, byte], digit] * scale[cohorts[i], a]
