"""How much the statistic of a score test varies, beside slow twins of its sums."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deniable.associate import Variable, independence
from deniable.associate.few_scores import _part, spread_of
from deniable.associate.independence import chance_of
from deniable.associate.joint import marginal_fits
from deniable.associate.patterns import patterns_of
from deniable.decode.mixture.packed import PackedProduct
from deniable.decode.mixture.rows import Product
from deniable.mechanisms import KRR, OUE, Prefixes, Rappor

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def rows_of(rng: np.random.Generator, rows: int, *answers: int) -> Product:
    """Reports of which few say anything."""
    factors = []
    for size in answers:
        heard = 1 + 0.2 * rng.random((size, rows))
        told = rng.random(rows) < 0.2
        heard[rng.integers(0, size, rows), np.arange(rows)] += 20 * told
        factors.append(heard)
    return Product(tuple(factors), np.full(rows, 1 / rows), float(rows))


def squares(factor: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """|u|^2 of every report, from its covariance as it is."""
    scores = (factor / (margin @ factor) - 1)[1:]
    centred = scores - scores.mean(axis=1, keepdims=True)
    inverse = np.linalg.inv(centred @ centred.T / factor.shape[1])
    return np.einsum("ai,ab,bi->i", centred, inverse, centred)


@pytest.mark.parametrize("answers", [(3, 2), (2, 3, 2)])
def test_moments_of_independent_reports(answers, rng):
    """The slow twin: every combination of the variables' reports, each by itself."""
    rows = rows_of(rng, 24, *answers)
    margins = [np.full(size, 1 / size) for size in answers]
    each = [squares(f, m) for f, m in zip(rows.factors, margins, strict=True)]
    total = 0.0
    for one in itertools.product(*each):
        own = np.prod(np.add(one, 1)) - 1 - np.sum(one)
        total += own**2
    fourth = total / 24 ** len(answers)
    d = np.prod(answers) - 1 - sum(size - 1 for size in answers)
    expected = 1 + (fourth - d * (d + 2)) / (2 * d * 24)
    assert expected > 1.1
    assert spread_of(rows, margins) == pytest.approx(expected)


def test_many_reports_are_chi_square_and_few_that_tell_are_not(rng):
    codes = [rng.integers(0, 3, 40_000) for _ in "ab"]
    krr = KRR(3, epsilon=2.0)
    alike = [Variable(n, krr, krr.simulate(c, rng)) for n, c in zip("ab", codes, strict=True)]
    assert independence(alike).spread == 1
    assert independence(alike).notes == ()
    few = Prefixes(epsilon=4.0, alphabet=LETTERS, length=6, people=1_000)
    names = ["".join(row) for row in rng.choice(list(LETTERS), size=(3, 6))]
    told = [
        Variable(n, few, few.simulate(c[:600], rng, names), tuple(names))
        for n, c in zip("ab", codes, strict=True)
    ]
    test = independence(told, method="score")
    assert test.spread > 1.2
    assert any("own variance" in note for note in test.notes)
    assert test.p_value == test.p_of(test.statistic)
    assert test.p_value > chance_of(test.statistic, test.dof, 1.0) or test.statistic < test.dof


def test_reports_that_are_kept_as_bytes_say_the_same(rng, monkeypatch):
    """A part of them, evenly spread, is as good as all."""
    monkeypatch.setattr("deniable.associate.wide_fields._FLOATS", 2**16)
    codes = rng.integers(0, 3, 9_000)
    bloom = Rappor(bits=64, hashes=2, cohorts=4, epsilon=8.0)
    names = [f"name {number}" for number in range(22)]
    wide = Variable("a", bloom, bloom.simulate(codes, rng, names), tuple(names[:21]))
    krr = KRR(3, epsilon=6.0)
    patterns = patterns_of([wide, Variable("b", krr, krr.simulate(codes, rng))])
    assert isinstance(patterns, PackedProduct)
    margins = marginal_fits(patterns)
    monkeypatch.setattr("deniable.associate.few_scores.LITTLE", -np.inf)
    whole = spread_of(patterns, margins)
    assert whole == pytest.approx(spread_of(patterns.dense(), margins))
    monkeypatch.setattr("deniable.associate.few_scores._ROWS", 3_000)
    assert _part(patterns).rows == 3_000
    assert spread_of(patterns, margins) == pytest.approx(whole, rel=0.2)


def test_patterns_of_all_weights_are_all_taken(rng, monkeypatch):
    oue = OUE(3, epsilon=1.0)
    both = [Variable(n, oue, oue.simulate(rng.integers(0, 3, 2_000), rng)) for n in "ab"]
    patterns = patterns_of(both)
    assert patterns.rows < 100
    monkeypatch.setattr("deniable.associate.few_scores._ROWS", 10)
    assert _part(patterns).rows == patterns.rows
