"""Strings hashed to symbols, more of them than the symbols can tell apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from deniable.decode import decode
from deniable.decode.observed import observe
from deniable.decode.regression import Regression
from deniable.mechanisms import ORR

STRINGS = [f"string {i}" for i in range(1_000)]


def test_a_long_list_is_screened_and_every_row_has_a_number(rng: np.random.Generator) -> None:
    mechanism = ORR(epsilon=3.0, cohorts=32)
    codes = np.repeat([0, 1, 2], [30_000, 15_000, 5_000])
    counts = mechanism.accumulate(mechanism.simulate(codes, rng, STRINGS))
    found = decode(mechanism, counts, STRINGS)
    assert found.method == "split cohorts"
    assert np.isfinite(found.frequency).all()
    assert np.isfinite(found.std_error).all()
    assert found.holm[:3].all()
    assert found.frequency[:3] == pytest.approx([0.6, 0.3, 0.1], abs=0.05)


def test_a_short_list_has_the_mechanism_s_own_estimate(rng: np.random.Generator) -> None:
    mechanism = ORR(epsilon=3.0, cohorts=32)
    counts = mechanism.accumulate(mechanism.simulate(np.zeros(5_000, int), rng, STRINGS))
    found = decode(mechanism, counts, STRINGS[:50])
    assert found.method == "listed"
    own = mechanism.estimate(counts, STRINGS[:50])
    assert found.frequency.tolist() == own.frequency.tolist()


def test_no_reports_and_one_report_of_a_long_list(rng: np.random.Generator) -> None:
    mechanism = ORR(epsilon=1.0)
    nothing = decode(mechanism, mechanism.zero(), STRINGS)
    assert nothing.n == 0
    one = mechanism.accumulate(mechanism.simulate(np.zeros(1, int), rng, STRINGS))
    assert any("Not identifiable" in note for note in decode(mechanism, one, STRINGS).notes)


def test_the_variance_of_symbols_is_overstated_by_the_square_of_the_share_alone() -> None:
    """The derivation in `Observed.weights`, against the multinomial covariance itself."""
    mechanism, each = ORR(epsilon=2.0, symbols=4, cohorts=24), 1_000
    shares = np.array([0.4, 0.3, 0.2])
    observed = observe(mechanism, mechanism.zero())
    design = observed.shape.design(mechanism.symbols_of(STRINGS[:3])[:, :, None])
    x = np.column_stack([np.ones(96), design.matrix().T.toarray()])
    fit = x @ np.append((1 - shares.sum()) / 4, shares)
    r = mechanism.symbol.q + mechanism.symbol.gap * fit
    scale = each * mechanism.symbol.gap**2
    blocks = [np.diag(part) - np.outer(part, part) for part in r.reshape(24, 4)]
    covariance = linalg.block_diag(*blocks) / scale
    part = Regression.of(fit, scale / r, design)
    solve = part.solved.covariance @ x.T * (scale / r)
    true = solve @ covariance @ solve.T
    over = (part.solved.covariance - true).diagonal()[1:]
    assert over == pytest.approx(shares**2 / (24 * each), rel=1e-6)
