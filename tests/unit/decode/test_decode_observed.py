from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.design import Shape
from deniable.decode.observed import Observed, check_counts, observe
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Counts, Rappor
from deniable.mechanisms.closed_form import Pure

RAPPOR = Rappor(bits=2, hashes=1, cohorts=2, p=0.25, q=0.75)


def counts(reports: list[int], table: list[list[int]]) -> Counts:
    return Counts(np.array(reports, dtype=np.int64), np.array(table, dtype=np.int64))


def test_observations_are_unbiased_shares():
    observed = observe(RAPPOR, counts([4, 8], [[1, 3], [4, 8]]))
    assert np.allclose(observed.y, [0, 1, 0.5, 1.5])
    assert observed.n == 12


def test_cohorts_without_reports_weigh_nothing():
    observed = observe(RAPPOR, counts([4, 0], [[1, 3], [0, 0]]))
    assert np.array_equal(observed.live, [True, True, False, False])
    assert np.array_equal(observed.weights(np.zeros(4))[2:], [0, 0])
    assert np.isfinite(observed.y).all()


def test_weights_are_inverse_variances():
    observed = observe(RAPPOR, counts([10**9, 10**9], [[0, 0], [0, 0]]))
    r = 0.25 + 0.5 * 0.3
    assert np.allclose(observed.weights(np.full(4, 0.3)), 10**9 * 0.25 / (r * (1 - r)))


def test_weights_stay_finite_where_a_mechanism_never_reports_a_one_for_nothing():
    oracle = Pure(0.5, 0.0, 0.5)
    observed = Observed(Shape(1, 2, 1), np.zeros(2), np.full(2, 3.0), oracle)
    assert np.isfinite(observed.weights(np.zeros(2))).all()


@pytest.mark.parametrize(
    ("reports", "table", "message"),
    [
        ([4, 4], [[1, 5], [0, 0]], "Column 1 of cohort 0 has 5 of 4 reports"),
        ([4, 4], [[1, 1], [-1, 0]], "Column 0 of cohort 1 has -1 of 4 reports"),
        ([4, -1], [[1, 1], [-1, -1]], "cohort 1"),
        ([4], [[1, 1]], r"table of shape \(2, 2\)"),
        ([4, 4, 4], [[1, 1], [0, 0]], "different parameters"),
    ],
)
def test_impossible_counts_are_refused_with_their_place(reports, table, message):
    with pytest.raises(InvalidParameter, match=message):
        check_counts(RAPPOR, counts(reports, table))


def test_mechanisms_without_hashed_strings_are_refused():
    krr = KRR(4, epsilon=1.0)
    with pytest.raises(InvalidParameter, match="does not hash strings"):
        observe(krr, krr.zero())
    basic = Rappor.basic(4, p=0.25, q=0.75)
    with pytest.raises(InvalidParameter, match="does not hash strings"):
        observe(basic, basic.zero())


@pytest.mark.parametrize(
    "oracle", [Pure(0.25, 0.75, -0.5), Pure(0.5, 0.5, 0.0), Pure(np.nan, 0.5, 0.1)]
)
def test_probabilities_that_say_nothing_are_refused(oracle):
    with pytest.raises(InvalidParameter, match="0 <= q < p <= 1"):
        Observed(Shape(1, 2, 1), np.zeros(2), np.ones(2), oracle)


def test_cells_of_another_shape_are_refused():
    with pytest.raises(InvalidParameter, match="must have 2 cells"):
        Observed(Shape(1, 2, 1), np.zeros(3), np.ones(3), Pure(0.75, 0.25, 0.5))
