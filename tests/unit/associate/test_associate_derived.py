from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable.associate import Joint, Variable, conditional, estimate_joint, hellinger, odds_ratios
from deniable.errors import InvalidParameter
from deniable.mechanisms import OUE
from material.associate_people import closed, dependent, two_fields


def table(probability: np.ndarray, covariance: np.ndarray | None = None) -> Joint:
    shape = probability.shape
    labels = tuple(tuple(str(i) for i in range(size)) for size in shape)
    none = np.zeros(shape)
    return Joint(
        tuple("abc"[: len(shape)]), labels, probability, none, none, none, covariance, 100, 0.0, 1,
        "sqp", 1, True, unbounded=probability, unbounded_covariance=covariance,
    )  # fmt: skip


def test_conditional_probabilities_and_their_delta_method(rng):
    joint = estimate_joint(two_fields(rng))
    found = conditional(joint, "size", "colour")
    x = joint.probability
    assert found.names == ("colour", "size")
    assert np.allclose(found.value, x / x.sum(axis=1, keepdims=True))
    assert np.allclose(found.value.sum(axis=1), 1)
    # The slow twin: the derivative by finite differences.
    flat = x.reshape(-1)
    for i, j in np.ndindex(3, 3):
        slope = np.empty(9)
        for cell in range(9):
            moved = flat.copy()
            moved[cell] += 1e-6
            changed = moved.reshape(3, 3)
            slope[cell] = (changed[i, j] / changed[i].sum() - found.value[i, j]) / 1e-6
        expected = np.sqrt(slope @ joint.unbounded_covariance @ slope)
        assert found.std_error[i, j] == pytest.approx(expected, rel=1e-3)
    assert np.all((found.low <= found.value) & (found.value <= found.high))
    other_way = conditional(joint, "colour", "size")
    assert np.allclose(other_way.value.sum(axis=1), 1)


def test_variables_on_neither_side_are_summed_out(rng):
    joint = table(rng.dirichlet(np.ones(24)).reshape(2, 3, 4), np.eye(24) * 1e-4)
    found = conditional(joint, "c", ["a"])
    margin = joint.probability.sum(axis=1)
    assert np.allclose(found.value, margin / margin.sum(axis=1, keepdims=True))
    both = conditional(joint, "b", ["c", "a"])
    assert both.value.shape == (4, 2, 3)
    assert np.allclose(
        both.value[1, 0], joint.probability[0, :, 1] / joint.probability[0, :, 1].sum()
    )


def test_conditions_that_nobody_meets_are_not_a_number():
    found = conditional(table(np.array([[0.5, 0.5], [0.0, 0.0]]), np.eye(4) * 1e-4), "b", "a")
    assert np.isnan(found.value[1]).all()
    assert np.isnan(found.low[1]).all()
    assert np.isfinite(found.low[0]).all()
    assert "probability 0" in found.notes[0]


def test_without_a_covariance_there_are_no_intervals():
    joint = table(np.full((2, 2), 0.25))
    assert np.isnan(conditional(joint, "b", "a").low).all()
    assert np.all(odds_ratios(joint).high == np.inf)


@pytest.mark.parametrize(("of", "given"), [("x", "a"), ("a", "a"), ("a", ["b", "b"])])
def test_wrong_names_are_refused(of, given):
    with pytest.raises(InvalidParameter, match="variables of the table: a, b"):
        conditional(table(np.full((2, 2), 0.25)), of, given)


def test_odds_ratios_by_hand():
    x = np.array([[0.3, 0.2], [0.1, 0.4]])
    covariance = (np.diag(x.ravel()) - np.outer(x.ravel(), x.ravel())) / 1_000
    found = odds_ratios(table(x, covariance))
    assert found.value[0, 0] == pytest.approx(0.3 * 0.4 / (0.2 * 0.1))
    assert found.value[0, 1] == pytest.approx(1 / found.value[0, 0])
    # Woolf's formula: the variance of the logarithm is the sum of 1 / count.
    woolf = np.sqrt(np.sum(1 / (1_000 * x)))
    assert found.std_error == pytest.approx(np.full((2, 2), woolf))
    assert found.high[0, 0] == pytest.approx(found.value[0, 0] * np.exp(1.959964 * woolf))
    assert found.notes == ()


def test_odds_of_cells_at_zero_have_no_error():
    found = odds_ratios(table(np.array([[0.5, 0.0], [0.2, 0.3]]), np.eye(4) * 1e-4))
    assert found.value[0, 0] == np.inf
    assert found.value[0, 1] == 0
    assert np.all(found.low == 0)
    assert np.all(found.high == np.inf)
    assert "no error" in found.notes[0]


def test_odds_of_what_may_be_nobodys_have_no_such_end():
    """Noise of 10 points makes 5% out of nothing; of 2 points it does not."""
    x, people = np.array([[0.45, 0.05], [0.2, 0.3]]), 1_000.0
    sample = (np.diag(x.ravel()) - np.outer(x.ravel(), x.ravel())) / people
    tangent = np.eye(4) - 0.25
    for noise, open_ended in ((0.1, True), (0.02, False)):
        joint = replace(table(x, sample + noise**2 * tangent), people=people)
        found = odds_ratios(joint)
        # a d / (b c) with b = 0.05: it may be infinite, and b c / (a d) may be 0.
        assert np.isinf(found.high[0, 0]) == open_ended
        assert (found.low[0, 1] == 0) == open_ended
        assert found.low[0, 0] > 0
        assert np.isfinite(found.high[0, 1])
    # A sample of 40 has no other reason for 5% than that somebody has it.
    few = replace(table(x, sample * people / 40), people=40.0)
    assert np.isfinite(odds_ratios(few).high).all()


def test_one_report_says_nothing_about_odds():
    """A report with both bits set fits every cell alike: it is no information, not certainty."""
    mechanism = OUE(2, epsilon=1.0)
    both = np.zeros(1, dtype=mechanism.dtype)
    both["bits"] = 3
    joint = estimate_joint([Variable(name, mechanism, both) for name in "ab"])
    found = odds_ratios(joint)
    assert not joint.informative
    assert (joint.std_error > 1).all()
    assert (joint.low == 0).all()
    assert (joint.high == 1).all()
    assert (found.low == 0).all()
    assert np.isinf(found.high).all()


def test_odds_need_two_variables(rng):
    x, y = dependent(rng, 500)
    joint = estimate_joint([closed("a", x, rng), closed("b", y, rng), closed("c", y, rng)])
    with pytest.raises(InvalidParameter, match=r"two variables\. Got 3"):
        odds_ratios(joint)


def test_hellinger_distances():
    p, q = np.array([[0.5, 0.5], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.25, 0.75]])
    assert hellinger(p, p) == 0
    assert hellinger(p, q) == pytest.approx(1)
    assert hellinger(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == pytest.approx(
        0.541196, abs=1e-6
    )
    with pytest.raises(InvalidParameter, match="one shape"):
        hellinger(p, p[0])
    with pytest.raises(InvalidParameter, match="at least 0"):
        hellinger(np.array([-0.1, 1.1]), np.array([0.5, 0.5]))
