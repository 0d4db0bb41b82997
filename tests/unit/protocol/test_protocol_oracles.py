"""The integers of hadamard, subset and olh: what is resolved, refused, published and promised."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.authoring.closed_form import mean_variance
from deniable.authoring.mechanisms.olh import best_symbols
from deniable.authoring.mechanisms.subset import best_size
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import (
    Boolean,
    Categories,
    HadamardParameters,
    OLHParameters,
    Strings,
    SubsetParameters,
)
from deniable.protocol.hadamard import sign_of
from deniable.protocol.olh import symbol_of
from material.exact_exponential import exp_bounds

ONE = 2**64
sizes = st.integers(2, 300) | st.just(65_536)
epsilons = st.floats(0.001, 20)


def domain(size: int) -> Categories:
    return Categories(tuple(map(str, range(size))))


def micros(epsilon: float) -> int:
    return math.floor(Fraction(repr(epsilon)) * 10**6)


@given(sizes, st.booleans(), epsilons)
def test_hadamard_spends_what_was_wanted(size: int, absent: bool, epsilon: float) -> None:
    parameters = resolve(HadamardParameters, {"epsilon": epsilon}, domain(size), absent)
    assert parameters.size >= size + absent > parameters.size // 2
    keep = Fraction(parameters.keep, ONE)
    assert micros(epsilon) - 2 <= parameters.epsilon_once <= micros(epsilon)
    assert keep / (1 - keep) <= exp_bounds(micros(epsilon))[0]
    assert parameters.epsilon_forever is None
    assert not parameters.memoised


@given(st.integers(0, 2**17 - 1), st.integers(0, 2**17 - 1), st.integers(0, 2**17 - 1))
def test_signs_are_characters(a: int, x: int, y: int) -> None:
    assert sign_of(a, x) == bin(a & x).count("1") % 2
    assert sign_of(a, x ^ y) == sign_of(a, x) ^ sign_of(a, y)


@given(sizes, st.booleans(), epsilons)
def test_subset_spends_what_was_wanted(size: int, absent: bool, epsilon: float) -> None:
    parameters = resolve(SubsetParameters, {"epsilon": epsilon}, domain(size), absent)
    k, d, p = parameters.answers, parameters.size, Fraction(parameters.keep, ONE)
    assert k == size + absent
    assert micros(epsilon) - 2 <= parameters.epsilon_once <= micros(epsilon)
    assert p / (1 - p) * (k - d) / d <= exp_bounds(micros(epsilon))[0]
    inside, other = parameters.support
    assert inside + (k - 1) * other == d  # every report holds d answers
    assert inside > other


@given(st.integers(2, 60), epsilons)
def test_the_best_size_is_the_best_of_all(count: int, epsilon: float) -> None:
    e = math.exp(min(epsilon, 15))
    cost = {d: (d * e + count - d) ** 2 / (d * (count - d)) for d in range(1, count)}
    chosen = best_size(count, micros(min(epsilon, 15)))
    assert cost[chosen] == pytest.approx(min(cost.values()), rel=1e-4)


@given(st.sampled_from([2, 1000, 2**32]), epsilons)
def test_olh_spends_what_was_wanted(seeds: int, epsilon: float) -> None:
    wanted = {"epsilon": epsilon, "seeds": seeds}
    parameters = resolve(OLHParameters, wanted, Strings(), True)
    keep = Fraction(parameters.keep, ONE)
    ratio = keep * (parameters.symbols - 1) / (1 - keep)
    assert parameters.seeds == seeds
    assert micros(epsilon) - 2 <= parameters.epsilon_once <= micros(epsilon)
    assert ratio <= exp_bounds(micros(epsilon))[0]


@given(st.floats(0.01, 10.9))
def test_the_best_number_of_symbols_is_the_best_of_all(epsilon: float) -> None:
    e = math.exp(epsilon)
    near = range(2, min(65_536, int(3 * e) + 4) + 1)
    cost = {g: (e - 1 + g) ** 2 / (g - 1) for g in near}
    assert cost[best_symbols(micros(epsilon))] == pytest.approx(min(cost.values()), rel=1e-4)
    assert best_symbols(32_000_000) == 65_536


def test_known_numbers() -> None:
    """docs/mathematics.md, section 2: n Var per symbol at k = 1024 and k = 16, epsilon 1."""
    one = {"epsilon": 1.0}
    for k, subset, hadamard in ((1024, 3.68, 4.68), (16, 3.245, 4.68)):
        # The subset row is per symbol of n L2^2 at uniform, sampling included.
        p, q = resolve(SubsetParameters, one, domain(k), False).support
        uniform = mean_variance(p, q) + float((1 - p - q) / (p - q)) / k + (1 - 1 / k) / k
        assert uniform == pytest.approx(subset, abs=0.006)
        support = resolve(HadamardParameters, one, domain(k), False).support
        assert mean_variance(*support) == pytest.approx(hadamard, abs=0.005)
    assert mean_variance(*resolve(OLHParameters, one, Strings(), False).support) == pytest.approx(
        3.70, abs=0.05
    )


@pytest.mark.parametrize(
    ("kind", "wanted", "message"),
    [
        (HadamardParameters, {}, "needs 'epsilon'"),
        (SubsetParameters, {}, "needs 'epsilon'"),
        (OLHParameters, {}, "needs 'epsilon'"),
        (HadamardParameters, {"epsilon": math.inf}, "0.000001 to 32"),
        (SubsetParameters, {"epsilon": 1, "d": 0}, "from 1 to 1"),
        (SubsetParameters, {"epsilon": 1, "d": 2}, "from 1 to 1"),
        (OLHParameters, {"epsilon": 1, "g": 1}, "from 2 to 65536"),
        (OLHParameters, {"epsilon": 1, "g": 65_537}, "from 2 to 65536"),
        (OLHParameters, {"epsilon": 1, "seeds": 1}, "from 2 to"),
        (OLHParameters, {"epsilon": 1, "seeds": 2**32 + 1}, "from 2 to"),
    ],
)
def test_what_is_refused(
    kind: type[HadamardParameters | SubsetParameters | OLHParameters],
    wanted: dict[str, object],
    message: str,
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolve(kind, wanted, Boolean(), False)


@pytest.mark.parametrize("kind", [HadamardParameters, SubsetParameters])
def test_strings_are_refused_with_the_way_out(
    kind: type[HadamardParameters | SubsetParameters],
) -> None:
    with pytest.raises(InvalidParameter, match="olh"):
        resolve(kind, {"epsilon": 1}, Strings(), False)


@given(st.integers(0, 2**18), st.integers(0, ONE))
def test_hadamard_round_trip(size: int, keep: int) -> None:
    try:
        parameters = HadamardParameters(size, keep)
    except InvalidParameter:
        power = size >= 2 and size & (size - 1) == 0
        assert not power or size > 2**17 or not ONE // 2 < keep < ONE
        return
    assert HadamardParameters.from_published(parameters.published()) == parameters


@given(st.integers(2, 65_537), st.integers(0, 65_537), st.integers(0, ONE))
def test_subset_round_trip(count: int, size: int, include: int) -> None:
    try:
        parameters = SubsetParameters(count, size, include)
    except InvalidParameter:
        assert not 1 <= size < count or include * count <= size * ONE or include == ONE
        return
    assert SubsetParameters.from_published(parameters.published()) == parameters


@given(st.integers(0, 70_000), st.integers(0, 2**33), st.integers(0, ONE))
def test_olh_round_trip(symbols: int, seeds: int, keep: int) -> None:
    try:
        parameters = OLHParameters(symbols, seeds, keep)
    except InvalidParameter:
        good = 2 <= symbols <= 65_536 and 2 <= seeds <= 2**32
        assert not good or keep * symbols <= ONE or keep == ONE
        return
    assert OLHParameters.from_published(parameters.published()) == parameters


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (HadamardParameters, {"size": 4}),
        (HadamardParameters, {"size": 4.0, "keep": str(ONE - 1)}),
        (SubsetParameters, {"answers": 4, "size": 2}),
        (SubsetParameters, {"answers": 4, "size": True, "keep": str(ONE - 1)}),
        (OLHParameters, {"symbols": 4, "seeds": 2, "keep": ONE - 1}),
        (OLHParameters, {"symbols": 4, "seeds": 2, "keep": str(ONE - 1), "more": 1}),
    ],
)
def test_published_parameters_are_read_strictly(
    kind: type[HadamardParameters | SubsetParameters | OLHParameters], data: dict[str, object]
) -> None:
    with pytest.raises(InvalidParameter):
        kind.from_published(data)


@given(st.binary(max_size=7))
def test_records_of_any_bytes(record: bytes) -> None:
    whole = int.from_bytes(record, "little")
    hadamard = HadamardParameters(16, ONE - 1)
    subset = SubsetParameters(11, 3, ONE - 1)
    olh = OLHParameters(300, 1000, ONE - 1)
    good = {
        hadamard: len(record) == 5 and whole % 2**32 < 16 and record[4] < 2,
        subset: len(record) == 2 and whole < 2**11 and bin(whole).count("1") == 3,
        olh: len(record) == 6 and whole % 2**32 < 1000 and whole >> 32 < 300,
    }
    for parameters, accepted in good.items():
        if accepted:
            parameters.check_record(record)
            continue
        with pytest.raises(InvalidReport) as caught:
            parameters.check_record(record)
        assert caught.value.reason == "record"


@given(st.tuples(*[st.integers(0, ONE - 1)] * 2), st.integers(0, 2**32 - 1))
def test_symbols_lie_below_g(words: tuple[int, int], seed: int) -> None:
    assert all(0 <= symbol_of(words, seed, g) < g for g in (2, 3, 65_536))
