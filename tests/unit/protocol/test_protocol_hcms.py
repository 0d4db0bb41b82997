"""The Hadamard count-mean sketch's integers: resolved, published and promised."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.authoring.closed_form import mean_variance
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Boolean, Categories, HCMSParameters, Strings

ONE = 2**64


@given(st.floats(0.001, 20), st.booleans(), st.integers(1, 300), st.integers(1, 12))
def test_what_was_wanted_is_spent_and_never_more(
    epsilon: float, absent: bool, rows: int, digits: int
) -> None:
    asked = math.floor(Fraction(repr(epsilon)) * 10**6)
    wanted = {"epsilon": epsilon, "rows": rows, "width": 2**digits}
    for domain, answers in ((Strings(), 0), (Boolean(), 2 + absent)):
        parameters = resolve(HCMSParameters, wanted, domain, absent)
        assert asked - 2 <= parameters.epsilon_once <= asked
        assert parameters.answers == answers
        assert HCMSParameters.from_published(parameters.published()) == parameters
        parameters.check_domain(domain, absent)


def test_the_closed_form_of_wide_sketches_is_that_of_one_hadamard_bit() -> None:
    for epsilon in (0.5, 1.0, 3.0):
        e = math.exp(epsilon)
        wanted = {"epsilon": epsilon, "width": 2**20, "rows": 1}
        parameters = resolve(HCMSParameters, wanted, Strings(), False)
        assert mean_variance(*parameters.support) == pytest.approx(
            ((e + 1) / (e - 1)) ** 2, rel=1e-4
        )


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "needs 'epsilon'"),
        ({"epsilon": math.inf}, "0.000001 to 32"),
        ({"epsilon": 1, "rows": 0}, "from 1 to 65536"),
        ({"epsilon": 1, "width": 3}, "power of two"),
        ({"epsilon": 1, "width": 1}, "from 2 to"),
        ({"epsilon": 1, "width": 2**21}, "from 2 to"),
        ({"epsilon": 1, "width": 2**20, "rows": 17}, "at most 16,777,216 cells"),
    ],
)
def test_what_is_refused(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolve(HCMSParameters, wanted, Strings(), False)


@pytest.mark.parametrize(("keep", "message"), [(ONE, "nothing but"), (ONE // 2, "says nothing")])
def test_thresholds_that_are_refused(keep: int, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        HCMSParameters(0, 5, 256, keep)


def test_the_domain_must_fit() -> None:
    parameters = HCMSParameters(3, 5, 256, 3 * 2**62)
    parameters.check_domain(Categories(("a", "b", "c")), False)
    parameters.check_domain(Boolean(), True)
    for domain in (Strings(), Boolean()):
        with pytest.raises(InvalidParameter, match="exactly the answers"):
            parameters.check_domain(domain, False)
    with pytest.raises(InvalidParameter, match="0 for strings"):
        HCMSParameters(1, 5, 256, 3 * 2**62)


@pytest.mark.parametrize(
    ("record", "good"),
    [
        (b"\x04\x00\xff\x00\x00\x00\x01", True),
        (b"\x00\x00\x00\x00\x00\x00\x00", True),
        (b"\x05\x00\xff\x00\x00\x00\x01", False),
        (b"\x04\x00\x00\x01\x00\x00\x01", False),
        (b"\x04\x00\xff\x00\x00\x00\x02", False),
        (b"\x04\x00\xff\x00\x00\x00", False),
    ],
)
def test_records(record: bytes, good: bool) -> None:
    parameters = HCMSParameters(0, 5, 256, 3 * 2**62)
    if good:
        parameters.check_record(record)
        return
    with pytest.raises(InvalidReport) as caught:
        parameters.check_record(record)
    assert caught.value.reason == "record"
