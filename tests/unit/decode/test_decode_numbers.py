"""Numbers from bins: closed forms, bounds of open bins, and readable names of bins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.decode.numbers import Binned
from deniable.errors import InvalidParameter
from deniable.protocol import Numbers

EDGES = np.array([0.0, 10.0, 20.0])


def bins(shares: list[float], error: float = 1e-6) -> Binned:
    return Binned(EDGES, np.array(shares), np.eye(4) * error**2)


def test_quantiles_lie_in_their_bin_and_are_linear_inside() -> None:
    found = bins([0.1, 0.4, 0.3, 0.2]).quantile(0.3)
    assert (found.low, found.high) == (0.0, 10.0)
    assert found.estimate == pytest.approx(5.0)
    assert found.even == pytest.approx((5.0, 5.0), abs=1e-3)
    assert bins([0.1, 0.4, 0.3, 0.2]).quantile(0.65).estimate == pytest.approx(15.0)


def test_open_bins_have_bounds_and_no_hopes() -> None:
    above = bins([0.1, 0.4, 0.3, 0.2]).quantile(0.95)
    assert (above.low, above.high) == (20.0, math.inf)
    assert math.isnan(above.estimate)
    below = bins([0.4, 0.3, 0.2, 0.1]).quantile(0.2)
    assert (below.low, below.high) == (-math.inf, 0.0)
    assert bins([0.1, 0.4, 0.3, 0.2]).above(25.0).high == pytest.approx(0.2, abs=1e-3)
    assert bins([0.1, 0.4, 0.3, 0.2]).above(-5.0).low == pytest.approx(0.9, abs=1e-3)


def test_the_mean_is_of_values_cut_to_the_edges() -> None:
    mean = bins([0.1, 0.4, 0.3, 0.2]).mean
    assert mean.estimate == pytest.approx(0.4 * 5 + 0.3 * 15 + 0.2 * 20)
    assert mean.low == pytest.approx(0.3 * 10 + 0.2 * 20, abs=1e-3)
    assert mean.high == pytest.approx(0.4 * 10 + 0.3 * 20 + 0.2 * 20, abs=1e-3)


def test_a_share_above_is_exact_at_an_edge_and_bounded_inside_of_a_bin() -> None:
    found = bins([0.1, 0.4, 0.3, 0.2], error=0.01)
    edge, inside = found.above(10.0), found.above(12.5)
    assert edge.estimate == pytest.approx(0.5)
    assert edge.high - edge.low == pytest.approx(2 * 1.959964 * 0.01 * math.sqrt(2))
    assert inside.low == pytest.approx(found.above(20.0).low)
    assert inside.high == pytest.approx(edge.high)
    assert inside.estimate == pytest.approx(0.5 - 0.25 * 0.3)


def test_a_few_people_who_agree_do_not_make_a_share_sure() -> None:
    five = Binned(EDGES, np.array([0.0, 1.0, 0.0, 0.0]), np.zeros((4, 4)), 1 / 5)
    low, high = five.band
    # Wilson's interval of 0 of 5, and of 5 of 5.
    assert (low[0], high[0]) == pytest.approx((0.0, 0.4345), abs=1e-4)
    assert (low[1], high[1]) == pytest.approx((0.5655, 1.0), abs=1e-4)
    assert five.mean.even[0] < 5.0 < five.mean.even[1]


def test_nothing_known_is_said_as_such() -> None:
    wide = Binned(EDGES, np.full(4, 0.25), np.eye(4))
    assert (wide.quantile(0.5).low, wide.quantile(0.5).high) == (-math.inf, math.inf)
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(InvalidParameter, match="between 0 and 1"):
            wide.quantile(wrong)
    with pytest.raises(InvalidParameter, match="finite"):
        wide.above(math.inf)


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        (("1", "2.5", "10"), ("< 1", "1 to 2.5", "2.5 to 10", ">= 10")),
        (("1.02345678901", "2.04691357802"), ("< 1.02", "1.02 to 2.05", ">= 2.05")),
        (("1.00012345678", "1.00023456789"), ("< 1.0001", "1.0001 to 1.0002", ">= 1.0002")),
        (("1048576.123456",), ("< 1,050,000", ">= 1,050,000")),
    ],
)
def test_bins_have_names_that_people_can_read(
    edges: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    assert Numbers(edges).labels == labels
