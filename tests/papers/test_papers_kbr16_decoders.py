"""Tables of k-RR and k-RAPPOR decoders against the shipped ones, and their closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.decode.distribution_estimates import Support, likely_distribution
from deniable.decode.simplex import normalise, project
from deniable.mechanisms import KRR
from deniable.mechanisms.closed_form import Pure
from deniable.testing.statistics import accept, goodness_of_fit, mean, reject
from deniable_papers.kbr16 import decoders
from deniable_papers.kbr16.shapes import SHAPES, binomial, dirichlet, geometric
from deniable_papers.oracles import floor

ROWS = np.random.default_rng(1).normal(0.1, 0.2, size=(50, 8))


def test_a_table_is_decoded_as_its_rows_are() -> None:
    for row, projected, normalised in zip(
        ROWS, decoders.projected(ROWS), decoders.normalised(ROWS), strict=True
    ):
        assert projected == pytest.approx(project(row), abs=1e-12)
        assert normalised == pytest.approx(normalise(row), abs=1e-12)


def test_a_row_without_anything_positive_is_normalised_to_uniform() -> None:
    assert decoders.normalised(np.full((1, 4), -1.0)).tolist() == [[0.25] * 4]


def test_the_likeliest_distribution_is_that_of_the_shipped_decoder() -> None:
    epsilon, rng = 1.5, np.random.default_rng(2)
    counts = rng.multinomial(500, geometric(8), size=20).astype(np.int64)
    e = np.exp(epsilon)
    oracle = Pure(e / (e + 7), 1 / (e + 7), (e - 1) / (e + 7))
    for row, found in zip(counts, decoders.krr_likely(counts, epsilon), strict=True):
        support = Support(row.astype(np.float64), 500, oracle, exclusive=True)
        assert found == pytest.approx(likely_distribution(support), abs=1e-9)


def test_counts_are_drawn_as_the_mechanism_reports() -> None:
    held, epsilon = np.array([[6_000, 3_000, 1_000]]), 1.0
    shares = KRR(3, epsilon=epsilon).likelihood(_every_symbol(), None).T @ (held[0] / 10_000)
    drawn = decoders.krr_counts(np.repeat(held, 50, axis=0), epsilon, np.random.default_rng(3))
    # Given the values the total of a symbol varies less than multinomially: the level holds.
    accept(goodness_of_fit(drawn.sum(axis=0), shares), alpha=1e-9)
    wrong = shares + np.array([0.01, -0.005, -0.005])
    reject(goodness_of_fit(drawn.sum(axis=0), wrong), alpha=1e-9, miss=1e-12)


def _every_symbol() -> NDArray[np.void]:
    return np.array([(0,), (1,), (2,)], dtype=KRR(3, epsilon=1.0).dtype)


def test_empirical_losses_are_those_of_propositions_3_and_4() -> None:
    k, epsilon, people, runs = 8, 1.0, 400, 20_000
    rng, p, e, s = np.random.default_rng(4), geometric(8), np.exp(1.0), np.exp(0.5)
    held = rng.multinomial(people, p, size=runs).astype(np.int64)
    sampling = 1 - float((p**2).sum())
    krr = decoders.krr_empirical(decoders.krr_counts(held, epsilon, rng), epsilon)
    bits = decoders.krappor_counts(held, people, epsilon, rng)
    krappor = decoders.krappor_empirical(bits, people, epsilon)
    expected = {
        "krr": (krr, sampling + (k - 1) * (k + 2 * (e - 1)) / (e - 1) ** 2),
        "krappor": (krappor, sampling + k * s / (s - 1) ** 2),
    }
    for found, closed in expected.values():
        losses = people * ((found - p) ** 2).sum(axis=1)
        error = losses.std() / np.sqrt(runs)
        accept(mean(losses.mean(), closed, error), alpha=1e-9)
        reject(mean(losses.mean(), 1.06 * closed, error), alpha=1e-9, miss=1e-9)


def test_every_shape_is_a_distribution() -> None:
    rng = np.random.default_rng(5)
    for shape in SHAPES.values():
        rows = shape(16, 3, rng)
        assert rows.shape == (3, 16)
        assert rows.sum(axis=1) == pytest.approx([1, 1, 1])
        assert np.all(rows >= 0)
    assert not np.array_equal(*dirichlet(4, 2, rng))


def test_shapes_have_their_laws() -> None:
    ratios = geometric(10)[1:] / geometric(10)[:-1]
    assert ratios == pytest.approx(np.full(9, 2 / 3))
    assert binomial(3, 0.5) == pytest.approx([0.25, 0.5, 0.25])


def test_the_floor_is_subset_selection_and_contains_krr() -> None:
    # k = 2 has d = 1 only: k-RR, for which proposition 3 gives the same number.
    e = np.exp(1.0)
    assert floor(2, 1.0) == pytest.approx(0.5 + (2 + 2 * (e - 1)) / (e - 1) ** 2)
    # Per answer 3.68 at k = 1,024 and 3.245 at k = 16, epsilon 1 (docs/mathematics.md, section 2).
    assert floor(1_024, 1.0) / 1_024 == pytest.approx(3.68, abs=0.01)
    assert floor(16, 1.0) / 16 == pytest.approx(3.245, abs=0.001)
