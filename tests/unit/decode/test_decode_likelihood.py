from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from deniable.decode.design import design_of
from deniable.decode.likelihood import Likely, most_likely
from deniable.decode.observed import Observed, observe
from deniable.mechanisms import Rappor

RAPPOR = Rappor(bits=16, hashes=2, cohorts=4, p=0.25, q=0.75)
STRINGS = [f"s{i}" for i in range(6)]


def log_likelihood(observed: Observed, columns: np.ndarray, found: np.ndarray) -> float:
    r = observed.oracle.q + observed.oracle.gap * (columns @ found)
    r = np.clip(r, 1e-12, 1 - 1e-12)
    return float(stats.binom.logpmf(observed.counts, observed.people, r).sum())


def columns_of(observed: Observed, strings: list[str]) -> np.ndarray:
    filled = observed.shape.distinct / observed.shape.bits
    cells = design_of(observed.shape, strings).matrix().toarray().T
    return np.hstack([cells, np.full((observed.shape.cells, 1), filled)])


@pytest.mark.parametrize("people", [[60_000, 30_000, 0, 0, 0, 0], [20_000] * 6])
def test_no_other_frequencies_are_likelier(counts_of, rng, people):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS, people, rng))
    columns = columns_of(observed, STRINGS)
    found = most_likely(observed, design_of(observed.shape, STRINGS))
    best = optimize.minimize(
        lambda x: -log_likelihood(observed, columns, x) / observed.n,
        np.full(7, 1 / 7),
        bounds=[(0, 1)] * 7,
        constraints={"type": "ineq", "fun": lambda x: 1 - x.sum()},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    ours = log_likelihood(observed, columns, np.append(found.frequency, found.other))
    assert ours >= -best.fun * observed.n - 1e-2
    assert np.allclose(np.append(found.frequency, found.other), best.x, atol=2e-3)


def test_frequencies_can_be_none_negative_and_at_most_one_in_all(counts_of, rng):
    for _ in range(5):
        observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS, [100, 0, 0, 0, 0, 0], rng))
        found = most_likely(observed, design_of(observed.shape, STRINGS))
        assert found.frequency.min() >= 0
        assert found.other >= 0
        assert found.frequency.sum() + found.other <= 1 + 1e-9


def exact_counts(strings: list[str], share: list[float]) -> Likely:
    """Decode counts without noise."""
    observed = observe(RAPPOR, RAPPOR.zero())
    people = np.full(observed.shape.cells, 1e8)
    y = design_of(observed.shape, strings).matrix().toarray().T @ np.array(share)
    counts = people * (observed.oracle.q + observed.oracle.gap * y)
    exact = Observed(observed.shape, counts, people, observed.oracle)
    return most_likely(exact, design_of(observed.shape, strings))


def test_counts_without_noise_give_the_truth():
    found = exact_counts(STRINGS, [0.5, 0.25, 0.125, 0.125, 0, 0])
    assert np.allclose(found.frequency, [0.5, 0.25, 0.125, 0.125, 0, 0], atol=1e-6)
    assert found.other == pytest.approx(0, abs=1e-6)


def test_the_share_in_each_cell_is_what_the_frequencies_put_there(counts_of, rng):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS, [10_000] * 6, rng))
    found = most_likely(observed, design_of(observed.shape, STRINGS[:3]))
    expected = columns_of(observed, STRINGS[:3]) @ np.append(found.frequency, found.other)
    assert np.allclose(found.share, expected)
