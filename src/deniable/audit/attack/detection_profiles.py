"""Detection of crafted reports about profiles: tests of properties that all honest reports have.

- The public part (coefficient, table, view, row, seed) is drawn as declared, whatever people
  answer. Liars gain most if they all report about one attribute, and this look detects that.
- The number of ones of a report with a bit per cell has one law, whatever the profile.
- The number of ones of a report with a coin per bit of the code is at most that of a profile of
  ones and at least that of a profile of zeros, in distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable._distributions import binomial_pmf, binomial_sf
from deniable.audit.channel_checks_profiles import as_declared
from deniable.audit.hypotheses import goodness_of_fit
from deniable.audit.profile_reading import BITS, items_of, public_blocks
from deniable.audit.reading import Whole
from deniable.protocol import (
    InpEMParameters,
    InpHTCMSParameters,
    InpOLHParameters,
    InpPSParameters,
    InpRRParameters,
    MargHTParameters,
    MargPSParameters,
    MargRRParameters,
    ProfileParameters,
    ViewsParameters,
)

Looks = Iterator[tuple[str, float]]
"""The names of looks, with the probability that honest reports look as strange, or stranger."""


def profile_looks(parameters: ProfileParameters, reports: NDArray[Any]) -> Looks:
    """Yield every look at the reports of one epoch."""
    numbers = about_columns(parameters, reports)
    for name, blocks in public_blocks(parameters).items():
        if sum(count for count, _ in blocks) > 1:
            yield f"the {name}", as_declared(numbers[name], blocks).p_value
    if isinstance(parameters, BITS):
        yield from _ones(parameters, reports)


def about_columns(parameters: ProfileParameters, reports: NDArray[Any]) -> dict[str, Whole]:
    """Return the numbers that reports show in clear, a column per name."""
    names = items_of(parameters)
    if isinstance(parameters, MargRRParameters | InpOLHParameters):
        return {names[0]: reports[names[0]].astype(np.int64)}
    if not names:
        return {}
    symbols = reports["symbol"].astype(np.int64)
    if isinstance(parameters, MargPSParameters | ViewsParameters):
        return {names[0]: symbols // parameters.most_cells}
    if isinstance(parameters, MargHTParameters):
        return dict(zip(names, np.divmod(symbols // 2, parameters.most_cells), strict=True))
    if isinstance(parameters, InpHTCMSParameters):
        return dict(zip(names, np.divmod(symbols // 2, parameters.width), strict=True))
    return {names[0]: symbols // 2}


def _ones(parameters: ProfileParameters, reports: NDArray[Any]) -> Looks:
    ones = np.unpackbits(reports["bits"], axis=1).sum(axis=1, dtype=np.int64)
    if isinstance(parameters, InpEMParameters):
        yield from _ones_between(parameters, ones)
        return
    sizes = np.full(len(ones), getattr(parameters, "cells", 0))
    if isinstance(parameters, MargRRParameters):
        known = {int(t): parameters.cells(int(t)) for t in np.unique(reports["marginal"])}
        sizes = np.array([known[int(table)] for table in reports["marginal"]])
    one, zero = (float(chance) for chance in parameters.support)
    for size in np.unique(sizes).tolist():
        found = ones[sizes == size]
        if len(found) >= 100:
            rest = binomial_pmf(np.arange(size), size - 1, zero)
            law = np.convolve([1 - one, one], rest)
            counts = np.bincount(found, minlength=size + 1)
            p_value = goodness_of_fit(counts, law / law.sum()).p_value
            yield f"the number of ones among {size:,}", p_value


def _ones_between(parameters: InpEMParameters, ones: Whole) -> Looks:
    """Compare the numbers of reports with many ones, or few, with the most any profiles explain."""
    width, keep = parameters.width, float(parameters.support[0])
    worst = 1.0
    for count in range(width + 1):
        chance = float(binomial_sf(count - 1, width, keep))
        many, few = int((ones >= count).sum()), int((ones <= width - count).sum())
        # By symmetry a profile of zeros has at most width - count ones as often as a profile of
        # ones has at least count.
        worst = min(worst, *(float(binomial_sf(n - 1, len(ones), chance)) for n in (many, few)))
    yield "the number of ones", min(1.0, 2 * (width + 1) * worst)


def likeliest_profile(parameters: ProfileParameters) -> float:
    """Return a bound on the probability that two devices send the same report."""
    if isinstance(parameters, InpEMParameters):
        keep = float(parameters.support[0])
        return float((keep**2 + (1 - keep) ** 2) ** parameters.width)
    if isinstance(parameters, InpRRParameters | MargRRParameters):
        cells, tables = getattr(parameters, "cells", 0), 1
        if isinstance(parameters, MargRRParameters):
            cells, tables = parameters.sizes[0], parameters.marginals
        one, zero = (float(c * c + (1 - c) ** 2) for c in parameters.support)
        return float(one * zero ** (cells - 1) / tables)
    if isinstance(parameters, InpPSParameters):
        return float(parameters.support[0])
    drawn = (max(chance / count for count, chance in b) for b in public_blocks(parameters).values())
    return float(prod(drawn))
