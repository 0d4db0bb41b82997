"""The integers of optimised unary encoding: what is resolved, refused, published and promised."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Boolean, Categories, OUEParameters, Sets, Strings
from deniable.protocol.unary import set_exponents, worst_ratio
from material.exact_exponential import exp_bounds

ONE = 2**64
sizes = st.integers(2, 300) | st.just(65_536)


def domain(size: int) -> Categories:
    return Categories(tuple(map(str, range(size))))


@given(sizes, st.booleans(), st.floats(0.001, 20))
def test_one_stage_spends_what_was_wanted_and_never_more(
    size: int, absent: bool, epsilon: float
) -> None:
    parameters = resolve(OUEParameters, {"epsilon": epsilon}, domain(size), absent)
    asked = math.floor(Fraction(repr(epsilon)) * 10**6)
    assert parameters.bits == size + absent
    assert parameters.q_star == Fraction(1, 2)
    assert asked - 2 <= parameters.epsilon_once <= asked
    assert (1 - parameters.p_star) / parameters.p_star <= exp_bounds(asked)[0]
    assert parameters.epsilon_forever is None
    assert not parameters.memoised


@given(st.floats(0.001, 19), st.floats(0.001, 20))
def test_two_stages_spend_what_was_wanted_and_never_more(a: float, b: float) -> None:
    once, forever = sorted((a, b))
    asked, bound = (math.floor(Fraction(repr(x)) * 10**6) for x in (once, forever))
    if asked == bound:
        return
    wanted = {"epsilon": once, "epsilon_forever": forever}
    parameters = resolve(OUEParameters, wanted, domain(5), False)
    assert parameters.q_star == Fraction(1, 2)
    assert asked - 2 <= parameters.epsilon_once <= asked
    assert parameters.epsilon_forever is not None
    assert bound - 2 <= parameters.epsilon_forever <= bound
    assert parameters.memoised


def test_known_numbers() -> None:
    """docs/mathematics.md, section 6: n Var 3.15 at (4.394, 1.0743)."""
    wanted = {"epsilon": 1.0743, "epsilon_forever": 4.394}
    p, q = resolve(OUEParameters, wanted, domain(9), False).support
    assert float(q * (1 - q) / (p - q) ** 2) == pytest.approx(3.15, abs=0.005)


@given(st.integers(2, 12), st.integers(1, 6), st.floats(0.01, 8))
def test_a_bit_per_name_never_spends_more(names: int, most: int, epsilon: float) -> None:
    """Against every number of bits in which two sets can differ."""
    most = min(most, names)
    sets = Sets(tuple(map(str, range(names))), most)
    parameters = resolve(OUEParameters, {"epsilon": epsilon, "per": "bit"}, sets, False)
    assert (parameters.bits, parameters.members) == (names, most)
    up = parameters.q_star / parameters.p_star
    down = (1 - parameters.p_star) / (1 - parameters.q_star)
    worst = max(up**a * down**b for a in range(most + 1) for b in range(most + 1) if a + b <= names)
    assert worst == worst_ratio(parameters.q_star, parameters.p_star, *set_exponents(names, most))
    asked = math.floor(Fraction(repr(epsilon)) * 10**6)
    assert parameters.epsilon_once <= asked
    if names >= 2 * most:
        assert parameters.epsilon_once >= asked - 2 - most  # less than a micro lost per share


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "needs 'epsilon'"),
        ({"epsilon_forever": 2.0}, "needs 'epsilon'"),
        ({"epsilon": math.nan}, "0.000001 to 32"),
        ({"epsilon": 0}, "0.000001 to 32"),
        ({"epsilon": 2, "epsilon_forever": 2}, "greater than 'epsilon'"),
        ({"epsilon": 1, "per": "bit"}, "sets only"),
        ({"epsilon": 1, "per": "name"}, "'bit', or left out"),
    ],
)
def test_what_is_refused(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolve(OUEParameters, wanted, Boolean(), False)


def test_strings_and_large_sets_are_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidParameter, match="olh"):
        resolve(OUEParameters, {"epsilon": 1}, Strings(), False)
    many = Sets(tuple(map(str, range(20))), 17)
    with pytest.raises(InvalidParameter, match="sample one member"):
        resolve(OUEParameters, {"epsilon": 1, "per": "bit"}, many, False)
    assert resolve(OUEParameters, {"epsilon": 1}, many, False).bits == 21
    tiny = {"epsilon": 0.000001, "per": "bit"}
    with pytest.raises(InvalidParameter, match=r"at least 0\.000002"):
        resolve(OUEParameters, tiny, Sets(tuple("abcd"), 2), False)


@given(st.integers(2, 65_537), *[st.integers(0, ONE)] * 4, st.sampled_from([0, 1, 16]))
def test_published_round_trip(bits: int, a: int, b: int, c: int, d: int, members: int) -> None:
    try:
        parameters = OUEParameters(bits, a, b, c, d, members)
    except InvalidParameter:
        return
    assert OUEParameters.from_published(parameters.published()) == parameters
    assert ("members" in parameters.published()) == (members > 0)


def test_the_domain_must_have_as_many_answers() -> None:
    parameters = resolve(OUEParameters, {"epsilon": 1}, domain(3), False)
    parameters.check_domain(Boolean(), True)
    for other, absent in ((domain(3), True), (Boolean(), False)):
        with pytest.raises(InvalidParameter, match="a bit for each"):
            parameters.check_domain(other, absent)


@given(st.binary(max_size=4))
def test_records(record: bytes) -> None:
    parameters = resolve(OUEParameters, {"epsilon": 1}, domain(11), False)
    if len(record) == 2 and record[1] < 8:
        parameters.check_record(record)
        return
    with pytest.raises(InvalidReport) as caught:
        parameters.check_record(record)
    assert caught.value.reason == "record"
