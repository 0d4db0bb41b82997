"""Reports of profiles that are one symbol: counting them, and k-RR over cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.mechanisms.base import Floats, Reports
from deniable.mechanisms.cells import count_cells
from deniable.mechanisms.profile_base import Reading, unknown

FEW = 50


def count_symbols(symbols: Reports, size: int) -> NDArray[np.int64]:
    """Return how often each symbol of 0..size-1 was reported.

    Cost: linear; a few megabytes beside the counts.

    Raises:
        InvalidReport: if a symbol is not below the size.
    """
    if symbols.size and int(symbols.max()) >= size:
        raise InvalidReport("record", f"The symbol must be below {size}.")
    return count_cells(symbols, size, lambda part: part)


def krr_reading(observed: Floats, move: float, gap: float, merged: int) -> Reading:
    """Return the table behind counts of k-RR's reports, summed over `merged` cells each.

    With r the reported shares, f = (r - merged * move)/gap; the covariance with sampling is that
    of the reported shares, a multinomial's, over gap^2. With fewer than 50 reports the reported
    shares may look certain: then those of the nearest possible table are taken for the covariance.
    """
    n = float(observed.sum())
    if n == 0:
        return unknown(observed.size)
    share = observed / n
    # E[r] = merged move + gap f: every cell gets `move` from everybody, its holders gap more.
    found = (share - merged * move) / gap
    if n < FEW:
        likely = np.maximum(found, 0.0)
        share = merged * move + gap * likely / likely.sum()
    covariance = (np.diag(share) - np.outer(share, share)) / (n * gap**2)
    return found, covariance
