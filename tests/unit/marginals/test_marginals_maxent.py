"""Largest entropy with given margins: against a slow loop, and against itself."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.marginals.maxent import fit_margins, largest_entropy, margins_of
from deniable.mechanisms.base import Floats


def slow_fit(table: Floats, margins: list[Floats], sweeps: int) -> Floats:
    """One table, one margin after the other."""
    for _ in range(sweeps):
        for axis, margin in enumerate(margins):
            for place in np.ndindex(*margin.shape):
                index = (*place[:axis], slice(None), *place[axis:])
                total = table[index].sum()
                table[index] *= margin[place] / total if total > 0 else 0.0
    return table


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 4), (3, 2, 2, 2)])
def test_many_tables_are_fitted_as_one_by_one(
    shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    tables = rng.dirichlet(np.ones(np.prod(shape)), size=4).reshape(4, *shape)
    margins = margins_of(tables)
    fitted = largest_entropy(margins)
    for i in range(4):
        start = np.full(shape, 1 / np.prod(shape))
        slow = slow_fit(start, [margin[i] for margin in margins], 200)
        assert fitted[i] == pytest.approx(slow, abs=1e-8)
    for mine, theirs in zip(margins_of(fitted), margins, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-6)


def test_two_attributes_are_independent(rng: np.random.Generator) -> None:
    tables = rng.dirichlet(np.ones(6), size=3).reshape(3, 2, 3)
    fitted = largest_entropy(margins_of(tables))
    for i in range(3):
        expected = np.outer(tables[i].sum(axis=1), tables[i].sum(axis=0))
        assert fitted[i] == pytest.approx(expected)


def test_entropy_is_the_largest(rng: np.random.Generator) -> None:
    """Any other table with the same margins has less: move along the one free direction."""
    table = rng.dirichlet(np.ones(8) * 4).reshape(1, 2, 2, 2)
    best = largest_entropy(margins_of(table))[0]
    parity = np.array([(-1) ** sum(place) for place in np.ndindex(2, 2, 2)]).reshape(2, 2, 2)

    def entropy(cells: Floats) -> float:
        return float(-(cells * np.log(cells)).sum())

    for step in (-1e-3, 1e-3):
        assert entropy(best + step * parity) < entropy(best)


def test_zeros_stay_and_contradictions_do_not_loop() -> None:
    start = np.array([[[0.5, 0.0], [0.2, 0.3]]])
    margins = [np.array([[0.5, 0.5]]), np.array([[0.4, 0.6]])]
    assert fit_margins(start, margins)[0, 0, 1] == 0
    same, opposite = np.array([[0.5, 0.0], [0.0, 0.5]]), np.array([[0.0, 0.5], [0.5, 0.0]])
    impossible = [same[None], same[None], opposite[None]]
    fitted = fit_margins(np.full((1, 2, 2, 2), 1 / 8), impossible, sweeps=50)
    assert np.isfinite(fitted).all()
