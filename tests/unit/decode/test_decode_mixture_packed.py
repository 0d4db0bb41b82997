from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.mixture import fit_rows, sampling
from deniable.decode.mixture.em import run_squarem
from deniable.decode.mixture.packed import PackedProduct
from deniable.decode.mixture.rows import Product
from deniable.mechanisms.packed import PackedAnswers, digit_values


def people(rng, rows, *, answers=19, others=(2, 3), place=1, patterns=5, kind="bits"):
    """Random bytes and patterns, of which the last but one is nobody's."""
    codes = rng.integers(0, patterns - 1, rows)
    codes[codes == patterns - 2] = patterns - 1
    lines = tuple(rng.random((size, patterns)) + 0.05 for size in others)
    wide, rest = bits_of(rng, rows, answers), None
    if kind != "bits":
        packed = rng.integers(0, 243, (rows, -(-answers // 5)), dtype=np.uint8)
        cohorts = rng.integers(0, 3, rows).astype(np.uint16)
        # Cohort 3 is nobody's.
        scale = np.where(np.arange(4)[:, None] == np.arange(answers) % 6, 1.7, 1.0)
        wide = PackedAnswers(packed, digit_values(np.array([0.1, 0.4, 1.0])), scale, cohorts)
    if kind == "other":
        rest = rng.random(rows) + 0.1
    return PackedProduct.of(wide, codes, lines, place=place, rest=rest)


def bits_of(rng, rows, answers, least=0.2):
    ones = rng.random((rows, answers)) < 0.3
    return PackedAnswers.of_bits(np.packbits(ones, axis=1, bitorder="little"), answers, least)


@pytest.mark.parametrize("rows", [900, 20_000])
@pytest.mark.parametrize("kind", ["bits", "digits", "other"])
@pytest.mark.parametrize(("others", "place"), [((2,), 0), ((2,), 1), ((2, 3), 1), ((4, 2), 2)])
def test_sums_over_bytes_agree_with_floats(rows, kind, others, place, rng):
    bits = people(rng, rows, others=others, place=place, kind=kind)
    dense = bits.dense()
    assert isinstance(dense, Product)
    assert (bits.sizes, bits.cells, bits.rows, bits.n) == (
        dense.sizes, dense.cells, dense.rows, dense.n,
    )  # fmt: skip
    x, r = rng.dirichlet(np.ones(bits.cells)), rng.random(rows)
    assert np.allclose(bits.mixed(x), dense.mixed(x), rtol=1e-11, atol=0)
    assert np.allclose(bits.pulled(r), dense.pulled(r), rtol=1e-11, atol=0)
    assert np.allclose(bits.curvature(r), dense.curvature(r), rtol=1e-11, atol=0)


def test_floats_are_those_of_the_rows_in_the_order_of_their_patterns(rng):
    ones = rng.integers(0, 2, (40, 9))
    codes = rng.integers(0, 3, 40)
    line = rng.random((2, 3))
    packed = np.packbits(ones.astype(np.uint8), axis=1, bitorder="little")
    wide = PackedAnswers.of_bits(packed, 9, 0.25)
    order = np.argsort(codes, kind="stable")
    found, other = PackedProduct.of(wide, codes, (line,), place=0).dense().factors
    assert np.array_equal(found, np.where(ones[order].T, 1.0, 0.25))
    assert np.array_equal(other, line[:, codes[order]])


def test_cohorts_come_before_the_patterns_of_the_others(rng):
    packed = rng.integers(0, 243, (60, 2), dtype=np.uint8)
    cohorts = rng.integers(0, 2, 60).astype(np.uint16)
    values, scale = digit_values(np.array([0.1, 0.4, 1.0])), rng.random((2, 7)) + 0.5
    wide = PackedAnswers(packed, values, scale, cohorts)
    codes, line, rest = rng.integers(0, 3, 60), rng.random((2, 3)), rng.random(60)
    order = np.lexsort((codes, cohorts))
    found, other = PackedProduct.of(wide, codes, (line,), place=0, rest=rest).dense().factors
    digits = packed[:, :, None] // 3 ** np.arange(5) % 3
    plain = np.array([0.1, 0.4, 1.0])[digits].reshape(60, -1)[:, :7] * scale[cohorts]
    assert np.allclose(found, np.vstack([plain.T, rest])[:, order], rtol=1e-15)
    assert np.array_equal(other, line[:, codes[order]])


def test_patterns_of_nobody_are_left_out(rng):
    bits = people(rng, 500)
    assert [other.shape[1] for other in bits.others] == [4, 4]
    assert bits.pattern_shares.min() > 0
    assert bits.pattern_shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["bits", "digits", "other"])
def test_variables_alone_are_those_of_the_floats(kind, rng):
    bits = people(rng, 700, kind=kind)
    dense = bits.dense()
    for variable, size in enumerate(bits.sizes):
        one, two = bits.alone(variable), dense.alone(variable)
        x = rng.dirichlet(np.ones(size))
        assert one.n == two.n == 700
        gains = [rows.pulled(rows.shares / rows.mixed(x)) for rows in (one, two)]
        assert np.allclose(*gains, rtol=1e-11)
        bent = [rows.curvature(rows.shares / rows.mixed(x) ** 2) for rows in (one, two)]
        assert np.allclose(*bent, rtol=1e-11)
    patterns = {"bits": 4}.get(kind, 12)
    assert bits.alone(0).shares.size == patterns  # few patterns instead of all rows
    assert bits.alone(1).scale.shape == (19, patterns // 4)  # one for each cohort


def test_cohorts_that_scale_alike_are_one(rng):
    packed = rng.integers(0, 243, (60, 2), dtype=np.uint8)
    cohorts = rng.integers(0, 4, 60).astype(np.uint16)
    scale = np.ones((4, 7))
    scale[3, 2] = 2.0
    wide = PackedAnswers(packed, digit_values(np.array([0.1, 0.4, 1.0])), scale, cohorts)
    found = PackedProduct.of(wide, np.zeros(60, dtype=np.intp), (np.ones((2, 1)),), place=0)
    assert np.array_equal(found.alone(0).scale, scale[[0, 3]].T)


def test_a_part_of_the_rows_stands_for_all_of_them(rng):
    bits = people(rng, 60_000)
    whole, part = (bits.curvature(bits.shares, every) for every in (1, 3))
    assert np.allclose(part, whole, rtol=0.1)
    assert not np.array_equal(part, whole)
    # The number of rows of each pattern is known: only their bits are sampled.
    assert np.trace(part) == pytest.approx(np.trace(whole), rel=0.02)


def test_only_the_wide_variable_decides_how_many_rows_are_used(rng):
    packed = np.zeros((10**6, 13), dtype=np.uint8)
    codes = np.arange(10**6) % 2
    wide = PackedAnswers.of_bits(packed, 100, 0.5)
    made = [PackedProduct.of(wide, codes, (np.ones((size, 2)),), place=0) for size in (2, 3)]
    assert [sampling(rows) for rows in made] == [13, 13]
    assert [sampling(rows, 4) for rows in made] == [3, 3]


@pytest.mark.parametrize("rows", [3_000, 30_000])
def test_solvers_find_the_maximum_of_the_floats(rows, rng):
    truth = rng.dirichlet(np.ones(20))
    codes = rng.choice(20, rows, p=truth)
    held = (codes // 2)[:, None] == np.arange(10)
    ones = rng.random((rows, 10)) < np.where(held, 0.8, 0.2)
    shown = np.where(rng.random(rows) < 0.8, codes % 2, 1 - codes % 2)
    line = np.array([[1.0, 0.25], [0.25, 1.0]])
    packed = np.packbits(ones, axis=1, bitorder="little")
    wide = PackedAnswers.of_bits(packed, 10, 1 / 16)
    bits = PackedProduct.of(wide, shown, (line,), place=0)
    best, same = fit_rows(bits), fit_rows(bits.dense())
    assert best.converged
    assert best.gap < 1e-6 * rows
    assert np.allclose(best.weights, same.weights, rtol=0, atol=1e-9)
    assert run_squarem(bits, gap=1e-3 * rows).gap <= 1e-3 * rows
