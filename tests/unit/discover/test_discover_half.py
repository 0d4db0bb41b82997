"""The search for the share of which half is found: of a known law, with and without noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable.discover.detection_limit import half_found


@pytest.mark.parametrize("truth", [1e-4, 0.01, 0.3])
@pytest.mark.parametrize("off", [0.05, 1.0, 20.0])
def test_a_known_law(truth: float, off: float) -> None:
    def chance(share: float) -> float:
        return float(stats.norm.cdf(5 * math.log(share / truth)))

    assert half_found(chance, off * truth) == pytest.approx(truth, rel=0.01)


def test_noise_is_averaged() -> None:
    """Five chances of 200 strings each: 1% of the share is about one standard error."""
    rng, found = np.random.default_rng(1), []
    for _ in range(40):

        def chance(share: float) -> float:
            return float(rng.binomial(200, stats.norm.cdf(5 * math.log(share / 0.02)))) / 200

        found.append(half_found(chance, 0.013))
    assert np.std(found) < 0.02 * 0.02
    assert np.mean(found) == pytest.approx(0.02, rel=0.01)


def test_what_is_never_found() -> None:
    assert half_found(lambda share: 0.4, 0.1) == 1.0
    assert half_found(lambda share: 0.4, 0.1, 0.125) == 0.125
    assert half_found(lambda share: float(share > 0.9), 0.1) > 0.8


def test_what_is_always_found() -> None:
    assert half_found(lambda share: 1.0, 0.1) < 1e-8
