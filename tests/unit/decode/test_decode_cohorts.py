"""Closed domains with cohorts: point estimates where answers share symbols or bits."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.distribution_estimates import nearest_in_errors, point_estimates
from deniable.mechanisms import HCMS, ORR, PGR, Counts, Mechanism, Rappor

MECHANISMS: dict[str, Mechanism] = {
    "orr": ORR(6, epsilon=3.0, symbols=3, cohorts=16),
    "pgr": PGR(6, epsilon=3.0),
    "hcms": HCMS(6, epsilon=3.0),
    "permuted rappor": Rappor.permuted(6, bits=3, cohorts=16, epsilon=3.0),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_point_estimate_is_near_the_truth(name: str, rng: np.random.Generator) -> None:
    mechanism = MECHANISMS[name]
    true = np.array([0.5, 0.25, 0.125, 0.0625, 0.0625, 0.0])
    codes = np.repeat(np.arange(6), (16_000 * true).astype(int))
    counts = mechanism.accumulate(mechanism.simulate(codes, rng))
    found = point_estimates(mechanism, counts)
    for estimate in (found.empirical, found.normalised, found.projected, found.likely):
        assert estimate == pytest.approx(true, abs=0.06)
    assert found.likely.sum() == pytest.approx(1)
    assert found.likely.min() >= 0


def test_answers_that_cannot_be_told_apart_are_unknown_with_a_note() -> None:
    mechanism = ORR(8, epsilon=3.0, symbols=2, cohorts=3)
    table = np.full((3, 2), 500)
    found = point_estimates(mechanism, Counts(table.sum(axis=1), table))
    for estimate in (found.empirical, found.projected, found.likely, found.posterior):
        assert np.isnan(estimate).all()
    assert "cannot be told" in found.notes[-1]


def test_the_nearest_distribution_of_unknown_frequencies_is_unknown() -> None:
    found = nearest_in_errors(np.array([0.5, np.nan]), np.array([0.1, np.nan]))
    assert np.isnan(found).all()
