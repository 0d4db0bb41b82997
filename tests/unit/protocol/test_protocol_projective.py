"""Points of projective geometries: numbered both ways, hyperplanes complete."""

from __future__ import annotations

import itertools

import pytest

from deniable.protocol.projective import (
    inside_point,
    number_of,
    outside_point,
    points_below,
    vector_of,
)

SHAPES = [(2, 2), (2, 5), (3, 3), (5, 2), (5, 3), (11, 2)]


def product(u: list[int], v: list[int], prime: int) -> int:
    return sum(a * b for a, b in zip(u, v, strict=True)) % prime


@pytest.mark.parametrize(("prime", "dimension"), SHAPES)
def test_numbers_are_a_bijection_with_the_canonical_vectors(prime: int, dimension: int) -> None:
    count = points_below(prime, dimension)
    vectors = [vector_of(number, prime, dimension) for number in range(count)]
    every = itertools.product(range(prime), repeat=dimension)
    canonical = {v for v in every if any(v) and next(x for x in v if x) == 1}
    assert {tuple(v) for v in vectors} == canonical
    assert [number_of(v, prime) for v in vectors] == list(range(count))


@pytest.mark.parametrize(("prime", "dimension"), SHAPES)
def test_multiples_are_the_same_point(prime: int, dimension: int) -> None:
    for number in range(points_below(prime, dimension)):
        v = vector_of(number, prime, dimension)
        for scale in range(1, prime):
            assert number_of([scale * x % prime for x in v], prime) == number


@pytest.mark.parametrize(("prime", "dimension"), SHAPES)
def test_choices_give_every_point_of_their_side_once(prime: int, dimension: int) -> None:
    count, inner = points_below(prime, dimension), points_below(prime, dimension - 1)
    for number in range(count):
        v = vector_of(number, prime, dimension)
        inside = [inside_point(v, choice, prime) for choice in range(inner)]
        outside = [outside_point(v, choice, prime) for choice in range(count - inner)]
        assert sorted(inside + outside) == list(range(count))
        for u in inside:
            assert product(vector_of(u, prime, dimension), v, prime) == 0


def test_the_order_of_the_plane_of_order_two() -> None:
    """Spelled out once: by the digits after the 1, then as numbers."""
    assert [vector_of(number, 2, 3) for number in range(7)] == [
        [0, 0, 1],
        [0, 1, 0],
        [0, 1, 1],
        [1, 0, 0],
        [1, 0, 1],
        [1, 1, 0],
        [1, 1, 1],
    ]
