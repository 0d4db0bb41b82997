from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.associate import Variable, estimate_joint, independence, independence_of_pairs
from deniable.associate.scores import definite_factor
from deniable.associate.wald import wald_test
from deniable.decode.significance import bh_adjusted, holm_adjusted
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, OUE, Rappor
from material.associate_people import OPEN, STRINGS, closed, dependent, opened, two_fields

METHODS = ("score", "moments", "wald")


def test_for_krr_the_score_test_is_pearsons(rng):
    x, y = dependent(rng, 3_000)
    one, two = KRR(3, epsilon=2.0), KRR(3, epsilon=1.0)
    variables = [Variable("a", one, one.simulate(x, rng)), Variable("b", two, two.simulate(y, rng))]
    table = np.zeros((3, 3))
    np.add.at(table, tuple(v.reports["symbol"] for v in variables), 1)
    expected = stats.chi2_contingency(table, correction=False)
    found = independence(variables)
    assert found.method == "score"
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert found.dof == expected.dof == 4
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-5)


def slow_score(variables: list[Variable]) -> float:
    """The slow twin: whole vectors per report, their covariances, one inverse of a Kronecker."""
    vectors = []
    for variable in variables:
        table = variable.mechanism.likelihood(variable.reports, variable.candidates)
        margin = np.full(3, 1 / 3)
        for _ in range(3_000):
            margin = margin * (table / (table @ margin)[:, None]).mean(axis=0)
        vectors.append((table / (table @ margin)[:, None])[:, 1:])
    one, two = (vector - vector.mean(axis=0) for vector in vectors)
    n = len(one)
    mean = np.einsum("ia,ib->ab", one, two).reshape(-1) / n
    covariance = np.kron(one.T @ one / n, two.T @ two / n)
    return float(n * mean @ np.linalg.solve(covariance, mean))


def test_the_score_test_agrees_with_its_slow_twin(rng):
    variables = two_fields(rng)
    assert independence(variables, method="score").statistic == pytest.approx(
        slow_score(variables), rel=1e-3
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["basic", *OPEN])
def test_dependence_is_found(method, kind, rng):
    x, y = dependent(rng, 20_000)
    make = opened if kind in OPEN else closed
    found = independence([make("a", x, rng, kind), closed("b", y, rng)], method=method)
    assert found.method == method
    assert found.p_value < 1e-6
    assert found.n == 20_000


@pytest.mark.parametrize("method", [*METHODS, "default"])
def test_independence_is_not_rejected(method, rng):
    x, y = rng.integers(0, 3, (2, 5_000))
    found = independence([closed("a", x, rng), closed("b", y, rng, "oue")], method=method)
    assert found.p_value > 1e-6
    assert found.dof == 4


def test_three_variables_are_tested_for_mutual_independence(rng):
    x, y = rng.integers(0, 3, (2, 40_000))
    z = (x + y) % 3  # every two are independent, the three are not
    variables = [closed(n, c, rng) for n, c in zip("abc", (x, y, z), strict=True)]
    assert all(pair.test.p_value > 1e-6 for pair in independence_of_pairs(variables))
    for method in METHODS:
        together = independence(variables, method=method)
        assert together.dof == 27 - 1 - 6 or together.notes
        assert together.p_value < 1e-6


def test_the_bootstrap_draws_populations(rng, monkeypatch):
    monkeypatch.setattr("deniable.associate.wald.REPLICATES", 19)
    x, y = dependent(rng, 2_000)
    site = opened("site", x, rng, "bloom")
    mechanism = Rappor.basic(8, epsilon=3.0)
    some = Variable("b", mechanism, mechanism.simulate(y, rng), candidates=("0", "1"))
    found = independence([site, some], method="bootstrap", rng=rng)
    assert (found.p_value, found.dof) == (1 / 20, 6)
    apart = [opened("a", x, rng, "orr"), closed("b", rng.permutation(y), rng)]
    again = independence(apart, method="bootstrap", rng=rng)
    assert again.p_value * 20 == pytest.approx(round(again.p_value * 20))
    assert 0 < again.statistic < 60 < found.statistic  # chi-square of 6 degrees: 60 once in 1e10
    with pytest.raises(InvalidParameter, match="pass 'rng'"):
        independence(apart, method="bootstrap")


def test_wald_says_when_its_chi_square_does_not_hold(rng):
    x = rng.integers(0, 3, 3_000)
    variables = [closed("a", x, rng), closed("b", x, rng, "oue")]
    found = independence(variables, method="wald")
    assert "cells are at 0" in found.notes[0]
    assert found.dof <= 4
    large = KRR(50, epsilon=6.0)
    codes = rng.integers(0, 50, (2, 2_000))
    wide = [Variable(n, large, large.simulate(c, rng)) for n, c in zip("ab", codes, strict=True)]
    with pytest.raises(InvalidParameter, match="too large for a covariance"):
        wald_test(estimate_joint(wide))


def test_fewer_reports_than_contrasts_prove_nothing(rng):
    x = rng.integers(0, 3, 5)
    site = Variable("a", OPEN["bloom"], OPEN["bloom"].simulate(x, rng, STRINGS), STRINGS)
    found = independence([site, opened("b", x, rng, "bloom")], method="moments")
    assert (found.p_value, found.dof) == (1.0, 9)


def test_an_unknown_method_is_refused(rng):
    with pytest.raises(InvalidParameter, match="The 'method' parameter of independence"):
        independence(two_fields(rng, 50), method="fisher")


def test_many_pairs_are_corrected_for_their_number(rng):
    x, y = dependent(rng, 5_000)
    codes = {"a": x, "b": y, "c": rng.integers(0, 3, 5_000)}
    pairs = independence_of_pairs([closed(name, c, rng) for name, c in codes.items()])
    assert [pair.names for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs[0].test.p_value < pairs[0].holm < 1e-6
    slack = 1 + 1e-12
    for pair in pairs:
        assert pair.test.p_value <= pair.bh * slack <= pair.holm * slack**2
        assert pair.holm <= 1
    with pytest.raises(InvalidParameter, match="two or more different fields"):
        independence_of_pairs([closed("a", x, rng)])


def test_corrections_by_hand():
    p = np.array([0.04, 0.01, 0.03, 0.5])
    assert holm_adjusted(p) == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert bh_adjusted(p) == pytest.approx([0.16 / 3, 0.04, 0.16 / 3, 0.5])
    assert bh_adjusted(p) == pytest.approx(stats.false_discovery_control(p))


def test_a_sparse_table_is_tested_by_drawn_populations(rng) -> None:
    """The rarest combination would have 0.03 people: a note says what was done instead."""
    first, second = KRR(5, epsilon=3.0), OUE(3, epsilon=3.0)
    codes = rng.choice(5, 300, p=[0.5, 0.3, 0.15, 0.04, 0.01])
    other = rng.choice(3, 300, p=[0.6, 0.39, 0.01])
    pair = [
        Variable("a", first, first.simulate(codes, rng)),
        Variable("b", second, second.simulate(other, rng)),
    ]
    test = independence(pair)
    assert test.method == "bootstrap"
    assert any("drawn that way" in note for note in test.notes)
    assert 0 < test.p_value <= 1
    assert independence(pair) == test  # the same reports give the same p-value
    assert independence(pair, method="score").method == "score"
    dependent = [
        Variable("a", first, first.simulate(codes, rng)),
        Variable("b", second, second.simulate(np.minimum(codes, 2), rng)),
    ]
    assert independence(dependent).p_value <= 0.01


@pytest.mark.parametrize("size", [2, 5])
def test_rounding_does_not_decide_what_is_singular(size, rng):
    """A number that follows from the others leaves a pivot of rounding, above or below 0."""
    for _ in range(20):
        columns = rng.random((size, 50))
        columns = np.vstack([columns, rng.random(size) @ columns])
        with pytest.raises(np.linalg.LinAlgError):
            definite_factor(columns @ columns.T / 50)
        factor = definite_factor(columns[:-1] @ columns[:-1].T / 50)
        assert np.allclose(factor @ factor.T, columns[:-1] @ columns[:-1].T / 50)
