"""Estimates: intervals that cover, no bias, and the closed-form variance.

Truth is always the people's own frequencies, as the intervals promise. ALPHA is the
false-failure probability of each check.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from deniable.mechanisms import KRR, Mechanism, Rappor
from deniable.mechanisms.hashing import fingerprints
from deniable.mechanisms.least_squares import solve
from deniable.mechanisms.rappor_bloom import Bloom, design_matrix
from deniable.testing.power import miss_mean, miss_proportion, miss_spread
from deniable.testing.statistics import accept, mean, proportion, reject, spread

ALPHA = 1e-9
Z95 = 1.959964

PAPER = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
SMALL = Rappor(bits=32, hashes=1, cohorts=8, epsilon=2.0, epsilon_forever=5.0)


@dataclass(frozen=True)
class Run:
    """One estimate of one answer, drawn at random, beside the truth."""

    deviation: float
    std_error: float
    frequency: float

    @property
    def z(self) -> float:
        return self.deviation / self.std_error


def closed(mechanism: Mechanism, answers: int, people: int, rng: np.random.Generator) -> Run:
    weights = 1 / np.arange(1, answers + 1)
    codes = rng.choice(answers, people, p=weights / weights.sum())
    estimate = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
    pick = int(rng.integers(answers))
    true = float((codes == pick).mean())
    return Run(float(estimate.frequency[pick]) - true, float(estimate.std_error[pick]), true)


def strings(
    mechanism: Rappor, held: int, listed: int, people: int, rng: np.random.Generator
) -> Run:
    """Simulate people with `held` strings of which `listed` are candidates, newly hashed."""
    name = rng.bytes(8).hex()
    texts = [f"{name} {i}" for i in range(held)]
    weights = 1 / np.arange(1, held + 1)
    codes = rng.choice(held, people, p=weights / weights.sum())
    counts = mechanism.accumulate(mechanism.simulate(codes, rng, texts))
    chosen = rng.permutation(held)[:listed]
    estimate = mechanism.estimate(counts, [texts[i] for i in chosen])
    true = float((codes == chosen[0]).mean())
    return Run(float(estimate.frequency[0]) - true, float(estimate.std_error[0]), true)


CLOSED: dict[str, tuple[Mechanism, int]] = {
    "krr": (KRR(6, epsilon=1.0, epsilon_forever=2.0), 6),
    "krr, large epsilon": (KRR(3, epsilon=3.0), 3),
    "basic": (Rappor.basic(6, epsilon=1.0, epsilon_forever=3.0), 6),
    "yes/no": (Rappor.basic(f=0.5, p=0.1, q=0.6), 2),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_domains(name: str, rng: np.random.Generator) -> None:
    """95% of the normal intervals hold the truth, and the closed-form variance is exact.

    Controls: intervals of 70% of the width (which cover 83%), and a variance that is 30% larger
    or smaller, are rejected by the same checks.
    """
    mechanism, answers = CLOSED[name]
    runs = [closed(mechanism, answers, 1000, rng) for _ in range(5000)]
    check_coverage(runs, 0.95, 0.01, narrow=0.7, covering=0.85)
    deviations = np.array([run.deviation for run in runs])
    variance = mechanism.variance(1000, np.array([run.frequency for run in runs]))
    accept(spread(deviations, variance), ALPHA)
    for factor in (1.3, 1 / 1.3):
        miss = miss_spread(1 / factor, len(runs), ALPHA)
        assert miss < 1e-9
        reject(spread(deviations, variance * factor), ALPHA, miss=miss)


def check_coverage(
    runs: list[Run], coverage: float, tolerance: float, *, narrow: float, covering: float
) -> None:
    """Accept the coverage of the intervals; reject that of narrower ones, below `covering`."""
    z = np.abs([run.z for run in runs])
    accept(proportion(int((z < Z95).sum()), len(runs), coverage, tolerance), ALPHA)
    miss = miss_proportion(covering, coverage - tolerance, len(runs), ALPHA / 2)
    assert miss < 1e-9
    narrower = int((z < narrow * Z95).sum())
    reject(proportion(narrower, len(runs), coverage, tolerance), ALPHA, miss=miss)


@pytest.mark.parametrize(
    ("mechanism", "listed", "variance_tolerance"),
    [(PAPER, 20, 0.1), (SMALL, 20, 0.2), (SMALL, 10, None), (SMALL, 1, None)],
)
def test_strings(
    mechanism: Rappor, listed: int, variance_tolerance: float | None, rng: np.random.Generator
) -> None:
    """Of 20 strings all, half or one are listed: intervals cover, and nothing is biased.

    Over people, noise and hash functions. Intervals are a little too wide where one string is
    frequent. The closed-form variance of one string is good to the tolerance if all are listed.
    Controls: intervals of 60% of the width (which cover 76%), a bias of half a standard error,
    and a variance that is three times as large are rejected.
    """
    runs = [strings(mechanism, 20, listed, 3000, rng) for _ in range(1000)]
    check_coverage(runs, 0.955, 0.025, narrow=0.6, covering=0.8)
    deviations = np.array([run.deviation for run in runs])
    error, size = float(deviations.std()), deviations.size
    accept(mean(float(deviations.mean()), 0.0, error / size**0.5), ALPHA)
    shifted = mean(float(deviations.mean()), 0.5 * error, error / size**0.5)
    reject(shifted, ALPHA, miss=miss_mean(0.5 * size**0.5, ALPHA))
    if variance_tolerance is not None:
        variance = mechanism.variance(3000, np.array([run.frequency for run in runs]))
        accept(spread(deviations, variance, variance_tolerance), ALPHA)
        # Three times the variance, less the tolerance on either side: still twice as large.
        ratio = (1 + variance_tolerance) / 3 / (1 - variance_tolerance)
        miss = miss_spread(ratio, size, ALPHA)
        assert miss < 1e-9
        reject(spread(deviations, 3 * variance, variance_tolerance), ALPHA, miss=miss)


def test_without_an_intercept_unlisted_strings_bias(rng: np.random.Generator) -> None:
    """What the intercept is for: the same fit without it takes the others' bits for its own."""
    mechanism = Rappor(bits=32, hashes=2, cohorts=8, epsilon=4.0)
    bloom = Bloom(32, 2, 8, mechanism.pure)
    texts = [f"held {i}" for i in range(40)]
    with_it, without = [], []
    for run in range(300):
        absent = f"absent {run}"  # another one, so other bits, in every run
        counts = mechanism.accumulate(mechanism.simulate(texts * 25, rng))
        with_it.append(float(mechanism.estimate(counts, [absent]).frequency[0]))
        people = np.repeat(counts.reports, 32).astype(float)
        observed = mechanism.pure.frequency(counts.table.ravel() / people)
        design = design_matrix(bloom, fingerprints([b"s" + absent.encode()]))
        without.append(float(solve(design, observed, people).solution[0]))
    kept, biased = (
        mean(float(np.mean(x)), 0.0, float(np.std(x) / np.sqrt(len(x)))) for x in (with_it, without)
    )
    accept(kept, ALPHA)
    # Everybody holds unlisted strings: the bias is about 2/32 of all people, 15 errors or more.
    reject(biased, ALPHA, miss=miss_mean(15, ALPHA))
