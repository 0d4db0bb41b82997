"""Raw and smoothed tables: what each promises, and what happens at the edges."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.errors import InvalidParameter
from deniable.marginals import Table, raw_table, smoothed_tables
from deniable.marginals.inp_em import NO_INFORMATION, likely_table
from deniable.marginals.smoothed import CONTRADICTS, smooth
from deniable.mechanisms import PROFILE_MECHANISMS, Counts, InpEM, ProfileMechanism
from deniable.mechanisms.base import Codes, Floats
from deniable.mechanisms.moments import Moment, Moments
from deniable.mechanisms.profile_base import NO_REPORTS, NOT_REPORTED, unnamed_profile


def made(name: str, answers: tuple[int, ...], order: int = 2, **wanted: object) -> ProfileMechanism:
    kind, record = PROFILE_MECHANISMS[name], unnamed_profile(answers)
    asked = {"epsilon": math.log(3), "order": order, **wanted}
    return kind.of(resolve(kind.parameters_type, asked, record, False), record)


def people(answers: tuple[int, ...], n: int, rng: np.random.Generator) -> Codes:
    """Return people with one liking behind all attributes."""
    liking = rng.normal(size=(n, 1))
    score = (0.8 * liking + 0.6 * rng.normal(size=(n, len(answers)))).clip(-2, 2)
    return ((score + 2) / 4.01 * np.array(answers)).astype(np.int64)


def truth(codes: Codes, answers: tuple[int, ...], attributes: tuple[int, ...]) -> Floats:
    shape = tuple(answers[i] for i in attributes)
    places = np.ravel_multi_index(tuple(codes[:, attributes].T), shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape) / len(codes)


def counted(mechanism: ProfileMechanism, n: int, rng: np.random.Generator) -> tuple[Codes, Counts]:
    codes = people(mechanism.answers, n, rng)
    return codes, mechanism.accumulate(mechanism.simulate(codes, rng))


def distance(found: Floats, true: Floats) -> float:
    return float(np.abs(found - true).sum() / 2)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("views", (2,) * 8),
        ("coefficients", (2,) * 8),
        ("views", (3, 2, 4, 2, 3)),
        ("coefficients", (3, 2, 4, 2, 3)),
        ("inp_ht", (2,) * 8),
        ("marg_ps", (3, 2, 2, 2, 3)),
        ("inp_ps", (2,) * 6),
    ],
)
def test_smoothed_tables_are_distributions_that_agree(
    name: str, answers: tuple[int, ...], rng: np.random.Generator
) -> None:
    mechanism = made(name, answers, order=3)
    _, counts = counted(mechanism, 30_000, rng)
    tables = {
        attributes: table
        for order in (1, 2, 3)
        for attributes, table in smoothed_tables(mechanism, counts, order).items()
    }
    assert len(tables) == sum(math.comb(len(answers), k) for k in (1, 2, 3))
    for attributes, table in tables.items():
        assert table.kind == "smoothed"
        assert table.std_error is None
        assert table.probability.min() >= 0
        assert table.probability.sum() == pytest.approx(1)
        tolerance = 0.05 if CONTRADICTS in table.notes else 2e-3
        for axis in range(len(attributes) if len(attributes) > 1 else 0):
            rest = attributes[:axis] + attributes[axis + 1 :]
            margin = table.probability.sum(axis=axis)
            assert margin == pytest.approx(tables[rest].probability, abs=tolerance)


@pytest.mark.parametrize(
    ("name", "gain"), [("views", 1.15), ("coefficients", 1.15), ("inp_ht", 1.1)]
)
def test_smoothed_tables_are_nearer_to_the_truth(name: str, gain: float) -> None:
    rng = np.random.default_rng(8)
    mechanism = made(name, (2,) * 12)
    codes, counts = counted(mechanism, 40_000, rng)
    smoothed = smoothed_tables(mechanism, counts)
    raw, better = 0.0, 0.0
    for attributes, table in smoothed.items():
        true = truth(codes, mechanism.answers, attributes)
        raw += distance(mechanism.marginal(counts, attributes)[0], true)
        better += distance(table.probability, true)
    assert better * gain < raw


def test_three_attributes_without_measured_interactions_have_largest_entropy(
    rng: np.random.Generator,
) -> None:
    mechanism = made("views", (2,) * 6)
    _, counts = counted(mechanism, 50_000, rng)
    tables = smoothed_tables(mechanism, counts, order=3, subsets=[(0, 2, 5), (3, 1, 0)])
    assert set(tables) == {(0, 2, 5), (0, 1, 3)}
    cells = tables[(0, 2, 5)].probability
    even, odd = cells[0, 0, 0] * cells[0, 1, 1] * cells[1, 0, 1] * cells[1, 1, 0], 1.0
    for place in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)):
        odd *= cells[place]
    assert even / odd == pytest.approx(1, abs=0.05)
    with pytest.raises(InvalidParameter, match="at most 2 attributes"):
        raw_table(mechanism, counts, (0, 2, 5))


def test_a_strong_interaction_of_three_survives() -> None:
    """The third attribute is the exclusive or of two: no pair shows it."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, size=(200_000, 4))
    codes[:, 2] = codes[:, 0] ^ codes[:, 1]
    mechanism = made("views", (2,) * 4, order=3)
    counts = mechanism.accumulate(mechanism.simulate(codes, rng))
    tables = smoothed_tables(mechanism, counts)
    assert distance(tables[(0, 1, 2)].probability, truth(codes, (2,) * 4, (0, 1, 2))) < 0.05
    assert distance(tables[(0, 1, 3)].probability, np.full((2, 2, 2), 1 / 8)) < 0.05


def test_constant_attributes_and_attributes_that_are_equal() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, size=(100_000, 6))
    codes[:, 1], codes[:, 4] = 1, codes[:, 3]
    mechanism = made("views", (2,) * 6)
    counts = mechanism.accumulate(mechanism.simulate(codes, rng))
    tables = smoothed_tables(mechanism, counts)
    assert tables[(0, 1)].probability[:, 0] == pytest.approx([0, 0], abs=0.02)
    assert np.diagonal(tables[(3, 4)].probability).sum() > 0.97


@pytest.mark.parametrize(("attributes", "pairs"), [(2, 1), (4, 6)])
def test_few_pairs_are_moved_by_a_part_only(attributes: int, pairs: int) -> None:
    """(m - 2)/m of m pairs: pure noise of one pair stays, a third of that of six."""
    known = np.full((1,), 1e-8)
    measured = {(i,): Moment(np.zeros(1), known, 1e6) for i in range(attributes)}
    for pair in combinations(range(attributes), 2):
        measured[pair] = Moment(np.full((1, 1), 1e-3), np.full((1, 1), 1e-2), 1e6)
    tables, _ = smooth(Moments((2,) * attributes, measured, 10**6), 2)
    left = max(0.0, 1 - max(0, pairs - 2) / pairs)
    for pair in combinations(range(attributes), 2):
        moment = float((tables[pair] * [[1, -1], [-1, 1]]).sum())
        # What the prior leaves of noise this small is little, and never negative. One hundredth
        # is lost to a prior of variance 1, beside noise of variance 0.01.
        assert 0.99 * left * 1e-3 <= moment < (left + 0.5 * (1 - left)) * 1e-3 + 1e-9


def test_fewer_reports_than_coefficients() -> None:
    """Smoothed tables are near the product, raw ones unknown where nobody reported."""
    rng = np.random.default_rng(4)
    mechanism = made("coefficients", (2,) * 16, order=3)
    _, counts = counted(mechanism, 200, rng)
    raw = raw_table(mechanism, counts, ("a1", "a2", "a3"))
    assert raw.notes == (NOT_REPORTED,)
    assert np.isnan(raw.probability).all()
    assert raw.std_error is not None
    assert np.isnan(raw.std_error).all()
    found = smoothed_tables(mechanism, counts, subsets=[(0, 1, 2)])[(0, 1, 2)]
    assert np.isfinite(found.probability).all()


@pytest.mark.parametrize("name", sorted(PROFILE_MECHANISMS))
@pytest.mark.parametrize("n", [1, 20, 200])
def test_smoothed_tables_of_very_few_people_are_distributions_that_agree(name: str, n: int) -> None:
    """One answer often has all of an attribute here, so that most cells of a table must be 0."""
    for epsilon in (0.1, 1.0, 8.0):
        extra = {"seeds": 1_024} if name == "inp_olh" else {}
        mechanism = made(name, (2, 3, 2), epsilon=epsilon, **extra)
        for seed in range(8):
            _, counts = counted(mechanism, n, np.random.default_rng(seed))
            ones = smoothed_tables(mechanism, counts, 1)
            for attributes, table in smoothed_tables(mechanism, counts, 2).items():
                assert table.probability.min() >= 0
                assert table.probability.sum() == pytest.approx(1)
                for axis in (0, 1):
                    margin = table.probability.sum(axis=axis)
                    alone = ones[(attributes[1 - axis],)].probability
                    assert margin == pytest.approx(alone, abs=2e-3)


def test_no_reports_at_all() -> None:
    mechanism = made("views", (2, 3, 2))
    found = smoothed_tables(mechanism, mechanism.zero())
    assert found[(0, 1)].probability == pytest.approx(np.full((2, 3), 1 / 6))
    assert found[(0, 1)].notes == (NO_REPORTS,)
    assert raw_table(mechanism, mechanism.zero(), (0, 1)).notes == (NO_REPORTS,)


def test_the_whole_record_as_one_table(rng: np.random.Generator) -> None:
    mechanism = made("inp_ps", (2, 2, 3), order=3)
    codes, counts = counted(mechanism, 400_000, rng)
    found = smoothed_tables(mechanism, counts)[(0, 1, 2)]
    assert distance(found.probability, truth(codes, (2, 2, 3), (0, 1, 2))) < 0.05


def test_a_raw_table_has_its_intervals(rng: np.random.Generator) -> None:
    mechanism = made("views", (2, 3, 2))
    codes, counts = counted(mechanism, 20_000, rng)
    table = raw_table(mechanism, counts, ("a2", "a1"))
    assert (table.kind, table.attributes, table.n) == ("raw", ("a2", "a1"), 20_000)
    assert table.labels == (("0", "1", "2"), ("0", "1"))
    assert table.std_error is not None
    assert table.low is not None
    assert table.high is not None
    assert table.high - table.low == pytest.approx(2 * 1.96 * table.std_error, rel=1e-3)
    true = truth(codes, mechanism.answers, (0, 1)).T
    assert (np.abs(table.probability - true) < 6 * table.std_error).all()
    with pytest.raises(InvalidParameter, match="shape"):
        Table.raw(("a",), (("x", "y"),), np.zeros(3), np.zeros((3, 3)), 1)


def test_refusals() -> None:
    mechanism = made("views", (2, 2, 2))
    with pytest.raises(InvalidParameter, match="order"):
        smoothed_tables(mechanism, mechanism.zero(), order=4)
    with pytest.raises(InvalidParameter, match="no attribute 'b'"):
        smoothed_tables(mechanism, mechanism.zero(), subsets=[("a1", "b")])
    nothing = Moments((2, 2), {(0,): Moment(np.zeros(1), np.ones(1), 1.0)}, 1)
    with pytest.raises(InvalidParameter, match="every single attribute"):
        smooth(nothing, 2)


def contradicting(attributes: int, noise: float = 1e-9) -> Moments:
    """Return moments of which the first three pairs, all opposite, cannot be true together."""
    measured = {(i,): Moment(np.zeros(1), np.full(1, noise), 1e9) for i in range(attributes)}
    for pair in combinations(range(attributes), 2):
        theta = -0.9 if pair[1] < 3 else 0.0
        measured[pair] = Moment(np.full((1, 1), theta), np.full((1, 1), noise), 1e9)
    return Moments((2,) * attributes, measured, 10**9)


def test_measured_correlations_that_contradict_each_other_are_noted() -> None:
    """Many attributes are smoothed table by table, and three contradicting pairs have no table."""
    tables, off = smooth(contradicting(11), 3, [(0, 1, 2), (3, 4, 5)])
    assert off == {(0, 1, 2)}
    assert tables[(0, 1, 2)].sum() == pytest.approx(1)


def test_contradictions_are_settled_where_cells_are_few() -> None:
    """Of three attributes two are alike: mean products of -1/3 each are the least there are."""
    tables, off = smooth(contradicting(3, noise=1e-4), 3)
    assert off == set()
    for pair in combinations(range(3), 2):
        moment = float((tables[pair] * [[1, -1], [-1, 1]]).sum())
        assert moment == pytest.approx(-1 / 3, abs=1e-3)
        assert tables[(0, 1, 2)].sum(axis=3 - sum(pair)) == pytest.approx(tables[pair])


def test_the_most_likely_table_is_certified() -> None:
    rng = np.random.default_rng(6)
    mechanism = made("inp_em", (2, 3, 2), epsilon=4.0)
    assert isinstance(mechanism, InpEM)
    codes, counts = counted(mechanism, 50_000, rng)
    found = likely_table(mechanism, counts, ("a2", "a1"))
    assert found.gap < 1e-2
    assert found.informative
    assert found.table.probability.shape == (3, 2)
    assert distance(found.table.probability, truth(codes, mechanism.answers, (0, 1)).T) < 0.1
    with pytest.raises(InvalidParameter, match="no reports"):
        likely_table(mechanism, mechanism.zero(), (0,))


def test_a_maximum_that_is_noise_says_so() -> None:
    """The settings of the paper's table 3 in which every run of its iteration failed."""
    rng = np.random.default_rng(7)
    mechanism = made("inp_em", (2,) * 16, epsilon=0.1)
    assert isinstance(mechanism, InpEM)
    counts = mechanism.accumulate(mechanism.simulate(people((2,) * 16, 2**16, rng), rng))
    found = [likely_table(mechanism, counts, pair) for pair in ((0, 1), (4, 9), (14, 15))]
    assert all(one.gap < 1e-2 for one in found)
    noise = [one for one in found if not one.informative]
    assert noise
    assert all(one.table.notes == (NO_INFORMATION,) for one in noise)
