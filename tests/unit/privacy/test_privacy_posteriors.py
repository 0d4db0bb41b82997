"""Posteriors and false discoveries [EPK14, figures 7 and 8], for any mechanism."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from deniable.mechanisms import KRR, OLH, Hadamard, Mechanism, Rappor
from deniable.privacy.posteriors import false_discovery_rate, marks_of, posterior
from deniable_papers.epk14.attack import false_discovery_rate as paper_rate

PAPER = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
SHARES = np.array([0.01, 0.1, 0.5])


def test_the_paper() -> None:
    assert marks_of(PAPER.parameters) == 2
    held = 0.1 * (11 / 16) ** 2
    other = 0.9 * (9 / 16) ** 2
    assert posterior(PAPER.parameters, SHARES, 2)[1] == pytest.approx(held / (held + other))
    assert np.array_equal(false_discovery_rate(PAPER.parameters, SHARES), paper_rate(PAPER, SHARES))


@pytest.mark.parametrize(
    "mechanism", [PAPER, KRR(5, epsilon=1.0), OLH(epsilon=1.0), Hadamard(8, epsilon=1.0)]
)
def test_more_of_an_answer_makes_its_holder_likelier(mechanism: Mechanism) -> None:
    parameters = mechanism.parameters
    curves = [posterior(parameters, SHARES, ones) for ones in range(marks_of(parameters) + 1)]
    assert all(np.all(low < high) for low, high in pairwise(curves))
    assert np.all(curves[0] < SHARES)
    assert np.all(curves[-1] > SHARES)
    # No report multiplies the odds by more than e^epsilon.
    odds = curves[-1] / (1 - curves[-1]) / (SHARES / (1 - SHARES))
    assert np.all(odds <= np.exp(mechanism.epsilon) * (1 + 1e-12))


def test_average_of_the_posterior_is_the_share() -> None:
    """Over what a report shows, the posterior's mean is the prior."""
    p, q = (float(x) for x in KRR(5, epsilon=1.0).parameters.support)
    parameters = KRR(5, epsilon=1.0).parameters
    shown = SHARES * p + (1 - SHARES) * q
    mean = shown * posterior(parameters, SHARES, 1) + (1 - shown) * posterior(parameters, SHARES, 0)
    assert mean == pytest.approx(SHARES)
