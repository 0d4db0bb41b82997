"""The bounds of [CKS18], section 4: their growth, and what has none."""

from __future__ import annotations

import pytest

from deniable.errors import InvalidParameter
from deniable.marginals.bounds import GROWTH, error_bound


@pytest.mark.parametrize("name", GROWTH)
def test_four_times_the_people_halve_a_bound(name: str) -> None:
    one, four = (error_bound(name, 8, 2, 1.0, n) for n in (10_000, 40_000))
    assert one == pytest.approx(2 * four)
    assert error_bound(name, 8, 2, 2.0, 10_000) == pytest.approx(one / 2)
    assert error_bound(name, 16, 2, 1.0, 10_000) > one


def test_inp_ht_counts_its_coefficients() -> None:
    assert error_bound("inp_ht", 4, 2, 1.0, 100) == pytest.approx((4 * (4 + 6)) ** 0.5 / 10)


@pytest.mark.parametrize(
    "wrong", [("inp_em", 8, 2, 1.0, 9), ("inp_ht", 8, 9, 1.0, 9), ("inp_ht", 8, 2, 0.0, 9)]
)
def test_what_has_no_bound(wrong: tuple[str, int, int, float, int]) -> None:
    with pytest.raises(InvalidParameter):
        error_bound(*wrong)
