"""Parameters of the mechanisms of profiles: shapes, limits, wire records, what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from deniable.authoring import resolve
from deniable.authoring.auto_profile import profile_choices
from deniable.authoring.mechanisms.coefficients import best_orders
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import (
    MECHANISMS,
    PROFILE_MECHANISMS,
    Boolean,
    CoefficientsParameters,
    InpHTParameters,
    MargRRParameters,
    ProfileParameters,
    Strings,
    ViewsParameters,
)
from deniable.protocol.epsilon import exp_micros
from deniable.protocol.profile_parameters import cell_of, code_of
from deniable.protocol.thresholds import ONE, as_fraction
from material.profiles import profile_of

WHOLE = ("inp_rr", "inp_ps", "inp_em", "inp_olh", "inp_ht_cms")


def resolved(name: str, *answers: int, **wanted: object) -> Any:
    given = {"epsilon": 1.0986122, "order": 2, **wanted}
    return resolve(name, given, profile_of(*answers), absent=False)


@pytest.mark.parametrize("answers", [(2,) * 4, (2, 3, 5), (4, 2)])
@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_published_and_read_again(name: str, answers: tuple[int, ...]) -> None:
    parameters = resolved(name, *answers)
    assert isinstance(parameters, ProfileParameters)
    assert MECHANISMS[name].from_published(parameters.published()) == parameters
    parameters.check_domain(profile_of(*answers), absent=False)
    assert parameters.collected == (len(answers) if name in WHOLE else 2)
    assert not parameters.memoised
    p, q = parameters.support
    assert 0 < q < p < 1


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("inp_rr", 2),
        ("inp_ps", 1),
        ("inp_ht", 1),
        ("marg_rr", 2),
        ("marg_ps", 1),
        ("marg_ht", 1),
        ("inp_em", 1),
        ("inp_olh", 3),
        ("inp_ht_cms", 2),
        ("coefficients", 1),
        ("views", 1),
    ],
)
def test_reports_of_four_attributes_take_few_bytes(name: str, size: int) -> None:
    assert resolved(name, 2, 2, 2, 2).layout.size == size


@pytest.mark.parametrize("name", ["inp_ht", "marg_ps", "coefficients", "views"])
def test_reports_of_sixteen_and_32_attributes_take_two_bytes(name: str) -> None:
    assert resolved(name, *(2,) * 16, order=3).layout.size == 2
    assert resolved(name, *(2,) * 32, order=2).layout.size == 2


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_no_record_no_absent_answer_and_no_epsilon_are_refused(name: str) -> None:
    kind = MECHANISMS[name]
    for domain in (Boolean(), Strings()):
        with pytest.raises(InvalidParameter, match="needs a profile"):
            resolve(kind, {"epsilon": 1.0}, domain, absent=False)
    with pytest.raises(InvalidParameter, match="no absent answer"):
        resolve(kind, {"epsilon": 1.0}, profile_of(2, 2), absent=True)
    with pytest.raises(InvalidParameter, match="needs 'epsilon'"):
        resolve(kind, {"order": 2}, profile_of(2, 2), absent=False)


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_orders(name: str) -> None:
    assert resolved(name, 2, 2, 2, order=3).order == 3
    assert resolve(name, {"epsilon": 1}, profile_of(2, 2, 2), False).order == 2
    with pytest.raises(InvalidParameter, match="at most 3, the number of fields"):
        resolved(name, 2, 2, 2, order=4)
    with pytest.raises(InvalidParameter, match="'order'"):
        resolved(name, 2, 2, 2, order=0)


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("inp_rr", "4,294,967,296 bits"),
        ("inp_ps", "4,294,967,296 cells"),
        ("inp_olh", "4,294,967,296 possible profiles"),
        ("inp_ht_cms", "4,294,967,296 possible profiles"),
    ],
)
def test_what_grows_with_two_to_the_d_is_refused_with_the_figure(name: str, figure: str) -> None:
    with pytest.raises(InvalidParameter, match=figure) as caught:
        resolved(name, *(2,) * 32)
    assert "coefficients" in caught.value.fix
    assert "order" not in caught.value.fix  # which would not help


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_records_beyond_all_measure_are_refused_at_once(name: str) -> None:
    with pytest.raises(InvalidParameter, match="would need") as caught:
        resolved(name, *(65_536,) * 32, order=16)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["inp_ht", "marg_ht", "coefficients"])
def test_too_high_an_order_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match=r"would need [\d,]+ (coefficients|cells)"):
        resolved(name, *(2,) * 32, order=8)


def test_auto_says_what_is_too_much() -> None:
    with pytest.raises(InvalidParameter, match=r"auto found no .*2,448,023,842") as error:
        profile_choices(profile_of(*(2,) * 32), {"epsilon": 1.0, "order": 16})
    assert "order" in error.value.fix


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_other_levels_do_not_fit(name: str) -> None:
    parameters = resolved(name, 2, 3)
    with pytest.raises(InvalidParameter, match="answers of the profile's attributes"):
        parameters.check_domain(profile_of(3, 2), absent=False)


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
@pytest.mark.parametrize("answers", [[2], [2] * 33, [2, 1], [2, 65_537], "22", [2, True]])
def test_bad_levels_of_a_published_survey(name: str, answers: Any) -> None:
    published = resolved(name, 2, 2).published()
    with pytest.raises(InvalidParameter, match=f"'answers' parameter of {name}"):
        MECHANISMS[name].from_published({**published, "answers": answers})


def test_binary_codes_and_cells() -> None:
    assert code_of((1, 2, 4), (1, 2, 3)) == 1 + 2 * 2 + 8 * 4
    assert cell_of((1, 2, 4), (2, 3, 5)) == 1 + 2 * 2 + 6 * 4
    assert cell_of((1, 0, 1), (2, 2, 2)) == code_of((1, 0, 1), (1, 1, 1)) == 5


def test_coefficients_of_yes_or_no_attributes_are_those_of_inp_ht() -> None:
    ours, theirs = resolved("coefficients", *(2,) * 6), resolved("inp_ht", *(2,) * 6)
    assert isinstance(ours, CoefficientsParameters)
    assert isinstance(theirs, InpHTParameters)
    assert ours.coefficients == theirs.coefficients == 6 + 15
    assert ours.keep == theirs.keep
    masks = [theirs.masks(a) for a in range(21)]
    assert masks == [tuple((i, f + 1) for i, f in ours.chosen(a)) for a in range(21)]


def test_orders_are_drawn_by_the_square_root_of_the_number_of_tables() -> None:
    thresholds = best_orders(16, (16, 120, 560))
    weights = [16 * math.sqrt(math.comb(15, 2)), 120 * math.sqrt(14), 560.0]
    assert thresholds[0] / ONE == pytest.approx(weights[0] / sum(weights), rel=1e-9)
    assert thresholds[1] / ONE == pytest.approx(weights[1] / sum(weights[1:]), rel=1e-9)
    assert best_orders(5, (5,)) == ()


@pytest.mark.parametrize("basis", ["walsh", "contrasts"])
def test_thresholds_of_a_sign_lie_between_the_two_of_the_coin(basis: str) -> None:
    parameters = resolved("coefficients", 2, 3, 4, basis=basis, order=3)
    low, high = ONE - parameters.keep, parameters.keep
    seen = set()
    for coefficient in range(parameters.coefficients):
        for codes in [(a, b, c) for a in range(2) for b in range(3) for c in range(4)]:
            numerator, denominator = parameters.value(coefficient, codes)
            plus = parameters.plus(numerator, denominator)
            assert low <= plus <= high
            exact = Fraction(1, 2) + (as_fraction(high) - Fraction(1, 2)) * Fraction(
                numerator, denominator
            )
            assert abs(as_fraction(plus) - exact) < Fraction(1, ONE)
            assert abs(as_fraction(plus) - Fraction(1, 2)) <= abs(exact - Fraction(1, 2))
            seen.add(plus)
    assert {low, high} <= seen
    assert (len(seen) == 2) == (basis == "walsh")


def test_symmetric_and_asymmetric_bits() -> None:
    e = float(exp_micros(1_098_612))
    symmetric = resolved("inp_rr", 2, 2)
    assert float(symmetric.support[0]) == pytest.approx(e**0.5 / (e**0.5 + 1))
    assert sum(symmetric.support) == 1
    other = resolved("marg_rr", 2, 2, asymmetric=True)
    assert isinstance(other, MargRRParameters)
    assert other.one == ONE // 2
    assert float(other.support[1]) == pytest.approx(1 / (e + 1))
    with pytest.raises(InvalidParameter, match="true or false"):
        resolved("inp_rr", 2, 2, asymmetric=1)


def test_views_of_a_size() -> None:
    parameters = resolved("views", *(2,) * 8, size=4)
    assert isinstance(parameters, ViewsParameters)
    assert max(map(len, parameters.views)) == 4
    assert len(parameters.views) < 28
    for size in (1, 9):
        with pytest.raises(InvalidParameter, match="'size' parameter of views"):
            resolved("views", *(2,) * 8, size=size)


def test_levels_of_contrasts() -> None:
    assert resolved("coefficients", 64, 2, basis="contrasts").coefficients == 63 + 1 + 63
    with pytest.raises(InvalidParameter, match="at most 64 answers"):
        resolved("coefficients", 65, 2, basis="contrasts")
    with pytest.raises(InvalidParameter, match="'basis'"):
        resolved("coefficients", 3, 2, basis="sine")


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_records_of_another_size_are_refused(name: str) -> None:
    parameters = resolved(name, 2, 2)
    for data in (b"", bytes(parameters.layout.size + 1)):
        with pytest.raises(InvalidReport):
            parameters.check_record(data)
    with pytest.raises(InvalidReport):
        parameters.check_record(b"\xff" * parameters.layout.size)
