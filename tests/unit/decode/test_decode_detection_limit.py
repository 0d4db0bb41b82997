"""The detection limit is the share that the exact test finds every second time, at any n."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.decode import decode
from deniable.decode.reading import by_error, critical, detection_limit
from deniable.mechanisms import KRR
from deniable.plan import Setting, of_categories, predict


@pytest.mark.parametrize("n", [20, 500, 20_000, 1_000_000])
@pytest.mark.parametrize(("answers", "epsilon"), [(2, 12.0), (20, 3.0), (100, 8.0)])
def test_half_of_the_crowds_find_it(n: int, answers: int, epsilon: float) -> None:
    keep, move = (float(chance) for chance in KRR(answers, epsilon=epsilon).parameters.support)
    gap, variance = keep - move, move * (1 - move) / (n * (keep - move) ** 2)
    limit = detection_limit(move, gap, variance, n, answers)
    least = stats.binom.isf(0.05 / answers, n, move) + 1
    assert stats.binom.sf(least - 1, n, move + gap * limit) == pytest.approx(0.5, abs=1e-6)


def test_of_many_reports_it_is_that_of_a_normal_test() -> None:
    variance = 0.25 / (10**8 * 0.01)
    exact = detection_limit(0.5, 0.1, variance, 10**8, 100)
    assert exact == pytest.approx(critical(100) * np.sqrt(variance), rel=1e-3)
    assert by_error(np.sqrt(variance), 10**8, 100) == pytest.approx(exact, rel=1e-3)


def test_nobody_is_found_where_the_test_cannot_pass() -> None:
    assert detection_limit(0.5, 0.2, 0.25 / 0.04, 1, 10) == 1.0
    assert by_error(1e-9, 1, 10) == pytest.approx(0.5)  # somebody has to hold it at all


def test_a_plan_and_an_estimate_have_the_same(rng: np.random.Generator) -> None:
    mechanism, n = KRR(100, epsilon=8.0), 500
    counts = mechanism.accumulate(mechanism.simulate(rng.integers(0, 100, n), rng))
    planned = predict(mechanism.parameters, Setting(n, 8.0, of_categories(100)))
    assert decode(mechanism, counts).limit == pytest.approx(planned.smallest, rel=1e-9)
    # Not the normal test's 0.27%, of which hardly anybody would be found.
    assert planned.smallest == pytest.approx(0.00725, rel=0.01)
