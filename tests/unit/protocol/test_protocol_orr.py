"""O-RR's integers: resolved, published and promised."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.authoring.closed_form import mean_variance
from deniable.authoring.mechanisms.orr import best_symbols
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Boolean, Categories, ORRParameters, Strings
from deniable.protocol.orr import collision
from deniable.protocol.truth_thresholds import truth_ratio
from material.exact_exponential import exp_bounds

ONE = 2**64


def _domain(size: int) -> Categories:
    return Categories(tuple(map(str, range(size))))


@given(st.integers(2, 300), st.booleans(), st.floats(0.001, 20), st.integers(2, 50))
def test_what_was_wanted_is_spent_and_never_more(
    size: int, absent: bool, epsilon: float, symbols: int
) -> None:
    asked = math.floor(Fraction(repr(epsilon)) * 10**6)
    for domain, k in ((Strings(), symbols), (_domain(size), min(symbols, size))):
        wanted = {"epsilon": epsilon, "k": k, "cohorts": 7}
        parameters = resolve(ORRParameters, wanted, domain, absent)
        assert asked - 2 <= parameters.epsilon_once <= asked
        assert truth_ratio(k - 1, parameters.keep) <= exp_bounds(asked)[0]
        assert parameters.answers == (0 if domain.size is None else size + absent)
        assert ORRParameters.from_published(parameters.published()) == parameters
        parameters.check_domain(domain, absent)


@given(st.integers(2, 40), st.integers(2, 40))
def test_collisions_are_those_of_ranks_modulo_k(answers: int, symbols: int) -> None:
    symbols = min(symbols, answers)
    classes = [rank % symbols for rank in range(answers)]
    pairs = sum(classes[a] == classes[b] for a in range(answers) for b in range(answers) if a != b)
    assert collision(answers, symbols) == Fraction(pairs, answers * (answers - 1))
    assert collision(0, symbols) == Fraction(1, symbols)
    assert collision(answers, symbols) < Fraction(1, symbols)


@pytest.mark.parametrize("answers", [0, 2, 5, 30, 1_000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 6.0])
def test_the_chosen_k_has_the_least_variance(answers: int, epsilon: float) -> None:
    chosen = best_symbols(answers, round(epsilon * 1e6))
    domain = _domain(answers) if answers else Strings()
    every = range(2, min(answers or 1_500, 1_500) + 1)
    variances = {
        k: mean_variance(
            *resolve(ORRParameters, {"epsilon": epsilon, "k": k}, domain, False).support, answers
        )
        for k in {*every, chosen}
    }
    assert variances[chosen] <= min(variances.values()) * (1 + 1e-9)


def test_defaults() -> None:
    strings = resolve(ORRParameters, {"epsilon": 1.0}, Strings(), False)
    assert (strings.form, strings.symbols, strings.cohorts) == ("hashed", 4, 256)
    few = resolve(ORRParameters, {"epsilon": 1.0}, Boolean(), False)
    assert (few.form, few.symbols, few.cohorts) == ("permuted", 2, 1)
    many = resolve(ORRParameters, {"epsilon": 1.0}, _domain(256), False)
    assert many.cohorts * (many.symbols - 1) >= 4 * 256


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "needs 'epsilon'"),
        ({"epsilon": 0}, "0.000001 to 32"),
        ({"epsilon": math.nan}, "0.000001 to 32"),
        ({"epsilon": 1, "k": 1}, "from 2 to 65536"),
        ({"epsilon": 1, "k": 3, "symbols": 3}, "not both"),
        ({"epsilon": 1, "k": 4}, "more symbols"),
        ({"epsilon": 1, "cohorts": 0}, "from 1 to 65536"),
        ({"epsilon": 1, "cohorts": 65_537}, "from 1 to 65536"),
    ],
)
def test_what_is_refused(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolve(ORRParameters, wanted, _domain(3), False)


def test_the_domain_must_fit() -> None:
    hashed = ORRParameters("hashed", 0, 4, 8, ONE // 2)
    permuted = ORRParameters("permuted", 5, 4, 8, ONE // 2)
    hashed.check_domain(Strings(), True)
    permuted.check_domain(_domain(5), False)
    permuted.check_domain(_domain(4), True)
    for parameters, domain in ((hashed, _domain(5)), (permuted, Strings()), (permuted, Boolean())):
        with pytest.raises(InvalidParameter, match="orr must be"):
            parameters.check_domain(domain, False)


@given(st.binary(max_size=6))
def test_records(record: bytes) -> None:
    parameters = ORRParameters("hashed", 0, 300, 1_000, ONE // 2)
    cohort, symbol = (int.from_bytes(record[i : i + 2], "little") for i in (0, 2))
    if len(record) == 4 and cohort < 1_000 and symbol < 300:
        parameters.check_record(record)
        return
    with pytest.raises(InvalidReport) as caught:
        parameters.check_record(record)
    assert caught.value.reason == "record"
