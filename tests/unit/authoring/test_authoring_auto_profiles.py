"""mechanism = "auto" for records: what the closed forms say, and that they agree."""

from __future__ import annotations

import math

import pytest

from deniable.authoring import resolve
from deniable.authoring.auto_profile import AUTHORING, profile_choices, profile_noise
from deniable.authoring.closed_form import mean_variance
from deniable.authoring.mechanisms.views import best_size, view_noise
from deniable.errors import InvalidParameter
from deniable.protocol import InpHTParameters, ViewsParameters
from deniable.protocol.coefficients import CoefficientsParameters
from material.profiles import profile_of

MICROS = 1_098_612
WANTED = {"epsilon": MICROS / 1e6, "order": 2}


def test_yes_no_attributes_are_best_asked_by_views_of_the_order() -> None:
    """Measured: docs/marginals.md. Coefficients have less noise before smoothing, more after it."""
    for d in (8, 16, 32):
        found = profile_choices(profile_of(*(2,) * d), WANTED)
        assert [choice.mechanism for choice in found][:2] == ["views", "coefficients"]
        assert isinstance(found[0].parameters, ViewsParameters)
        assert {len(view) for view in found[0].parameters.views} == {2}
    assert found[1].noise < found[0].noise


def test_many_levels_are_best_asked_by_coefficients() -> None:
    assert profile_choices(profile_of(*(9,) * 6), WANTED)[0].mechanism == "coefficients"


def test_two_attributes_are_best_asked_at_once() -> None:
    best = profile_choices(profile_of(2, 2), WANTED)[0]
    assert best.mechanism == "views"
    assert isinstance(best.parameters, ViewsParameters)
    assert best.parameters.views == ((0, 1),)
    assert AUTHORING.resolve(WANTED, profile_of(2, 2), False) == best.parameters


def test_single_attributes_are_one_mechanism_under_two_names() -> None:
    """One yes/no attribute by a coin, or as a coefficient of order 1: the noise is the same."""
    parameters = resolve(
        CoefficientsParameters, {**WANTED, "order": 1}, profile_of(*(2,) * 9), False
    )
    assert profile_noise(parameters, MICROS) == pytest.approx(view_noise((2,) * 9, 1, 1, MICROS))


def test_one_view_of_everything_is_plain_k_rr() -> None:
    krr = resolve("inp_ps", {**WANTED, "order": 3}, profile_of(2, 2, 2), False)
    plain = mean_variance(*krr.support, 8)
    assert view_noise((2, 2, 2), 3, 3, MICROS) == pytest.approx(plain)


def test_the_allocation_is_no_worse_than_equal_shares() -> None:
    """InpHT draws all coefficients alike; ours never has a larger mean variance."""
    for d, k in ((8, 2), (16, 3), (5, 5)):
        ours = resolve(CoefficientsParameters, {**WANTED, "order": k}, profile_of(*(2,) * d), False)
        equal = resolve(InpHTParameters, {**WANTED, "order": k}, profile_of(*(2,) * d), False)
        gap, total = 2 * equal.keep / 2**64 - 1, 0.0
        for taken in range(1, k + 1):
            per_table = math.comb(k, taken)
            total += per_table * (1 / gap**2 * equal.coefficients - 1)
        assert profile_noise(ours, MICROS) <= total / 4**k * (1 + 1e-9)


def test_larger_epsilon_larger_views() -> None:
    sizes = [best_size((2,) * 16, 2, micros) for micros in (10_000, MICROS, 5_000_000)]
    assert sizes[0] == 2
    assert sizes[0] <= sizes[1] < sizes[2]


def test_as_json() -> None:
    choice = profile_choices(profile_of(2, 3, 2), WANTED)[0]
    assert set(choice.as_json()) == {"mechanism", "n_variance", "bytes", "work"}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [({"order": 2}, "auto needs 'epsilon'"), ({"epsilon": 1, "order": 9}, "at most 3")],
)
def test_refusals(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        profile_choices(profile_of(2, 3, 2), wanted)


def test_nothing_can_carry_records_beyond_measure() -> None:
    with pytest.raises(InvalidParameter, match="found no mechanism"):
        profile_choices(profile_of(*(65_536,) * 4), {"epsilon": 1, "order": 4})
