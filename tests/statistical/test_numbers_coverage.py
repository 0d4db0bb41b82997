"""Mean, quantiles and shares above cover the population's, whatever lies inside of bins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable._distributions import binomial_sf
from deniable.decode.number_noise import imagined_noise
from deniable.decode.numbers import Binned
from deniable.mechanisms import KRR, OUE, Mechanism, Rappor
from deniable.testing.statistics import Check, accept, reject

EDGES = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
RUNS, PEOPLE = 800, 2_000


def values(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw numbers that lie near the lower ends of their bins: not evenly at all."""
    whole = rng.choice([-3.0, 0.0, 1.0, 2.0, 4.0, 9.0], size, p=[0.1, 0.2, 0.35, 0.2, 0.1, 0.05])
    return np.asarray(whole + 0.05 * rng.random(size))


def misses(check: int, trials: int) -> Check:
    words = f"{check} of {trials} intervals miss with probability 0.05 at most"
    return Check(words, check / trials, float(binomial_sf(check - 1, trials, 0.05)))


@pytest.mark.parametrize(
    "mechanism",
    [KRR(6, epsilon=2.0), Rappor.basic(6, epsilon=2.0), OUE(6, epsilon=2.0)],
    ids=["krr", "rappor", "oue"],
)
def test_intervals_of_numbers_cover(mechanism: Mechanism, rng: np.random.Generator) -> None:
    """alpha 1e-9 for each of three numbers; the control takes bins to be even, and misses."""
    everybody = values(400_000, rng)
    truth = {
        "mean": float(np.clip(everybody, 0, 8).mean()),
        "median": float(np.quantile(everybody, 0.5)),
        "above": float((everybody >= 2.0).mean()),
    }
    missed, even = dict.fromkeys(truth, 0), 0
    for _ in range(RUNS):
        codes = np.searchsorted(EDGES, values(PEOPLE, rng), side="right")
        found = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
        noise = np.diag(found.variance) if found.covariance is None else found.covariance
        bins = Binned(EDGES, found.frequency, noise, 1 / PEOPLE)
        told = {"mean": bins.mean, "median": bins.quantile(0.5), "above": bins.above(2.0)}
        for name, one in told.items():
            missed[name] += not one.low <= truth[name] <= one.high
        even += not told["mean"].even[0] <= truth["mean"] <= told["mean"].even[1]
    for number in missed.values():
        accept(misses(number, RUNS))
    reject(misses(even, RUNS), miss=1e-12)


FEW = {
    "krr": (KRR(20, epsilon=0.1), 20, 0),
    "oue": (OUE(20, epsilon=8.0), 1, 9),
}
"""Mechanism, people, and the edge that is looked at."""


@pytest.mark.parametrize("name", FEW)
def test_few_reports_do_not_make_a_share_sure(name: str, rng: np.random.Generator) -> None:
    """Where no report says "below", the variance at the estimate is next to nothing.

    Everybody is in the first bin. alpha 1e-9; the control takes the variance at the estimate, and
    misses in a third of the runs or more.
    """
    (mechanism, people, place), runs, missed, before = FEW[name], 300, 0, 0
    nobody, everybody = (imagined_noise(mechanism, None, held, people)[1] for held in (19, 0))
    for _ in range(runs):
        codes = np.zeros(people, dtype=np.int64)
        found = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
        assert found.covariance is not None
        one = Binned(np.arange(1.0, 20.0), found.frequency, found.covariance, 1 / people)
        before += bool(one.band[1][place] < 1 - 1e-9)
        missed += bool(replace(one, ends=(nobody, everybody)).band[1][place] < 1 - 1e-9)
    accept(misses(missed, runs))
    reject(misses(before, runs), miss=1e-9)
