"""Whole records of few cells: one distribution behind all tables, nearer to the truth."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from deniable.marginals.interactions import Interactions
from deniable.marginals.joint import MOST_CELLS, Step, is_fitted_whole, joint_distribution
from deniable.marginals.smoothed import smooth
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import Moment, Moments, Subset, along_axes, design


def moments_of(
    joint: Floats, order: int, noise: float, rng: np.random.Generator, unknown: Subset = ()
) -> Moments:
    """Return the moments of a distribution with normal noise of one variance, one set left out."""
    answers, measured = joint.shape, {}
    for size in range(1, order + 1):
        for s in combinations(range(joint.ndim), size):
            others = tuple(i for i in range(joint.ndim) if i not in s)
            theta = along_axes(joint.sum(axis=others), [contrast_matrix(answers[i])[1:] for i in s])
            variance = np.full(theta.shape, math.inf if s == unknown else noise)
            drawn = theta + math.sqrt(noise) * rng.normal(size=theta.shape)
            measured[s] = Moment(np.where(np.isfinite(variance), drawn, 0.0), variance, 1e4)
    return Moments(answers, measured, 10**4)


def rare(attributes: int) -> Floats:
    """Return people of whom few have anything, and who has one thing mostly has the next."""
    joint = np.zeros((2,) * attributes)
    for held in range(attributes + 1):
        joint[(1,) * held + (0,) * (attributes - held)] = 0.75 * 0.25**held
    return joint / joint.sum()


def error(tables: dict[Subset, Floats], joint: Floats, order: int) -> float:
    """Return the mean total variation of all tables of an order."""
    found = []
    for s in combinations(range(joint.ndim), order):
        others = tuple(i for i in range(joint.ndim) if i not in s)
        found.append(np.abs(tables[s] - joint.sum(axis=others)).sum() / 2)
    return float(np.mean(found))


@pytest.mark.parametrize(("order", "gain"), [(2, 0.9), (3, 0.8)])
def test_rare_attributes_are_known_better_than_table_by_table(order: int, gain: float) -> None:
    rng, joint = np.random.default_rng(5), rare(5)
    drawn = [moments_of(joint, order, 1e-3, rng) for _ in range(20)]
    whole = [error(smooth(moments, order)[0], joint, order) for moments in drawn]
    single = [error(smooth(moments, order, whole=False)[0], joint, order) for moments in drawn]
    assert np.mean(whole) < gain * np.mean(single)


@pytest.mark.parametrize("answers", [(2, 2, 2, 2), (3, 2, 4), (2, 2, 2, 2, 2, 2, 2)])
def test_every_table_is_a_margin_of_one_distribution(
    answers: tuple[int, ...], rng: np.random.Generator
) -> None:
    joint = rng.dirichlet(np.ones(math.prod(answers))).reshape(answers)
    moments = moments_of(joint, 2, 1e-3, rng)
    tables, off = smooth(moments, len(answers))
    assert off == set()
    whole = tables[tuple(range(len(answers)))]
    assert whole.min() >= 0
    assert whole.sum() == pytest.approx(1)
    for s, table in tables.items():
        others = tuple(i for i in range(len(answers)) if i not in s)
        assert table == pytest.approx(whole.sum(axis=others))
    few, _ = smooth(moments, 2, [(0, 1)])
    assert few[(0, 1)] == pytest.approx(tables[(0, 1)])


def test_certain_moments_are_met(rng: np.random.Generator) -> None:
    """Hardly any noise, and nothing that is held back: the distribution itself."""
    joint = 0.5 * rng.dirichlet(np.full(8, 3.0)).reshape(2, 2, 2) + 0.5 / 8
    moments = moments_of(joint, 3, 1e-8, rng)
    tables = {(i,): joint.sum(axis=tuple({0, 1, 2} - {i})) for i in range(3)}
    steps = []
    for size in (2, 3):
        sets = list(combinations(range(3), size))
        value = np.array([moments.measured[s].theta for s in sets])
        one = np.ones(value.shape)
        kept = Interactions(value, 1e-8 * one, one, centre=0 * one, kept=one)
        steps.append(Step({(2,) * size: sets}, {(2,) * size: kept}))
    assert joint_distribution(moments, tables, steps) == pytest.approx(joint, abs=1e-3)


def test_a_pair_without_reports_has_no_interaction_of_its_own() -> None:
    rng = np.random.default_rng(3)
    joint = np.full((2, 2, 2), 0.05)
    joint[0, 0, 0] = joint[1, 1, 1] = 0.35
    moments = moments_of(joint, 2, 1e-4, rng, unknown=(0, 2))
    tables, _ = smooth(moments, 3)
    # What is not known follows from the two pairs that are: 0 and 2 are alike through 1.
    chain = tables[(0, 1)][:, :, None] * tables[(1, 2)] / tables[(1,)][:, None]
    assert tables[(0, 1, 2)] == pytest.approx(chain, abs=2e-3)


def test_which_records_are_fitted_whole(rng: np.random.Generator) -> None:
    def made(attributes: int, order: int, noise: float) -> Moments:
        return moments_of(np.full((2,) * attributes, 2.0**-attributes), order, noise, rng)

    limit = int(math.log2(MOST_CELLS))
    assert is_fitted_whole(made(limit, 2, 1e-3))
    assert not is_fitted_whole(made(limit + 1, 2, 1e-3))
    assert not is_fitted_whole(made(4, 1, 1e-3))
    assert not is_fitted_whole(made(4, 2, 1e-6))
    assert not is_fitted_whole(made(limit, 5, 1e-3))


def test_the_functions_are_those_of_the_moments(rng: np.random.Generator) -> None:
    """A cell's contrasts in C order: without noise or prior, moments come back as they went in."""
    answers = (3, 2, 4)
    joint = rng.dirichlet(np.full(24, 5.0)).reshape(answers)
    moments = moments_of(joint, 2, 1e-4, rng)
    tables, _ = smooth(moments, 2)
    for s in combinations(range(3), 2):
        rows = design([contrast_matrix(answers[i])[1:] for i in s])
        found = rows @ tables[s].reshape(-1)
        assert found == pytest.approx(moments.measured[s].theta.reshape(-1), abs=0.08)
