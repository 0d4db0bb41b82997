"""k-RR's integers: what is resolved, refused, published and promised."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Boolean, Categories, KRRParameters, Numbers, Strings
from material.exact_exponential import exp_bounds

ONE = 2**64
sizes = st.integers(2, 300) | st.just(65_536)


def _domain(size: int) -> Categories:
    return Categories(tuple(map(str, range(size))))


@given(sizes, st.booleans(), st.floats(0.001, 20))
def test_one_stage_spends_what_was_wanted_and_never_more(
    size: int, absent: bool, epsilon: float
) -> None:
    parameters = resolve(KRRParameters, {"epsilon": epsilon}, _domain(size), absent)
    asked = math.floor(Fraction(repr(epsilon)) * 10**6)
    assert parameters.answers == size + absent
    assert asked - 2 <= parameters.epsilon_once <= asked
    assert parameters.keep / parameters.move <= exp_bounds(asked)[0]
    assert parameters.epsilon_forever is None
    assert not parameters.memoised


@given(sizes, st.floats(0.001, 19), st.floats(0.001, 20))
def test_two_stages_spend_what_was_wanted_and_never_more(size: int, a: float, b: float) -> None:
    once, forever = sorted((a, b))
    asked, bound = (math.floor(Fraction(repr(x)) * 10**6) for x in (once, forever))
    if asked == bound:
        return
    wanted = {"epsilon": once, "epsilon_forever": forever}
    parameters = resolve(KRRParameters, wanted, _domain(size), False)
    assert asked - 2 <= parameters.epsilon_once <= asked
    assert parameters.epsilon_forever is not None
    assert bound - 2 <= parameters.epsilon_forever <= bound
    assert parameters.memoised


@given(st.integers(2, 50), st.integers(1, ONE), st.integers(1, ONE))
def test_both_stages_multiply(size: int, a: int, b: int) -> None:
    """Compared with the full product of the two channel matrices' rows."""
    try:
        parameters = KRRParameters(size, a, b)
    except InvalidParameter:
        return
    first, second = Fraction(a, ONE), Fraction(b, ONE)
    row = [first, *[(1 - first) / (size - 1)] * (size - 1)]
    out = [second, *[(1 - second) / (size - 1)] * (size - 1)]
    keep = sum(row[i] * (out[0] if i == 0 else out[1]) for i in range(size))
    move = row[0] * out[1] + row[1] * out[0] + sum(row[i] * out[1] for i in range(2, size))
    assert (parameters.keep, parameters.move) == (keep, move)
    assert keep + (size - 1) * move == 1
    if parameters.epsilon_forever is not None:
        assert parameters.epsilon_once <= parameters.epsilon_forever


def test_where_the_fresh_stage_has_nothing_left_to_do() -> None:
    """At epsilon 32 one threshold is 4 micros, so that the permanent stage can fall below once."""
    wanted = {"epsilon": 31.999999, "epsilon_forever": 32}
    parameters = resolve(KRRParameters, wanted, Boolean(), False)
    assert parameters.report_keep == ONE
    assert parameters.epsilon_once == parameters.epsilon_forever == 31_999_999


def test_known_numbers() -> None:
    warner = resolve(KRRParameters, {"epsilon": math.log(3)}, Boolean(), False)
    assert abs(warner.report_keep / ONE - 0.75) < 1e-6
    assert resolve(KRRParameters, {"keep": 0.75}, Boolean(), False).epsilon_once == 1_098_613
    assert KRRParameters(10, ONE, ONE // 2).epsilon_once == 2_197_225  # ln 9


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "needs 'epsilon'"),
        ({"epsilon_forever": 2.0}, "needs 'epsilon'"),
        ({"epsilon": 1, "keep": 0.5}, "not both"),
        ({"keep": 0.5}, "above 1/2"),
        ({"keep": 0.1}, "above 1/2"),
        ({"keep": 1.0}, "would report the true answer"),
        ({"keep": 1.5}, "from 0 to 1"),
        ({"keep": math.nan}, "from 0 to 1"),
        ({"epsilon": math.nan}, "0.000001 to 32"),
        ({"epsilon": math.inf}, "0.000001 to 32"),
        ({"epsilon": 0}, "0.000001 to 32"),
        ({"epsilon": "1"}, "0.000001 to 32"),
        ({"epsilon": 2, "epsilon_forever": 2}, "greater than 'epsilon'"),
        ({"epsilon": 2, "epsilon_forever": 1}, "greater than 'epsilon'"),
    ],
)
def test_what_is_refused(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolve(KRRParameters, wanted, Boolean(), False)


def test_strings_are_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidParameter, match="rappor"):
        resolve(KRRParameters, {"epsilon": 1}, Strings(), False)


@given(st.integers(2, 65_537), st.integers(0, ONE), st.integers(0, ONE))
def test_published_round_trip(size: int, a: int, b: int) -> None:
    try:
        parameters = KRRParameters(size, a, b)
    except InvalidParameter:
        assert min(a, b) * size <= ONE or a == b == ONE
        return
    assert KRRParameters.from_published(parameters.published()) == parameters


@pytest.mark.parametrize("size", [1, 0, -1, 65_538, 2.0, True, "2"])
def test_sizes_out_of_range(size: object) -> None:
    keep = {"permanent_keep": str(ONE), "report_keep": str(ONE - 1)}
    with pytest.raises(InvalidParameter, match="answers"):
        KRRParameters.from_published({"answers": size, **keep})


def test_the_domain_must_have_as_many_answers() -> None:
    parameters = KRRParameters(3, ONE, ONE // 2)
    parameters.check_domain(_domain(3), False)
    parameters.check_domain(Boolean(), True)
    parameters.check_domain(Numbers(("0", "1")), False)
    for domain, absent in ((_domain(3), True), (Boolean(), False), (Strings(), True)):
        with pytest.raises(InvalidParameter, match="as many answers"):
            parameters.check_domain(domain, absent)


@given(st.binary(max_size=6))
def test_records(record: bytes) -> None:
    parameters = KRRParameters(300, ONE, ONE // 2)
    if len(record) == 4 and int.from_bytes(record, "little") < 300:
        parameters.check_record(record)
        return
    with pytest.raises(InvalidReport) as caught:
        parameters.check_record(record)
    assert caught.value.reason == "record"


def test_every_symbol_and_no_other_is_a_record() -> None:
    parameters = KRRParameters(5, ONE, ONE // 2)
    for symbol in range(5):
        parameters.check_record(symbol.to_bytes(4, "little"))
    for symbol in (5, 256, 2**32 - 1):
        with pytest.raises(InvalidReport, match="below 5"):
            parameters.check_record(symbol.to_bytes(4, "little"))
