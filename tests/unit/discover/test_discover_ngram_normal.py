"""The likeliest joint tables of normal numbers: against a general solver, and at their ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from deniable.discover.ngrams.joint import Mask
from deniable.discover.ngrams.normal_model import Seen, likeliest
from deniable.mechanisms.base import Floats

HEAVY = 1e4


def seen(pairs: Floats, rows: Floats, columns: Floats, noise: float) -> Seen:
    every = np.ones(rows.shape, dtype=np.bool_), np.ones(columns.shape, dtype=np.bool_)
    return Seen(pairs[None], rows[None], columns[None], every[0][None], every[1][None], noise)


def slowly(pairs: Floats, rows: Floats, columns: Floats, noise: float, possible: Mask) -> Floats:
    """Least squares over x_ij, x_io, x_oj and x_oo, none below 0; they sum to 1."""
    k, width = pairs.shape
    lines, right = [], []

    def add(table: Floats, weight: float, value: float) -> None:
        lines.append(weight * table.ravel())
        right.append(weight * value)

    for i in range(k):
        for j in range(width):
            one = np.zeros((k + 1, width + 1))
            one[i, j] = 1
            add(one, 1.0 if possible[i, j] else HEAVY, float(pairs[i, j] * possible[i, j]))
    for axis, numbers in enumerate((rows, columns)):
        for i, number in enumerate(numbers):
            side = np.zeros((k + 1, width + 1))
            side[(i, slice(None)) if axis == 0 else (slice(None), i)] = 1
            add(side, float(np.sqrt(noise)), float(number))
    add(np.ones((k + 1, width + 1)), HEAVY, 1.0)
    found, _ = optimize.nnls(np.array(lines), np.array(right))
    return np.asarray(found.reshape(k + 1, width + 1)[:-1, :-1])


@pytest.mark.parametrize("noise", [0.5, 4.0, 30.0])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (6, 6)])
def test_it_is_what_a_general_solver_finds(noise: float, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    for _ in range(4):
        pairs = 0.1 * rng.standard_normal(shape)
        diagonal = np.arange(min(shape))
        pairs[diagonal, diagonal] += 0.9 / len(diagonal)
        rows = np.abs(pairs.sum(axis=1)) + 0.05 * rng.standard_normal(shape[0])
        columns = np.abs(pairs.sum(axis=0)) + 0.05 * rng.standard_normal(shape[1])
        possible = rng.random(shape) < 0.8
        fast = likeliest(seen(pairs, rows, columns, noise), possible[None], 1e-7, 3_000)[0]
        assert fast == pytest.approx(slowly(pairs, rows, columns, noise, possible), abs=2e-4)
        rough = likeliest(seen(pairs, rows, columns, noise), possible[None])[0]
        assert rough == pytest.approx(fast, abs=0.02)


def test_rows_that_fill_up_a_shape_change_nothing() -> None:
    rng = np.random.default_rng(4)
    pairs, rows, columns = rng.random((3, 3)) / 9, rng.random(3) / 2, rng.random(3) / 2
    alone = likeliest(seen(pairs, rows, columns, 2.0), np.ones((1, 3, 3), dtype=np.bool_))[0]
    real = np.array([[True, True, True, False]])
    wide = Seen(
        np.pad(pairs, (0, 1), constant_values=7.0)[None],
        np.append(rows, 0.0)[None],
        np.append(columns, 0.0)[None],
        real,
        real,
        2.0,
    )
    found = likeliest(wide, np.ones((1, 4, 4), dtype=np.bool_))[0]
    assert found[:3, :3] == pytest.approx(alone, abs=1e-12)
    assert not found[3].any()
    assert not found[:, 3].any()


def test_noise_of_other_pairs_takes_from_a_row() -> None:
    """A pair of 0.1 alone is seen as it is; beside others of 0.1 its row cannot hold them all."""
    rows, columns = np.array([0.1]), np.full(4, 0.1)
    alone = likeliest(
        seen(np.array([[0.1, 0.0, 0.0, 0.0]]), rows, columns, 4.0), np.ones((1, 1, 4), bool)
    )
    beside = likeliest(seen(np.full((1, 4), 0.1), rows, columns, 4.0), np.ones((1, 1, 4), bool))
    assert alone[0, 0, 0] == pytest.approx(0.1)
    assert beside[0, 0, 0] < 0.05
