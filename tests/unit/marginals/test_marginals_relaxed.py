"""The relaxed maximum of entropy, against a general solver that knows nothing of its dual."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from deniable.marginals.maxent_of_noisy_means import relaxed_entropy
from deniable.mechanisms.base import Floats


def signs(attributes: int) -> Floats:
    """Return the signs of the attributes and of their pairs, a row each, over all cells."""
    cells = np.arange(2**attributes)
    single = 1.0 - 2.0 * ((cells >> np.arange(attributes)[:, None]) & 1)
    pairs = [single[i] * single[j] for i in range(attributes) for j in range(i)]
    return np.concatenate([single, pairs])


def objective(
    cells: Floats, reference: Floats, functions: Floats, means: Floats, slack: Floats
) -> float:
    """Return what is minimised, as it is defined."""
    kl = float(np.sum(cells * np.log(cells / reference)))
    return kl + float(np.sum((functions @ cells - means) ** 2 / (2 * slack)))


def slowly(reference: Floats, functions: Floats, means: Floats, slack: Floats) -> Floats:
    """Return the minimum over the cells themselves, with their sum as a constraint."""
    found = optimize.minimize(
        objective,
        reference,
        args=(reference, functions, means, slack),
        method="SLSQP",
        bounds=[(1e-12, 1)] * reference.size,
        constraints={"type": "eq", "fun": lambda cells: cells.sum() - 1},
        options={"maxiter": 2_000, "ftol": 1e-14},
    )
    return np.asarray(found.x)


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
def test_it_is_the_minimum(spread: float, rng: np.random.Generator) -> None:
    """Feasible means, noisy ones, and some that no distribution has."""
    functions = signs(3)
    reference = rng.dirichlet(np.ones(8))
    means = functions @ rng.dirichlet(np.ones(8)) + spread * rng.normal(size=6)
    slack = rng.uniform(0.02, 0.5, size=6)
    found = relaxed_entropy(reference, functions, means, slack)
    setting = (reference, functions, means, slack)
    assert found.cells == pytest.approx(slowly(*setting), abs=2e-5)
    assert found.cells.sum() == pytest.approx(1)
    assert found.eta == pytest.approx((means - functions @ found.cells) / slack, abs=1e-4)
    for _ in range(20):
        other = 0.9 * found.cells + 0.1 * rng.dirichlet(np.ones(8))
        assert objective(found.cells, *setting) < objective(other, *setting)


def test_much_slack_leaves_the_reference_and_none_the_means(rng: np.random.Generator) -> None:
    functions, reference = signs(3), rng.dirichlet(np.ones(8))
    means = functions @ rng.dirichlet(np.full(8, 5.0))
    free = relaxed_entropy(reference, functions, means, np.full(6, 1e9))
    assert free.cells == pytest.approx(reference, abs=1e-6)
    bound = relaxed_entropy(reference, functions, means, np.full(6, 1e-9))
    assert functions @ bound.cells == pytest.approx(means, abs=1e-6)
    nothing = relaxed_entropy(reference, functions[:0], means[:0], np.zeros(0))
    assert nothing.cells == pytest.approx(reference)


def test_a_good_first_guess_changes_nothing(rng: np.random.Generator) -> None:
    functions, reference = signs(4), np.full(16, 1 / 16)
    means = rng.uniform(-0.5, 0.5, size=10)
    slack = np.full(10, 0.05)
    first = relaxed_entropy(reference, functions, means, slack)
    again = relaxed_entropy(reference, functions, means, slack, first.eta + rng.normal(size=10))
    assert again.cells == pytest.approx(first.cells, abs=1e-6)


def test_impossible_means_with_hardly_any_slack() -> None:
    """Signs that are all opposite to each other: the nearest there is, and no overflow."""
    functions = signs(3)
    means = np.array([0.0, 0.0, 0.0, -1.0, -1.0, -1.0])
    cells = relaxed_entropy(np.full(8, 1 / 8), functions, means, np.full(6, 1e-8)).cells
    assert (functions @ cells)[3:] == pytest.approx(np.full(3, -1 / 3), abs=1e-4)
    assert cells.min() >= 0
