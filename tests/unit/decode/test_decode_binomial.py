"""Exact binomial intervals: their coverage is computed, never simulated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from deniable.decode.binomial import limits, tail, telling

LEAST = {"mid-p": 0.915, "exact": 0.95}
"""The least coverage at 95%, over all r."""


def coverage(n: int, form: str, rates: np.ndarray) -> np.ndarray:
    """P(the interval holds r), summed over all counts."""
    counts = np.arange(n + 1)
    low, high = limits(counts, n, form=form)
    inside = (low[:, None] <= rates) & (rates <= high[:, None])
    return (stats.binom.pmf(counts[:, None], n, rates) * inside).sum(axis=0)


@pytest.mark.parametrize("form", ["mid-p", "exact"])
@pytest.mark.parametrize("n", [1, 2, 5, 20, 200, 2_000])
def test_the_least_and_the_mean_coverage(n: int, form: str) -> None:
    low, high = limits(np.arange(n + 1), n, form=form)
    # Coverage falls at the ends of intervals: just outside of them it is least.
    ends = np.concatenate([low[1:] - 1e-9, high[:-1] + 1e-9])[:: max(1, n // 400)]
    rates = np.linspace(0, 1, 301)[1:-1]
    assert coverage(n, form, ends[(ends > 0) & (ends < 1)]).min() >= LEAST[form] - 1e-9
    assert coverage(n, form, rates).mean() >= 0.94


def test_a_normal_interval_fails_the_same_check() -> None:
    """The negative control: Wald intervals at n = 20 cover far less than 91.5% somewhere."""
    counts, n = np.arange(21), 20
    half = 1.959964 * np.sqrt(counts * (n - counts) / n**3)
    rates = np.linspace(0.01, 0.99, 99)
    inside = np.abs(counts[:, None] / n - rates) <= half[:, None]
    assert (stats.binom.pmf(counts[:, None], n, rates) * inside).sum(axis=0).min() < 0.5


@given(st.integers(1, 300), st.data(), st.sampled_from([0.05, 0.2, 1e-4]))
def test_the_ends_are_where_the_tails_are_half_of_alpha(n, data, alpha) -> None:
    """The slow twin: a root search on scipy.stats' tails."""
    k = data.draw(st.integers(1, n))
    low, _ = limits(k, n, alpha)

    def excess(r: float) -> float:
        return stats.binom.sf(k, n, r) + stats.binom.pmf(k, n, r) / 2 - alpha / 2

    slow = optimize.brentq(excess, 1e-12, 1 - 1e-12, xtol=1e-14)
    assert float(low) == pytest.approx(slow, rel=1e-6)
    exact = limits(k, n, alpha, "exact")
    assert float(exact[0]) == pytest.approx(stats.beta.ppf(alpha / 2, k, n - k + 1), rel=1e-9)


def test_ends_at_no_and_at_all_successes_and_of_what_is_unknown() -> None:
    low, high = limits([0, 4, np.nan], 4)
    assert low[0] == 0
    assert high[1] == 1
    assert np.isnan([low[2], high[2]]).all()
    # At k = 0 half of (1 - r)^n is alpha / 2.
    assert high[0] == pytest.approx(1 - 0.05 ** (1 / 4))


def test_tails_have_all_their_digits() -> None:
    assert tail(0, 10, 0.5) == 1
    assert tail(11, 10, 0.5) == 0
    assert float(tail(10, 10, 1e-30)) == pytest.approx(1e-300)
    assert tail([3, 5], 8, 0.3) == pytest.approx(stats.binom.sf([2, 4], 8, 0.3))


def test_large_counts_and_many_of_them_agree_with_the_beta_distribution() -> None:
    counts = np.linspace(0, 10**8, 500).astype(int)
    low, high = limits(counts, 10**8, form="exact")
    assert low[1:] == pytest.approx(stats.beta.ppf(0.025, counts[1:], 10**8 - counts[1:] + 1))
    middle = limits(counts, 10**8)
    assert (middle[0][1:] > low[1:]).all()
    assert (middle[1][:-1] < high[:-1]).all()


@pytest.mark.parametrize("grain", [0.05, -0.05])
def test_ends_of_few_grains_are_where_the_tails_are_half_of_alpha(grain: float) -> None:
    """The slow twin: a root search on the tails of a Poisson count of whole grains."""
    for count in (1, 4, 17):
        less, more = telling(np.array([0.05 * np.sqrt(count)]), np.array([grain]), 0.95)

        def tails(mean: float, k: int = count) -> tuple[float, float]:
            half = stats.poisson.pmf(k, mean) / 2
            return stats.poisson.sf(k, mean) + half, stats.poisson.cdf(k - 1, mean) + half

        low = optimize.brentq(lambda mean: tails(mean)[0] - 0.025, 1e-9, count)
        high = optimize.brentq(lambda mean: tails(mean)[1] - 0.025, count, 100)
        slow = 0.05 * (count - low), 0.05 * (high - count)
        down, up = slow if grain > 0 else slow[::-1]
        assert float(less[0]) == pytest.approx(down, rel=1e-4)
        assert float(more[0]) == pytest.approx(up, rel=1e-4)


def test_intervals_of_few_grains_cover_where_normal_ones_do_not() -> None:
    """Computed: estimates g K, and their error by the count itself, as data have it."""
    counts = np.arange(200)
    for mean in (3.0, 6.0, 12.0):
        law, error = stats.poisson.pmf(counts, mean), 0.1 * np.sqrt(counts)
        less, more = telling(error, np.full(200, 0.1), 0.95)
        share = 0.1 * counts
        inside = (share - less <= 0.1 * mean) & (0.1 * mean <= share + more)
        assert law[inside].sum() >= LEAST["mid-p"]
        normal = np.abs(share - 0.1 * mean) <= 1.96 * error
        assert law[normal].sum() < law[inside].sum()


def test_many_grains_and_grains_of_nothing_say_nothing() -> None:
    error = np.array([1.0, 1.0, 0.0])
    found = telling(error, np.array([1e-3, 0.0, 0.0]), 0.95)
    assert np.array_equal(found, np.zeros((2, 3)))
