"""Closed domains keep their promises at any number of people: tests, intervals, of the population.

Each setting is one in which normal tests and intervals broke theirs: what they did is the negative
control, on the same reports.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.decode import decode
from deniable.decode.significance import holm
from deniable.mechanisms import KRR, OLH, Counts, Mechanism, Rappor
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9
MISS = 1e-9
LEVEL = 0.05


def reports_of(mechanism: Mechanism, codes: np.ndarray, rng: np.random.Generator) -> Counts:
    return mechanism.accumulate(mechanism.simulate(codes, rng))


def at_most(successes: int, trials: int, most: float) -> object:
    """The hypothesis that the rate lies in 0..most."""
    return proportion(successes, trials, most / 2, tolerance=most / 2)


@pytest.mark.parametrize(
    ("mechanism", "people", "runs"),
    [
        (KRR(100, epsilon=8.0), 500, 300),
        (KRR(20, epsilon=5.0), 200, 3_000),
        (Rappor.basic(100, f=0.0, p=0.05, q=0.95), 300, 3_000),
    ],
)
def test_the_family_wise_error_of_holm(mechanism, people, runs, rng) -> None:
    """All hold one answer. Normal p-values find another in 69.8%, 14% and 11% of such crowds."""
    exact = normal = 0
    for _ in range(runs):
        counts = reports_of(mechanism, np.zeros(people, dtype=np.int64), rng)
        exact += bool(decode(mechanism, counts).holm[1:].any())
        found = mechanism.estimate(counts)
        normal += bool(holm(stats.norm.sf(found.frequency / found.std_error))[1:].any())
    accept(at_most(exact, runs, LEVEL), ALPHA)
    reject(at_most(normal, runs, LEVEL), ALPHA, miss=MISS)


def test_intervals_of_absent_answers(rng) -> None:
    """k-RR of 1,000 answers, n = 1,000: normal intervals of absent answers cover 62.5%."""
    mechanism, runs, people = KRR(1_000, epsilon=3.0), 60, 1_000
    covered, normal = [], []
    for _ in range(runs):
        counts = reports_of(mechanism, np.zeros(people, dtype=np.int64), rng)
        decoded, found = decode(mechanism, counts), mechanism.estimate(counts)
        covered.append(np.mean(decoded.low[1:] <= 0))
        normal.append(np.mean(np.abs(found.frequency[1:]) <= 1.96 * found.std_error[1:]))
    # Means over 999 answers vary by less than 1% from crowd to crowd.
    assert np.mean(covered) > 0.95
    assert np.mean(normal) < 0.7


@pytest.mark.parametrize(("epsilon", "left"), [(3.0, 0.8), (5.0, 0.5), (8.0, 0.2)])
def test_the_share_of_the_population_is_covered(epsilon, left, rng) -> None:
    """k-RR of 3 answers, n = 1,000: the noise alone covers 70%, 34% and 9%."""
    mechanism, runs, shares = KRR(3, epsilon=epsilon), 2_000, np.array([0.5, 0.3, 0.2])
    population = reporters = 0
    for _ in range(runs):
        counts = reports_of(mechanism, rng.choice(3, size=1_000, p=shares), rng)
        decoded, found = decode(mechanism, counts), mechanism.estimate(counts)
        population += int(decoded.low[0] <= 0.5 <= decoded.high[0])
        reporters += int(abs(found.frequency[0] - 0.5) <= 1.96 * found.std_error[0])
    accept(proportion(population, runs, 0.95, tolerance=0.015), ALPHA)
    reject(proportion(reporters, runs, 0.95, tolerance=0.95 - left), ALPHA, miss=MISS)


def test_one_report_of_a_yes_no_question() -> None:
    """P(one report says yes | nobody does) is 1 - keep, 0.25: not 0.04."""
    mechanism = KRR(2, keep=0.75)
    yes = decode(mechanism, mechanism.accumulate(np.array([(1,)], dtype=mechanism.dtype)))
    assert yes.p_value.tolist() == pytest.approx([1.0, 0.25])
    assert (yes.low.tolist(), yes.high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_a_pool_of_hash_functions_is_not_binomial(rng) -> None:
    """65,536 seeds, epsilon 3, 200,000 people with one answer: taken as binomial, 38% wrong."""
    mechanism, runs, names = OLH(epsilon=3.0, seeds=65_536), 60, [str(i) for i in range(100)]
    pooled = binomial = 0
    for run in range(runs):
        listed = [f"{run} {name}" for name in names]
        reports = mechanism.simulate(np.zeros(200_000, dtype=np.int64), rng, listed)
        counts = mechanism.accumulate(reports)
        pooled += bool(decode(mechanism, counts, listed).holm[1:].any())
        found = mechanism.estimate(counts, listed)
        support = counts.n * (mechanism.pure.q + mechanism.pure.gap * found.frequency)
        binomial += bool(
            holm(stats.binom.sf(np.rint(support) - 1, counts.n, mechanism.pure.q))[1:].any()
        )
    accept(at_most(pooled, runs, 0.1), ALPHA)
    assert binomial > pooled
