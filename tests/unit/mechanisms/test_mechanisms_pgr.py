"""Projective geometry response for populations: fast sums against slow ones, and its edges."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import PGR, Counts
from deniable.mechanisms.projective import Geometry
from deniable.protocol import ABSENT, Answer, PGRParameters
from deniable.protocol.domain import string_key
from deniable.protocol.projective import inside_point, outside_point, vector_of
from deniable.protocol.thresholds import ONE

SHAPES = [(2, 2), (2, 3), (2, 7), (3, 2), (3, 4), (5, 3), (13, 2), (13, 3), (101, 2)]


@pytest.mark.parametrize(("prime", "dimension"), SHAPES)
def test_hyperplane_sums_are_the_slow_ones(
    prime: int, dimension: int, rng: np.random.Generator
) -> None:
    geometry = Geometry(prime, dimension)
    counts = rng.integers(0, 10**9, geometry.points)
    vectors = np.array([vector_of(i, prime, dimension) for i in range(geometry.points)])
    slow = (vectors @ vectors.T % prime == 0) @ counts
    assert geometry.hyperplane_sums(counts).tolist() == slow.tolist()


def test_sums_of_very_many_reports_are_exact() -> None:
    geometry = Geometry(5, 6)
    counts = np.full(geometry.points, 10**9)
    counts[0] += 1
    sums = geometry.hyperplane_sums(counts)
    inner = (5**5 - 1) // 4
    assert set((sums - inner * 10**9).tolist()) == {0, 1}


@pytest.mark.parametrize(("prime", "dimension"), SHAPES[:6])
def test_the_vectorised_twins(prime: int, dimension: int, rng: np.random.Generator) -> None:
    geometry = Geometry(prime, dimension)
    numbers = rng.integers(0, geometry.points, 50)
    vectors = geometry.vectors(numbers)
    assert vectors.tolist() == [vector_of(int(i), prime, dimension) for i in numbers]
    scaled = vectors * rng.integers(1, prime, (50, 1)) % prime
    assert geometry.numbers(scaled).tolist() == numbers.tolist()
    inner, outer = (prime ** (dimension - 1) - 1) // (prime - 1), prime ** (dimension - 1)
    inside = rng.integers(0, inner, 50)
    outside = rng.integers(0, outer, 50)
    every = np.ones(50, dtype=bool)
    assert geometry.moved(numbers, every, inside).tolist() == [
        inside_point(v, int(i), prime) for v, i in zip(vectors.tolist(), inside, strict=True)
    ]
    assert geometry.moved(numbers, ~every, outside).tolist() == [
        outside_point(v, int(i), prime) for v, i in zip(vectors.tolist(), outside, strict=True)
    ]


def test_every_choice_is_another_point_of_the_hyperplane_or_beside_it() -> None:
    geometry, inner, outer = Geometry(3, 4), 13, 27
    kept = np.arange(inner + outer) < inner
    choices = np.concatenate([np.arange(inner), np.arange(outer)])
    for v in range(geometry.points):
        found = geometry.moved(np.full(inner + outer, v), kept, choices)
        assert sorted(found.tolist()) == list(range(geometry.points))
        products = geometry.vectors(found) @ geometry.vectors(np.array([v]))[0] % 3
        assert ((products == 0) == kept).all()


def expected_counts(mechanism: PGR, frequency: np.ndarray, people: int) -> Counts:
    """Return the counts without any noise: exactly their expectation, rounded."""
    shape = mechanism.parameters
    vectors = np.array([vector_of(i, shape.prime, shape.dimension) for i in range(shape.points)])
    near = vectors @ vectors[: frequency.size].T % shape.prime == 0
    channel = np.where(near, mechanism.pure.p / shape.inner, (1 - mechanism.pure.p) / shape.outer)
    table = np.rint(people * channel @ frequency).astype(np.int64)[None, :]
    return Counts(table.sum(axis=1), table)


def test_expected_counts_give_the_frequencies_back() -> None:
    mechanism = PGR(10, epsilon=1.0)
    true = np.array([0.4, 0.3, 0.2, 0.1, 0, 0, 0, 0, 0, 0])
    estimate = mechanism.estimate(expected_counts(mechanism, true, 10**10))
    assert estimate.frequency == pytest.approx(true, abs=1e-6)
    assert estimate.covariance is not None
    assert estimate.covariance.diagonal() == pytest.approx(estimate.variance)


def test_the_covariance_is_that_of_the_exact_channel() -> None:
    """The slow twin: the covariance of supports under each answer, added up."""
    mechanism = PGR(7, epsilon=1.0)
    shape, people = mechanism.parameters, 10**9
    true = np.array([0.5, 0.2, 0.1, 0.1, 0.1, 0.0, 0.0])
    counts = expected_counts(mechanism, true, people)
    vectors = np.array([vector_of(i, shape.prime, shape.dimension) for i in range(shape.points)])
    near = (vectors @ vectors[:7].T % shape.prime == 0).astype(float)
    law = np.where(near > 0, mechanism.pure.p / shape.inner, (1 - mechanism.pure.p) / shape.outer)
    exact = sum(
        f * (near.T @ np.diag(law[:, v]) @ near - np.outer(near.T @ law[:, v], near.T @ law[:, v]))
        for v, f in enumerate(true)
    ) / (people * mechanism.pure.gap**2)
    found = mechanism.estimate(counts).covariance
    assert found == pytest.approx(exact, rel=1e-4, abs=1e-4 * exact.max())


def test_strings_share_points_with_probability_one_in_k() -> None:
    mechanism = PGR(epsilon=1.0, cohorts=3, points=50)
    shape = mechanism.parameters
    assert shape.points >= 50
    words = np.array([Answer(string_key(f"s{i}")).words for i in range(20)], dtype=np.uint64)
    for cohort in range(3):
        expected = [shape.point(Answer(string_key(f"s{i}")), cohort) for i in range(20)]
        assert mechanism.places(cohort, words).tolist() == expected


def test_large_domains_have_no_covariance() -> None:
    mechanism = PGR(3_000, epsilon=1.0)
    table = np.ones((1, mechanism.parameters.points), dtype=np.int64)
    estimate = mechanism.estimate(Counts(table.sum(axis=1), table))
    assert estimate.covariance is None
    assert np.isfinite(estimate.std_error).all()


def test_what_is_refused() -> None:
    mechanism = PGR(epsilon=1.0, cohorts=4, points=13)
    for bad in (None, [], ["a", "a"]):
        with pytest.raises(InvalidParameter):
            mechanism.estimate(mechanism.zero(), bad)
    for field, value in (("cohort", 4), ("point", mechanism.parameters.points)):
        record = np.zeros(1, dtype=mechanism.dtype)
        record[field] = value
        with pytest.raises(InvalidReport, match=f"{field} must be below {value}"):
            mechanism.accumulate(record)
    with pytest.raises(InvalidParameter, match="labels"):
        PGR(5, epsilon=1.0).estimate(PGR(5, epsilon=1.0).zero(), ["a"])


def test_the_absent_answer_is_a_candidate(rng: np.random.Generator) -> None:
    mechanism = PGR(epsilon=5.0, cohorts=8, points=1_000)
    counts = mechanism.accumulate(mechanism.simulate(["a", "a", "a", ABSENT] * 5000, rng))
    estimate = mechanism.estimate(counts, ["a", ABSENT, "(absent)"])
    assert estimate.frequency == pytest.approx([0.75, 0.25, 0.0], abs=0.05)


def test_a_parameter_object_of_the_hashed_form_has_one_count_per_cohort_and_point() -> None:
    parameters = PGRParameters("hashed", 0, 3, 3, 7, 3 * 2**62)
    assert PGR.from_parameters(parameters).zero().table.shape == (7, 13)


def test_the_sum_of_squares_is_unbiased_over_every_hash_function_and_report() -> None:
    """Three people, two strings; 9 places of the strings times 27 triples of reports, by chance."""
    keep = ONE * 3 // 4
    mechanism = PGR.from_parameters(PGRParameters("hashed", 0, 2, 2, 1, keep))
    points, geometry = mechanism.parameters.points, mechanism.geometry
    inner, outer = mechanism.parameters.inner, mechanism.parameters.outer
    on_plane = np.array([geometry.hyperplane_sums(row) for row in np.eye(points, dtype=np.int64)])
    law = np.where(on_plane == 1, 0.75 / inner, 0.25 / outer)
    total = chance_of_all = 0.0
    for common, rare in product(range(points), repeat=2):
        for sent in product(range(points), repeat=3):
            held = (common, common, rare)
            chance = np.prod([law[v, u] for v, u in zip(held, sent, strict=True)]) / points**2
            sums = geometry.hyperplane_sums(np.bincount(sent, minlength=points))
            total += chance * mechanism.squares(sums, 3)
            chance_of_all += chance
    assert chance_of_all == pytest.approx(1, abs=1e-12)
    assert total == pytest.approx((2 / 3) ** 2 + (1 / 3) ** 2, abs=1e-12)
