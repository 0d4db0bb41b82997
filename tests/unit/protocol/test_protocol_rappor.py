"""RAPPOR's integers: what is resolved, refused, published and promised."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Boolean, Categories, Domain, Numbers, RapporParameters, Strings
from deniable.protocol.unary import worst_ratio

ONE = 2**64
PAPER = {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75}
THREE = Categories(("a", "b", "c"))
thresholds = st.integers(0, ONE)


def _resolve(wanted: dict[str, object], domain: Domain | None = None) -> RapporParameters:
    return resolve(RapporParameters, wanted, domain or Strings(), False)


def _micros(epsilon: float) -> int:
    return math.floor(Fraction(repr(epsilon)) * 10**6)


def test_the_numbers_of_the_paper() -> None:
    parameters = _resolve({**PAPER})
    assert (parameters.q_star, parameters.p_star) == (Fraction(11, 16), Fraction(9, 16))
    assert parameters.epsilon_once == 1_074_286
    assert parameters.epsilon_forever == 4_394_450
    words = {"bits": 128, "hashes": 2, "cohorts": 16, "f": 0.5, "p": 0.5, "q": 0.75}
    assert _resolve(words) == parameters


def test_the_same_epsilons_with_one_hash_spend_them_better() -> None:
    parameters = _resolve({"h": 1, "epsilon": 1.0743, "epsilon_forever": 4.394})
    assert parameters.report_one / ONE == pytest.approx(0.531, abs=5e-4)
    assert parameters.report_zero / ONE == pytest.approx(0.224, abs=5e-4)
    assert parameters.permanent_zero / ONE == pytest.approx(0.1, abs=5e-4)
    assert float(parameters.q_star) == pytest.approx(0.5, abs=1e-9)
    assert (parameters.epsilon_once, parameters.epsilon_forever) == (1_074_300, 4_394_000)


@given(st.integers(1, 16), st.floats(0.001, 20))
def test_one_stage_spends_what_was_wanted_and_never_more(hashes: int, epsilon: float) -> None:
    parameters = _resolve({"h": hashes, "epsilon": epsilon})
    asked = _micros(epsilon)
    assert asked - 2 * hashes <= parameters.epsilon_once <= asked
    assert parameters.epsilon_forever is None
    assert abs(parameters.q_star - Fraction(1, 2)) < Fraction(1, 2**60)


@given(st.sampled_from([1, 2, 3, 16]), st.floats(0.001, 15), st.floats(0.001, 15))
def test_two_stages_spend_what_was_wanted_and_never_more(h: int, a: float, b: float) -> None:
    once, forever = sorted((a, b))
    assume(_micros(once) + 4 * h < _micros(forever))
    parameters = _resolve({"h": h, "epsilon": once, "epsilon_forever": forever})
    assert _micros(once) - 2 * h <= parameters.epsilon_once <= _micros(once)
    assert parameters.epsilon_forever is not None
    assert _micros(forever) - 4 * h <= parameters.epsilon_forever <= _micros(forever)


@given(st.integers(1, 32_000_000), st.integers(1, 40), st.sampled_from([1, 2, 5]))
def test_epsilons_that_nearly_meet(once: int, more: int, hashes: int) -> None:
    """A few micros apart: never a crash, never more than was asked."""
    wanted = {"h": hashes, "epsilon": once / 1e6, "epsilon_forever": (once + more) / 1e6}
    try:
        parameters = _resolve(wanted)
    except InvalidParameter:
        return
    assert parameters.epsilon_once <= once
    assert parameters.epsilon_forever is not None
    assert parameters.epsilon_forever <= once + more


@pytest.mark.parametrize(
    ("once", "forever", "hashes"), [(4, 5, 1), (10**6, 10**6 + 1, 1), (100, 103, 2)]
)
def test_where_the_fresh_stage_has_nothing_left_to_do(once: int, forever: int, hashes: int) -> None:
    wanted = {"h": hashes, "epsilon": once / 1e6, "epsilon_forever": forever / 1e6}
    parameters = _resolve(wanted)
    assert (parameters.report_one, parameters.report_zero) == (ONE, 0)
    assert parameters.epsilon_once <= once


@given(st.floats(0.001, 15), st.floats(0.001, 15))
def test_a_single_bit_is_symmetric_and_has_one_factor(a: float, b: float) -> None:
    once, forever = sorted((a, b))
    assume(_micros(once) < _micros(forever))
    wanted = {"epsilon": once, "epsilon_forever": forever}
    parameters = _resolve(wanted, Boolean())
    assert parameters.bits == 1
    assert _micros(once) - 2 <= parameters.epsilon_once <= _micros(once)
    assert abs(parameters.q_star + parameters.p_star - 1) < Fraction(1, 2**60)


@given(st.integers(1, 5), st.integers(2, 9), st.integers(2, 9))
def test_the_worst_ratio_is_the_largest_of_all(hashes: int, a: int, b: int) -> None:
    """Compared with every report of two answers that share no bit, enumerated."""
    one, zero = Fraction(max(a, b) + 1, 12), Fraction(min(a, b), 12)
    x, y = [1] * hashes + [0] * hashes, [0] * hashes + [1] * hashes

    def chance(bits: list[int], report: tuple[int, ...]) -> Fraction:
        total = Fraction(1)
        for bit, shown in zip(bits, report, strict=True):
            up = one if bit else zero
            total *= up if shown else 1 - up
        return total

    reports = product((0, 1), repeat=2 * hashes)
    worst = max(chance(x, report) / chance(y, report) for report in reports)
    assert worst == worst_ratio(one, zero, hashes, hashes)
    singles = [chance([b], (s,)) / chance([1 - b], (s,)) for b in (0, 1) for s in (0, 1)]
    assert max(singles) == worst_ratio(one, zero, 1, 0)


@given(thresholds, thresholds, thresholds, thresholds)
def test_both_stages_multiply(u: int, v: int, q: int, p: int) -> None:
    try:
        parameters = RapporParameters("bloom", 8, 1, 1, u, v, q, p)
    except InvalidParameter:
        return
    a, b, c, d = (Fraction(threshold, ONE) for threshold in (u, v, q, p))
    assert parameters.q_star == a * c + (1 - a) * d
    assert parameters.p_star == b * c + (1 - b) * d
    assert 0 < parameters.p_star < parameters.q_star < 1
    if parameters.epsilon_forever is not None:
        assert parameters.epsilon_once <= parameters.epsilon_forever
    assert RapporParameters.from_published(parameters.published()) == parameters


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_letters_are_rounded_inwards(f: float, p: float, q: float) -> None:
    try:
        parameters = _resolve({"f": f, "p": p, "q": q})
    except InvalidParameter:
        return
    assert parameters.permanent_one + parameters.permanent_zero == ONE
    assert Fraction(parameters.permanent_one, ONE) <= 1 - Fraction(f) / 2
    assert Fraction(parameters.report_one, ONE) <= Fraction(q)
    assert Fraction(parameters.report_zero, ONE) >= Fraction(p)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "needs 'epsilon'"),
        ({"epsilon_forever": 1}, "needs 'epsilon'"),
        ({"p": 0.5}, "both 'p' and 'q'"),
        ({"f": 0.5}, "both 'p' and 'q'"),
        ({"p": 0.5, "q": 0.5}, "greater than 'p'"),
        ({"p": 0.75, "q": 0.5}, "greater than 'p'"),
        ({"p": 0.5, "q": 1.5}, "'q' .* from 0 to 1"),
        ({"p": math.nan, "q": 0.5}, "'p' .* from 0 to 1"),
        ({"p": 0.5, "q": 0.75, "f": 2}, "'f' .* from 0 to 1"),
        ({"p": 0.5, "q": 0.75, "f": 1}, "f < 1"),
        ({"p": 0.5, "q": 0.75, "epsilon": 1}, "not both"),
        ({"p": 0, "q": 1}, "for certain"),
        ({"p": 0, "q": 0.5}, "for certain"),
        ({"p": 0.5, "q": 1}, "for certain"),
        ({"k": 8, "bits": 8, "epsilon": 1}, "not both"),
        ({"k": 1, "epsilon": 1}, "bits"),
        ({"k": 65_538, "epsilon": 1}, "bits"),
        ({"h": 17, "epsilon": 1}, "hashes"),
        ({"h": 0, "epsilon": 1}, "hashes"),
        ({"m": 65_537, "epsilon": 1}, "cohorts"),
        ({"m": 1.5, "epsilon": 1}, "cohorts"),
        ({"epsilon": 1, "epsilon_forever": 1}, "greater than 'epsilon'"),
        ({"epsilon": 1e-6, "h": 2}, "at least 0.000002"),
        ({"epsilon": 1e-6, "epsilon_forever": 2e-6, "h": 1}, None),
        ({"epsilon": 2e-6, "epsilon_forever": 3e-6, "h": 2}, "at least 0.000004"),
    ],
    ids=str,
)
def test_what_is_refused(wanted: dict[str, object], message: str | None) -> None:
    if message is None:  # the smallest that works
        assert _resolve(wanted).epsilon_once == 1
        return
    with pytest.raises(InvalidParameter, match=message):
        _resolve(wanted)


def test_closed_domains_take_the_basic_form() -> None:
    def bits(domain: Domain, absent: bool) -> int:
        parameters = resolve(RapporParameters, {"epsilon": 1}, domain, absent)
        assert (parameters.form, parameters.hashes, parameters.cohorts) == ("basic", 1, 1)
        parameters.check_domain(domain, absent)
        return parameters.bits

    assert bits(Boolean(), False) == 1
    assert bits(Boolean(), True) == 3
    assert bits(THREE, False) == 3
    assert bits(Numbers(("0",)), True) == 3
    assert resolve(RapporParameters, {"epsilon": 1, "k": 3}, THREE, False).bits == 3
    for name in ("k", "h", "m"):
        with pytest.raises(InvalidParameter, match="closed domain"):
            resolve(RapporParameters, {"epsilon": 1, name: 7}, THREE, False)


def test_parameters_must_fit_the_domain() -> None:
    bloom, basic = _resolve({"epsilon": 1}), _resolve({"epsilon": 1}, THREE)
    bloom.check_domain(Strings(), True)
    for parameters, domain, absent in (
        (bloom, THREE, False),
        (basic, Strings(), False),
        (basic, THREE, True),
        (basic, Boolean(), False),
    ):
        with pytest.raises(InvalidParameter, match=r"bloom form|a bit per answer"):
            parameters.check_domain(domain, absent)


def test_one_time_forms() -> None:
    fresh = _resolve({"p": 0.25, "q": 0.75})
    assert (fresh.permanent_one, fresh.permanent_zero, fresh.memoised) == (ONE, 0, False)
    permanent = _resolve({"f": 0.5, "p": 0, "q": 1})
    assert (permanent.report_one, permanent.report_zero, permanent.memoised) == (ONE, 0, True)
    assert permanent.epsilon_once == permanent.epsilon_forever


@pytest.mark.parametrize("bits", [2, 7, 8, 9, 13, 128])
def test_records(bits: int) -> None:
    parameters = _resolve({"k": bits, "m": 7, "epsilon": 1})
    size = 2 + (bits + 7) // 8
    assert parameters.layout.size == size
    full = (2**bits - 1).to_bytes(size - 2, "little")
    for cohort in range(7):
        parameters.check_record(cohort.to_bytes(2, "little") + full)
    with pytest.raises(InvalidReport, match="cohort must be below 7"):
        parameters.check_record(b"\x07\x00" + full)
    for wrong in (b"", full, b"\x00\x00" + full + b"\x00"):
        with pytest.raises(InvalidReport, match="bytes long"):
            parameters.check_record(wrong)
    for place in range(bits, 8 * (size - 2)):
        with pytest.raises(InvalidReport, match="padding"):
            parameters.check_record(b"\x00\x00" + (1 << place).to_bytes(size - 2, "little"))


@given(st.binary(max_size=5))
def test_any_bytes_are_a_record_or_refused(record: bytes) -> None:
    parameters = _resolve({"k": 13, "m": 300, "epsilon": 1})
    cohort, bits = int.from_bytes(record[:2], "little"), int.from_bytes(record[2:], "little")
    if len(record) == 4 and cohort < 300 and bits < 2**13:
        parameters.check_record(record)
    else:
        with pytest.raises(InvalidReport):
            parameters.check_record(record)
