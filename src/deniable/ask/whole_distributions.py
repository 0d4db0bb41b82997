"""Point estimates of a whole distribution, beside the unbiased frequencies of single answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deniable.decode import point_estimates, smooth
from deniable.decode.smoothing import LARGEST
from deniable.mechanisms import Candidate, Counts, Mechanism
from deniable.mechanisms.base import Floats
from deniable.protocol import Domain, Sets

FEWEST_BINS = 4
"""The fewest bins that are smoothed."""

Points = Mapping[str, Floats]
"""Shares of every answer, by the name of the estimate."""


def point_columns(
    mechanism: Mechanism,
    counts: Counts,
    domain: Domain,
    absent: bool,
    asked: Sequence[Candidate] | None = None,
) -> Points:
    """Return the point estimates of a closed domain; none for strings, sets or without reports.

    Bins of numbers also get a smoothed estimate, unless an absent answer stands among them.
    """
    if domain.size is None or isinstance(domain, Sets) or counts.n == 0:
        return {}
    found = point_estimates(mechanism, counts, asked)
    points = {
        "normalised": found.normalised,
        "projected": found.projected,
        "base_cut": found.base_cut,
        "posterior": found.posterior,
    }
    known = bool(np.isfinite(found.empirical).all())
    smoothable = domain.kind == "numbers" and known and not absent
    if smoothable and FEWEST_BINS <= domain.size <= LARGEST:
        points["smoothed"] = smooth(mechanism, counts, asked).frequency
    return points
