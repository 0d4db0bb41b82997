"""The noise of shares of bins if everybody were in the first bin, or in the last one.

Given the people, a report's part in an estimate of the share F below an edge has one variance if
its sender is below that edge, and another if not, for all answers alike: n Var is linear in F, and
known everywhere from F = 0 and F = 1. Of few reports that matters: the estimate may lie far outside
of 0 and 1, where the variance at the estimate says next to nothing, or is next to nothing.

The two are read off imagined crowds, so that they need nothing but the contract of a mechanism:
their errors are those of `IMAGINED` reports, some percent of a standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from deniable.mechanisms import Candidate, Mechanism
from deniable.mechanisms.base import Floats

IMAGINED = 20_000
"""The people of an imagined crowd."""
_SEED = 18


def imagined_noise(
    mechanism: Mechanism,
    answers: Sequence[Candidate] | None,
    held: int,
    n: int,
    absent: float | None = None,
) -> tuple[Floats, Floats]:
    """Return the shares and the noise of n people who all hold one bin.

    Guarantees: the same whenever it is asked.

    Args:
        mechanism: of the question.
        answers: what it estimates, as it takes them; None for all codes of a closed domain.
        held: the code of the bin.
        n: the number of reports.
        absent: the share of people who gave no answer, if that is an answer, the last one; it is
            rounded to percents.
    """
    named = None if answers is None else tuple(answers)
    without = None if absent is None else round(absent, 2)
    shares, noise = _of_one_report(mechanism, named, held, without)
    return shares, noise / n


@lru_cache(maxsize=8)  # tables by epoch or segment ask for the same ones again
def _of_one_report(
    mechanism: Mechanism, answers: tuple[Candidate, ...] | None, held: int, absent: float | None
) -> tuple[Floats, Floats]:
    codes = np.full(IMAGINED, held, dtype=np.int64)
    if absent is not None and answers is not None:
        codes[: round(absent * IMAGINED)] = len(answers) - 1
    reports = mechanism.simulate(codes, np.random.default_rng(_SEED), answers)
    found = mechanism.estimate(mechanism.accumulate(reports), answers)
    noise = np.diag(found.variance) if found.covariance is None else found.covariance
    return found.frequency, np.asarray(noise * IMAGINED)
