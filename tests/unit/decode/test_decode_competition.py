"""Candidates that are a good part of the cells: the statistic against slow fits, and its finds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from deniable.decode import decode, decode_lasso
from deniable.decode.competition import competes, competing_p_values
from deniable.decode.design import design_of
from deniable.decode.likelihood import most_likely
from deniable.decode.observed import observe
from deniable.mechanisms import Rappor

MECHANISM = Rappor(bits=16, hashes=2, cohorts=8, f=0.5, p=0.0, q=1.0)
STRINGS = [f"string {i}" for i in range(60)]
SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.08, 0.07, 0.05, 0.03, 0.015, 0.005])


def test_when_candidates_compete() -> None:
    assert [competes(n, 128, 1_000) for n in (32, 33, 400, 401)] == [False, True, True, False]
    assert not competes(30, 63, 1_000)
    assert [competes(40, 128, reports) for reports in (1, 40, 41)] == [False, False, True]


def test_the_statistic_is_the_gain_of_the_best_non_negative_fit(rng: np.random.Generator) -> None:
    people = rng.choice(10, size=20_000, p=SHARES)
    counts = MECHANISM.accumulate(MECHANISM.simulate(people, rng, STRINGS))
    observed = observe(MECHANISM, counts)
    design = design_of(observed.shape, STRINGS)
    likely = most_likely(observed, design)
    found, tail = competing_p_values(observed, design, likely, np.random.default_rng(3))
    weights = np.sqrt(observed.weights(likely.share))
    filled = observed.shape.distinct / observed.shape.bits
    columns = np.column_stack([design.matrix().T.toarray(), np.full(128, filled)])

    def misfit(places: np.ndarray) -> tuple[float, int]:
        # A heavy equation with a slack of its own keeps the sum at 1 or below.
        cells = np.column_stack([columns[:, places] * weights[:, None], np.zeros(128)])
        system = np.vstack([cells, np.full(len(places) + 1, 1e5)])
        x, _ = optimize.nnls(system, np.append(weights * observed.y, 1e5), maxiter=10_000)
        rest = weights * observed.y - cells @ x
        return float(rest @ rest), max(1, 128 - np.count_nonzero(x[:-1]))

    every = np.arange(61)
    whole, _ = misfit(every)
    for place in (0, 5, 8):
        base, degrees = misfit(every[every != place])
        z = math.sqrt(max(0.0, base - whole) / (base / degrees))
        assert found[place] == pytest.approx(float(tail.p_values(np.array([z]))[0]), rel=1e-4)


def test_more_is_found_than_by_the_paper_s_decoder() -> None:
    """Sixty candidates in 128 cells: over ten crowds, no fewer than the Lasso finds."""
    ours = lasso = 0
    for seed in range(10):
        rng = np.random.default_rng([41, seed])
        people = rng.choice(10, size=20_000, p=SHARES)
        counts = MECHANISM.accumulate(MECHANISM.simulate(people, rng, STRINGS))
        ours += int(decode(MECHANISM, counts, STRINGS).storey[:10].sum())
        lasso += int(decode_lasso(MECHANISM, counts, STRINGS).bh[:10].sum())
    assert ours >= lasso
