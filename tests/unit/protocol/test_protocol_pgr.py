"""Projective geometry response's integers: resolved, published and promised."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.authoring.closed_form import mean_variance
from deniable.authoring.mechanisms.pgr import best_geometry
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Boolean, Categories, PGRParameters, Strings
from deniable.protocol.pgr import is_prime
from deniable.protocol.projective import points_below
from deniable.protocol.truth_thresholds import truth_ratio

ONE = 2**64


def _domain(size: int) -> Categories:
    return Categories(tuple(map(str, range(size))))


@given(st.integers(2, 3_000), st.booleans(), st.floats(0.01, 12))
def test_what_was_wanted_is_spent_and_never_more(size: int, absent: bool, epsilon: float) -> None:
    asked = math.floor(Fraction(repr(epsilon)) * 10**6)
    for domain in (_domain(size), Strings()):
        parameters = resolve(PGRParameters, {"epsilon": epsilon}, domain, absent)
        assert asked - 2 <= parameters.epsilon_once <= asked
        assert parameters.answers == (0 if domain.size is None else size + absent)
        assert parameters.points >= max(parameters.answers, 2)
        assert PGRParameters.from_published(parameters.published()) == parameters
        parameters.check_domain(domain, absent)
        odds = Fraction(parameters.outer, parameters.inner)
        assert parameters.epsilon_once >= 1e6 * math.log(truth_ratio(odds, parameters.keep)) - 1


def floor_of(k: int, e: float) -> float:
    """n L2^2 of subset selection at a uniform distribution, sampling included: the floor."""
    sizes = {max(1, math.floor(k / (e + 1))), min(k - 1, math.ceil(k / (e + 1)))}
    return min(
        (k - 1) ** 2 * (d * e + k - d) ** 2 / (k * d * (k - d) * (e - 1) ** 2) for d in sizes
    )


@pytest.mark.parametrize(
    ("size", "within"), [(256, 1.10), (1_024, 1.10), (4_096, 1.05), (20_000, 1.05), (65_536, 1.05)]
)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0, 4.0, 5.0])
def test_the_variance_is_near_the_floor(size: int, within: float, epsilon: float) -> None:
    parameters = resolve(PGRParameters, {"epsilon": epsilon}, _domain(size), False)
    each = mean_variance(*parameters.support, size)
    assert size * each + 1 - 1 / size <= within * floor_of(size, math.exp(epsilon))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5, 5.0])
@pytest.mark.parametrize("fewest", [2, 7, 100, 900])
def test_the_chosen_geometry_has_nearly_the_least_variance(fewest: int, epsilon: float) -> None:
    """Against every geometry of up to 20,000 points."""
    micros = round(epsilon * 1e6)
    shapes = [
        (q, t)
        for q in range(2, 1_100)
        for t in range(2, 15)
        if is_prime(q) and fewest <= points_below(q, t) <= 20_000
    ]
    e = math.exp(epsilon)
    domain = _domain(fewest)
    chosen = resolve(PGRParameters, {"epsilon": epsilon}, domain, False)
    assert (chosen.prime, chosen.dimension) == best_geometry(fewest, micros)
    for prime, dimension in shapes:
        inner, points = points_below(prime, dimension - 1), points_below(prime, dimension)
        keep = int(ONE * (e * inner / (e * inner + points - inner)))
        other = PGRParameters("closed", fewest, prime, dimension, 1, keep)
        assert mean_variance(*chosen.support, fewest) <= 1.0011 * mean_variance(
            *other.support, fewest
        )


def test_primes() -> None:
    assert [n for n in range(30) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    assert is_prime(65_537)


@pytest.mark.parametrize(
    ("wanted", "domain", "message"),
    [
        ({}, Boolean(), "needs 'epsilon'"),
        ({"epsilon": math.nan}, Boolean(), "0.000001 to 32"),
        ({"epsilon": 1, "cohorts": 4}, Boolean(), "for strings only"),
        ({"epsilon": 1, "points": 4}, Boolean(), "for strings only"),
        ({"epsilon": 1, "cohorts": 0}, Strings(), "from 1 to 65536"),
        ({"epsilon": 1, "points": 1}, Strings(), "from 2 to"),
        ({"epsilon": 1, "points": 10**9}, Strings(), "from 2 to"),
    ],
)
def test_what_is_refused(wanted: dict[str, object], domain: Boolean, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolve(PGRParameters, wanted, domain, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"form": "open"}, "'closed' or 'hashed'"),
        ({"prime": 9}, "a prime number"),
        ({"prime": 1}, "from 2 to 65537"),
        ({"dimension": 1}, "from 2 to 22"),
        ({"dimension": 16}, "at most 4,194,304 points"),
        ({"answers": 14}, "from 2 to 13"),
        ({"answers": 0}, "from 2 to 13"),
        ({"cohorts": 2}, "1 in the closed form"),
        ({"form": "hashed"}, "0 in the hashed form"),
        ({"keep": ONE}, "nothing but the truth"),
        ({"keep": ONE * 4 // 13}, "says nothing"),
    ],
)
def test_integers_that_are_refused(change: dict[str, object], message: str) -> None:
    good = {"form": "closed", "answers": 5, "prime": 3, "dimension": 3, "cohorts": 1}
    with pytest.raises(InvalidParameter, match=message):
        PGRParameters(**{**good, "keep": 3 * 2**62, **change})


@given(st.binary(max_size=8))
def test_records(record: bytes) -> None:
    closed = PGRParameters("closed", 5, 3, 3, 1, 3 * 2**62)
    hashed = PGRParameters("hashed", 0, 3, 3, 7, 3 * 2**62)
    good = len(record) == 4 and int.from_bytes(record, "little") < 13
    _check(closed, record, good)
    cohort, point = int.from_bytes(record[:2], "little"), int.from_bytes(record[2:], "little")
    _check(hashed, record, len(record) == 6 and cohort < 7 and point < 13)


def _check(parameters: PGRParameters, record: bytes, good: bool) -> None:
    if good:
        parameters.check_record(record)
        return
    with pytest.raises(InvalidReport) as caught:
        parameters.check_record(record)
    assert caught.value.reason == "record"


def test_the_last_points_of_both_forms() -> None:
    closed = PGRParameters("closed", 5, 3, 3, 1, 3 * 2**62)
    hashed = PGRParameters("hashed", 0, 3, 3, 7, 3 * 2**62)
    _check(closed, b"\x0c\0\0\0", True)
    _check(closed, b"\x0d\0\0\0", False)
    _check(hashed, b"\x06\0\x0c\0\0\0", True)
    _check(hashed, b"\x07\0\x0c\0\0\0", False)


def test_the_domain_must_fit() -> None:
    closed = PGRParameters("closed", 5, 3, 3, 1, 3 * 2**62)
    closed.check_domain(_domain(4), True)
    for domain in (Strings(), _domain(4), Boolean()):
        with pytest.raises(InvalidParameter, match="pgr must be hashed"):
            closed.check_domain(domain, False)
