from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize

from deniable.associate import Variable, associate, estimate_joint, independence
from deniable.associate.covariance import on_simplex
from deniable.associate.joint import NO_INFORMATION
from deniable.associate.patterns import patterns_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OUE, Rappor
from material.associate_people import CLOSED, OPEN, STRINGS, closed, dependent, opened, two_fields


def truth_of(*columns: np.ndarray) -> np.ndarray:
    table = np.zeros((3,) * len(columns))
    np.add.at(table, columns, 1 / columns[0].size)
    return table


@pytest.mark.parametrize("kinds", list(itertools.product(("krr", "oue", "orr-closed"), OPEN)))
def test_any_mix_of_mechanisms_finds_the_table(kinds, rng):
    x, y = dependent(rng, 20_000)
    variables = [closed("a", x, rng, kinds[0]), opened("b", y, rng, kinds[1])]
    joint = estimate_joint(variables)
    assert joint.probability.shape == (3, 4)
    assert joint.labels == (("0", "1", "2"), (*STRINGS, "(other)"))
    truth = np.column_stack([truth_of(x, y), np.zeros(3)])
    # Six standard errors: a wrong model misses by dozens.
    assert np.all(np.abs(joint.unbounded - truth) < 6 * joint.std_error)
    assert joint.gap < 1e-6 * joint.n
    assert joint.n == 20_000


def test_three_variables(rng):
    x, y = dependent(rng, 20_000)
    z = np.where(rng.random(20_000) < 0.5, y, rng.integers(0, 3, 20_000))
    kinds = ("krr", "basic", "subset")
    parts = zip("abc", (x, y, z), kinds, strict=True)
    joint = estimate_joint([closed(name, codes, rng, kind) for name, codes, kind in parts])
    assert joint.names == ("a", "b", "c")
    assert np.all(np.abs(joint.unbounded - truth_of(x, y, z)) < 6 * joint.std_error)
    assert joint.probability.sum() == pytest.approx(1)


def test_all_solvers_agree(rng):
    variables = two_fields(rng)
    found = {
        solver: estimate_joint(variables, solver=solver) for solver in ("sqp", "squarem", "em")
    }
    for solver, joint in found.items():
        assert joint.solver == solver
        assert joint.gap < 1e-6 * joint.n
        assert np.allclose(joint.probability, found["sqp"].probability, atol=3e-3)
    assert found["sqp"].rounds < found["squarem"].rounds < found["em"].rounds


def test_both_at_once_are_what_they_are_apart(rng):
    variables = two_fields(rng)
    joint, test = associate(variables)
    assert np.allclose(joint.probability, estimate_joint(variables).probability)
    assert test == independence(variables)


def test_the_covariance_is_that_of_the_constrained_maximum(rng):
    """The slow twin: a basis of the tangent, and the Hessian by finite differences."""
    variables = two_fields(rng, 2_000)
    joint, patterns = estimate_joint(variables), patterns_of(variables)
    x = joint.probability.reshape(-1)
    basis = np.linalg.svd(np.ones((1, x.size)))[2][1:].T

    def slope(step: np.ndarray) -> np.ndarray:
        return basis.T @ patterns.pulled(
            patterns.n * patterns.shares / patterns.mixed(x + basis @ step)
        )

    hessian = -optimize.approx_fprime(np.zeros(basis.shape[1]), slope, 1e-7)
    expected = basis @ np.linalg.inv(hessian) @ basis.T
    assert np.allclose(joint.unbounded_covariance, expected, rtol=1e-3, atol=1e-8)
    assert np.allclose(joint.std_error.reshape(-1) ** 2, expected.diagonal(), rtol=1e-3)


def test_cells_at_the_bound_have_no_covariance_but_an_interval(rng):
    x = rng.integers(0, 3, 3_000)
    joint = estimate_joint([closed("a", x, rng), closed("b", x, rng, "oue")])  # always the same
    zero = joint.probability == 0
    assert zero.any()
    diagonal = joint.covariance.diagonal().reshape(3, 3)
    assert np.all(diagonal[zero] == 0)
    assert np.all(diagonal[~zero] > 0)
    assert np.abs(joint.covariance.sum(axis=0)).max() < 1e-12
    assert np.all(joint.std_error > 0)
    assert np.all(joint.low[zero] == 0)
    assert np.all(joint.high >= joint.probability)
    assert np.all(joint.low <= joint.probability)
    assert joint.unbounded.min() < 0


def test_free_cells_alone_are_inverted():
    information = np.diag([4.0, 4.0, 9.0])
    found = on_simplex(information, np.array([True, True, False]))
    # Two cells that sum to 1 with information 4 each: variance 1/8 together.
    assert np.allclose(found, [[0.125, -0.125, 0], [-0.125, 0.125, 0], [0, 0, 0]])


def test_wider_levels_have_wider_intervals(rng):
    variables = two_fields(rng)
    narrow, wide = (estimate_joint(variables, level=level) for level in (0.5, 0.99))
    assert np.all(narrow.high - narrow.low < wide.high - wide.low)


def test_it_says_when_the_data_say_nothing(rng):
    few = KRR(3, epsilon=0.1)
    x, y = dependent(rng, 200)
    variables = [Variable(name, few, few.simulate(c, rng)) for name, c in (("a", x), ("b", y))]
    joint = estimate_joint(variables)
    assert not joint.informative
    assert NO_INFORMATION in joint.notes
    assert estimate_joint(two_fields(rng)).informative


def test_some_answers_of_a_closed_domain_and_the_rest(rng):
    mechanism = Rappor.basic(8, epsilon=3.0)
    x, y = rng.integers(0, 8, 30_000), rng.integers(0, 3, 30_000)
    y = np.where(x == 5, 0, y)
    some = Variable("a", mechanism, mechanism.simulate(x, rng), candidates=("5", "1"))
    joint = estimate_joint([some, closed("b", y, rng)])
    group = np.where(x == 5, 0, np.where(x == 1, 1, 2))
    assert joint.labels[0] == ("5", "1", "(other)")
    assert np.all(np.abs(joint.unbounded - truth_of(group, y)) < 6 * joint.std_error)


def test_large_tables_have_no_errors_and_say_so(rng):
    large = KRR(50, epsilon=6.0)
    codes = rng.integers(0, 50, (2, 3_000))
    variables = [
        Variable(n, large, large.simulate(c, rng)) for n, c in zip("ab", codes, strict=True)
    ]
    joint = estimate_joint(variables)
    assert joint.solver == "squarem"
    assert joint.covariance is None
    assert np.isnan(joint.std_error).all()
    assert any("no standard errors" in note for note in joint.notes)


@pytest.mark.parametrize("people", [1, 3, 20])
def test_no_interval_is_narrower_than_that_of_so_few_who_are_all_alike(people, rng):
    mechanisms = KRR(2, epsilon=2.0), OUE(3, epsilon=2.0), KRR(2, epsilon=2.0)
    alike = 1 - 0.05 ** (1 / people)  # of people without noise: r^n / 2 = 0.025
    above = 0
    for _ in range(30):
        fields = [
            Variable(name, m, m.simulate(rng.integers(size, size=people), rng))
            for name, m, size in zip("abc", mechanisms, (2, 3, 2), strict=True)
        ]
        joint = estimate_joint(fields)
        # A power-constrained limit gives away at most 14% (docs: errors of a joint table).
        assert (joint.high - joint.low).min() > 0.86 * alike
        above += bool(np.any(joint.unbounded > 1 + joint.std_error))
    assert above > 0 or people > 1  # far above 1, which used to leave nothing of an interval


@pytest.mark.parametrize("options", [{"solver": "newton"}, {"level": 1.0}, {"level": float("nan")}])
def test_wrong_options_are_refused(options, rng):
    with pytest.raises(InvalidParameter, match=f"The '{next(iter(options))}' parameter"):
        estimate_joint(two_fields(rng, 50), **options)


def test_every_closed_mechanism_takes_part(rng):
    x, y = dependent(rng, 20_000)
    for kind in CLOSED:
        joint = estimate_joint([closed("a", x, rng, kind), closed("b", y, rng)])
        assert np.all(np.abs(joint.unbounded - truth_of(x, y)) < 6 * joint.std_error), kind


def test_no_interval_ends_at_zero(rng):
    """Of cells that nobody has, noise puts one in six more than a standard error below 0."""
    krr = KRR(3, epsilon=1.0)
    fields = [Variable(n, krr, krr.simulate(rng.integers(0, 2, 9_000), rng)) for n in "abc"]
    joint = estimate_joint(fields)
    below = joint.unbounded < -1.2 * joint.std_error
    assert below.any()
    assert np.all(joint.low[below] == 0)
    # 1.96 - 1 standard errors, and a little more: so few reports are not quite normal.
    ends = joint.high[below] / joint.std_error[below]
    assert np.all(ends > 0.96 * (1 - 1e-3))
    assert np.all(ends < 1.05)
