"""Methods that hash whole profiles, and InpEM's long reports: against loops over the reports."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deniable.mechanisms.inp_em import MOST_COUNTED, InpEM, Kept
from deniable.protocol.olh import symbol_of
from deniable.protocol.profile_domain import profile_answer
from material.profiles_expected import made, people_of


@pytest.mark.parametrize("seeds", [64, 2**32])
def test_olh_sums_the_support_of_profiles(seeds: int, rng: np.random.Generator) -> None:
    mechanism = made("inp_olh", (2, 3, 2), seeds=seeds)
    reports = mechanism.simulate(people_of(mechanism, 120, rng), rng)
    cells, _ = mechanism.marginal(mechanism.accumulate(reports), (1,))
    pure, symbols = mechanism.oracle.pure, mechanism.parameters.symbols
    slow = np.zeros(3)
    for codes in product(range(2), range(3), range(2)):
        words = profile_answer(codes).words
        support = sum(
            symbol_of(words, seed, symbols) == symbol for seed, symbol in reports.tolist()
        )
        slow[codes[1]] += (support / reports.size - pure.q) / pure.gap
    assert cells == pytest.approx(slow)


def test_the_sketch_sums_the_support_of_profiles(rng: np.random.Generator) -> None:
    mechanism = made("inp_ht_cms", (2, 3), rows=3, width=8)
    reports = mechanism.simulate(people_of(mechanism, 150, rng), rng)
    cells, covariance = mechanism.marginal(mechanism.accumulate(reports), (0,))
    pure, width = mechanism.sketch.pure, mechanism.parameters.width
    slow = np.zeros(2)
    for codes in product(range(2), range(3)):
        answer, support = profile_answer(codes), 0
        for (symbol,) in reports.tolist():
            row, drawn = divmod(symbol // 2, width)
            bucket = mechanism.parameters.bucket(answer, row)
            support += (bucket & drawn).bit_count() % 2 == symbol % 2
        slow[codes[0]] += (support / reports.size - pure.q) / pure.gap
    assert cells == pytest.approx(slow)
    assert np.diagonal(covariance).min() > 0


def test_collisions_of_the_sketch_are_in_its_error() -> None:
    """Everybody has one record, in a sketch of few buckets: the error does not fall with n."""
    mechanism = made("inp_ht_cms", (2,) * 6, epsilon=20.0, rows=2, width=8)
    rng = np.random.default_rng(3)
    counts = mechanism.accumulate(mechanism.simulate(np.zeros((300_000, 6), dtype=int), rng))
    errors = []
    for attribute in range(6):
        cells, covariance = mechanism.marginal(counts, (attribute,))
        errors.append((cells[1] / np.sqrt(covariance[1, 1])).item())
    assert np.max(np.abs(errors)) < 5
    assert np.sqrt(covariance[1, 1]) > 0.05


def test_long_reports_are_kept_and_say_the_same(rng: np.random.Generator) -> None:
    """21 bits are kept, 20 are counted: the first twenty attributes give the same table."""
    long, short = made("inp_em", (2,) * 21), made("inp_em", (2,) * 20)
    assert isinstance(long, InpEM)
    assert isinstance(short, InpEM)
    assert long.parameters.width == MOST_COUNTED + 1
    reports = long.simulate(people_of(long, 500, rng), rng)
    counts = long.accumulate(reports)
    assert isinstance(counts, Kept)
    halves = long.accumulate(reports[:200]).merge(long.accumulate(reports[200:]))
    assert isinstance(halves, Kept)
    assert np.array_equal(halves.codes, counts.codes)
    cut = np.zeros(500, dtype=short.dtype)
    cut["bits"] = reports["bits"]
    cut["bits"][:, 2] &= 15
    table = short.accumulate(cut)
    for attributes in ((0,), (3, 19), (0, 7, 12)):
        assert np.array_equal(long.observed(counts, attributes), short.observed(table, attributes))


def test_64_bits_are_the_most(rng: np.random.Generator) -> None:
    mechanism = made("inp_em", (4,) * 32, epsilon=8.0)
    codes = people_of(mechanism, 300, rng)
    codes[:, 31] = 3
    counts = mechanism.accumulate(mechanism.simulate(codes, rng))
    cells, covariance = mechanism.marginal(counts, (31,))
    assert np.isfinite(cells).all()
    assert abs(cells[3] - 1) < 6 * np.sqrt(covariance[3, 3])
