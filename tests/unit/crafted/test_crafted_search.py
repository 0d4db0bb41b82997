"""The search without crafted reports: which are left out, and what all fits span."""

from __future__ import annotations

import numpy as np

from deniable.crafted.search import ROUNDS, all_but_last, largest, refits, spanned


def test_the_most_influential_are_left_out():
    influence = np.array([0.3, -1.0, 2.0, 0.5, 1.5])
    assert sorted(largest(influence, 2)) == [2, 4]
    assert all_but_last(influence, 2).tolist() == [True, True, False, True, False]


def test_every_fit_leaves_out_those_that_are_influential_before_it():
    """Means of numbers: what is far from the mean of the others is left out next."""
    numbers = np.array([0.0, 0.1, 0.2, 9.0, 10.0])
    seen = []

    def again(kept):
        seen.append(kept.tolist())
        return float(numbers[kept].mean())

    found = [*refits(float(numbers.mean()), lambda mean: numbers - mean, again, 2)]
    assert len(found) == len(seen) == ROUNDS
    assert found[0] == np.mean([0.0, 0.1, 0.2])
    assert seen[0] == [True, True, True, False, False]


def test_the_span_has_the_fit_of_all_reports_and_forgets_what_is_not_known():
    fits = [np.array([1.0, np.nan, 3.0]), np.array([-1.0, np.nan, np.nan])]
    (ends,) = spanned(np.array([0.0, np.nan, 4.0]), fits, lambda fit: [fit])
    np.testing.assert_array_equal(ends.low, [-1.0, np.nan, 3.0])
    np.testing.assert_array_equal(ends.high, [1.0, np.nan, 4.0])
    (alone,) = spanned(np.array([0.5]), [], lambda fit: [fit])
    assert alone.low == alone.high == 0.5
