from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.mixture import fit_rows, sampling
from deniable.decode.mixture_bits import BitProduct
from deniable.decode.mixture_em import run_squarem
from deniable.decode.mixture_rows import Product


def people(rng, rows, *, answers=19, others=(2, 3), place=1, patterns=5) -> BitProduct:
    """Random bits and patterns, of which the last but one is nobody's."""
    ones = rng.random((rows, answers)) < 0.3
    codes = rng.integers(0, patterns - 1, rows)
    codes[codes == patterns - 2] = patterns - 1
    lines = tuple(rng.random((size, patterns)) + 0.05 for size in others)
    packed = np.packbits(ones, axis=1, bitorder="little")
    return BitProduct.of(packed, codes, lines, answers=answers, place=place, least=0.2)


@pytest.mark.parametrize("rows", [900, 20_000])
@pytest.mark.parametrize(("others", "place"), [((2,), 0), ((2,), 1), ((2, 3), 1), ((4, 2), 2)])
def test_sums_over_bits_agree_with_floats(rows, others, place, rng):
    bits = people(rng, rows, others=others, place=place)
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
    bits = BitProduct.of(packed, codes, (line,), answers=9, place=0, least=0.25)
    order = np.argsort(codes, kind="stable")
    wide, other = bits.dense().factors
    assert np.array_equal(wide, np.where(ones[order].T, 1.0, 0.25))
    assert np.array_equal(other, line[:, codes[order]])


def test_patterns_of_nobody_are_left_out(rng):
    bits = people(rng, 500)
    assert [other.shape[1] for other in bits.others] == [4, 4]
    assert bits.pattern_shares.min() > 0
    assert bits.pattern_shares.sum() == pytest.approx(1)


def test_variables_alone_are_those_of_the_floats(rng):
    bits = people(rng, 700)
    dense = bits.dense()
    for variable, size in enumerate(bits.sizes):
        one, two = bits.alone(variable), dense.alone(variable)
        x = rng.dirichlet(np.ones(size))
        assert one.n == two.n == 700
        gains = [rows.pulled(rows.shares / rows.mixed(x)) for rows in (one, two)]
        assert np.allclose(*gains, rtol=1e-11)
    assert bits.alone(0).shares.size == 4  # few patterns instead of all rows


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
    made = [
        BitProduct.of(packed, codes, (np.ones((size, 2)),), answers=100, place=0, least=0.5)
        for size in (2, 3)
    ]
    assert [sampling(rows) for rows in made] == [13, 13]
    assert [sampling(rows, 32) for rows in made] == [1, 1]


@pytest.mark.parametrize("rows", [3_000, 30_000])
def test_solvers_find_the_maximum_of_the_floats(rows, rng):
    truth = rng.dirichlet(np.ones(20))
    codes = rng.choice(20, rows, p=truth)
    held = (codes // 2)[:, None] == np.arange(10)
    ones = rng.random((rows, 10)) < np.where(held, 0.8, 0.2)
    shown = np.where(rng.random(rows) < 0.8, codes % 2, 1 - codes % 2)
    line = np.array([[1.0, 0.25], [0.25, 1.0]])
    packed = np.packbits(ones, axis=1, bitorder="little")
    bits = BitProduct.of(packed, shown, (line,), answers=10, place=0, least=1 / 16)
    best, same = fit_rows(bits), fit_rows(bits.dense())
    assert best.converged
    assert best.gap < 1e-6 * rows
    assert np.allclose(best.weights, same.weights, rtol=0, atol=1e-9)
    assert run_squarem(bits, gap=1e-3 * rows).gap <= 1e-3 * rows
