from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import KRR, Counts, Rappor, mechanism_for
from deniable.protocol import ABSENT, KRRParameters


def counts_of(*table: int) -> Counts:
    return Counts(np.array([sum(table)]), np.array([table]))


def test_epsilon_is_the_one_asked_for() -> None:
    assert KRR(10, epsilon=1.0).epsilon == 1.0
    assert KRR(10, epsilon=1.0).epsilon_forever is None
    both = KRR(10, epsilon=1.0, epsilon_forever=3.0)
    assert (both.epsilon, both.epsilon_forever) == (1.0, 3.0)
    assert KRR(3, keep=0.6).epsilon == pytest.approx(math.log(3), abs=1e-6)


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"epsilon": 0},
        {"epsilon": float("nan")},
        {"keep": 1.0},
        {"keep": 0.0999},
        {"keep": -1},
        {"epsilon": 2.0, "epsilon_forever": 1.0},
        {"epsilon": 1.0, "keep": 0.5},
    ],
)
def test_impossible_parameters_are_refused(wanted: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        KRR(10, **wanted)


@pytest.mark.parametrize("categories", [0, 1, 10**6, 2.5, True])
def test_impossible_numbers_of_categories_are_refused(categories: int) -> None:
    with pytest.raises(InvalidParameter, match="answers"):
        KRR(categories, epsilon=1.0)


def test_the_same_mechanism_from_its_parameters() -> None:
    one = KRR(4, epsilon=1.0)
    two = KRR.from_parameters(one.parameters)
    assert two.parameters == one.parameters
    assert isinstance(mechanism_for(one.parameters), KRR)
    with pytest.raises(InvalidParameter, match="takes the parameters of 'krr'"):
        KRR.from_parameters(Rappor.basic(epsilon=1.0).parameters)


def test_the_largest_alphabet(rng: np.random.Generator) -> None:
    mechanism = KRR(65_537, epsilon=8.0)
    reports = mechanism.simulate(np.array([0, 65_536]), rng)
    estimate = mechanism.estimate(mechanism.accumulate(reports))
    assert estimate.covariance is None
    assert estimate.frequency.sum() == pytest.approx(1)


def test_estimate_inverts_the_expected_counts() -> None:
    mechanism = KRR(3, keep=0.75)  # move = 0.125
    estimate = mechanism.estimate(counts_of(500, 375, 125))
    assert estimate.frequency == pytest.approx([0.6, 0.4, 0.0])
    assert estimate.candidates == ("0", "1", "2")
    assert estimate.n == 1000


def test_covariance_given_the_values_by_hand() -> None:
    """Two people with answers 0 and 1 of 3: sums over people of the covariance of one report."""
    mechanism = KRR(3, keep=0.75)
    rows = np.array([[0.75, 0.125, 0.125], [0.125, 0.75, 0.125]])
    by_hand = sum(np.diag(row) - np.outer(row, row) for row in rows) / 4 / (0.625**2)
    # The expectation of the plug-in is the plug-in at the expected shares: it is linear in them.
    share = rows.mean(axis=0)
    estimate = mechanism.estimate(counts_of(*(share * 10_000).astype(int)))
    assert estimate.covariance is not None
    assert estimate.covariance * 10_000 / 2 == pytest.approx(by_hand)
    assert estimate.covariance.sum(axis=0) == pytest.approx(0, abs=1e-15)
    assert estimate.variance == pytest.approx(estimate.covariance.diagonal())
    expected = mechanism.variance(10_000, np.array([0.5, 0.5, 0.0]))
    assert estimate.variance == pytest.approx(expected)


def test_variance_in_the_form_of_the_paper() -> None:
    """n Var at f = 0 (docs/mathematics.md, section 2) is 347 at k = 1024, epsilon 1."""
    e = math.exp(1.0)
    for k in (2, 16, 1024):
        expected = (e + k - 2) / (e - 1) ** 2
        assert float(KRR(k, epsilon=1.0).variance(1)) == pytest.approx(expected, rel=1e-5)
    assert float(KRR(1024, epsilon=1.0).variance(1)) == pytest.approx(347, abs=0.5)


def test_proposition_3_with_sampling() -> None:
    """Summed over symbols, with f (1 - f) for sampling [KBR16, proposition 3]."""
    k, e = 8, math.exp(1.5)
    f = np.arange(1, k + 1) / 36
    ours = KRR(k, epsilon=1.5).variance(100, f) + f * (1 - f) / 100
    paper = (1 - (f**2).sum()) / 100 + (k - 1) / 100 * (k + 2 * (e - 1)) / (e - 1) ** 2
    assert ours.sum() == pytest.approx(paper, rel=1e-5)


@pytest.mark.parametrize(("n", "f"), [(0, 0.0), (10, -0.1), (10, 1.1), (10, float("nan"))])
def test_variance_refuses_what_cannot_be(n: int, f: float) -> None:
    with pytest.raises(InvalidParameter):
        KRR(3, epsilon=1.0).variance(n, f)


def test_variances_are_positive_whatever_was_reported() -> None:
    mechanism = KRR(4, epsilon=5.0)
    assert (mechanism.estimate(counts_of(1, 0, 0, 0)).std_error > 0).all()


def test_a_gap_below_the_precision_of_floats_is_no_division_by_zero() -> None:
    """The double nearest to 0.1 lies 5e-18 above it: legal, and useless."""
    mechanism = KRR(10, keep=0.1)
    assert mechanism.pure.p == mechanism.pure.q
    estimate = mechanism.estimate(counts_of(*range(10)))
    assert np.isfinite(estimate.std_error).all()
    assert (estimate.std_error > 1e10).all()


def test_no_reports_teach_nothing() -> None:
    mechanism = KRR(3, epsilon=1.0)
    estimate = mechanism.estimate(mechanism.zero(), ["a", "b", ABSENT])
    assert estimate.candidates == ("a", "b", "(absent)")
    assert np.isnan(estimate.frequency).all()
    assert np.isnan(estimate.std_error).all()
    assert estimate.n == 0
    assert "no reports" in estimate.notes[0]


def test_accumulate_counts_symbols() -> None:
    mechanism = KRR(3, epsilon=1.0)
    reports = np.array([(2,), (0,), (2,)], dtype=mechanism.dtype)
    for form in (reports, reports.tobytes(), memoryview(reports.tobytes())):
        assert mechanism.accumulate(form).table.tolist() == [[1, 0, 2]]
    frozen = np.frombuffer(reports.tobytes(), dtype=mechanism.dtype)
    assert mechanism.accumulate(frozen).n == 3
    assert mechanism.accumulate(b"").n == 0


def test_accumulate_refuses_unknown_symbols() -> None:
    mechanism = KRR(3, epsilon=1.0)
    reports = np.array([(3,)], dtype=mechanism.dtype)
    with pytest.raises(InvalidReport, match="below 3") as caught:
        mechanism.accumulate(reports)
    assert caught.value.reason == "record"
    with pytest.raises(InvalidReport, match="whole records"):
        mechanism.accumulate(b"\x00" * 5)


def test_counts_of_another_mechanism_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="different parameters"):
        KRR(3, epsilon=1.0).estimate(counts_of(1, 2))
    with pytest.raises(InvalidParameter, match="different parameters"):
        counts_of(1, 2).merge(counts_of(1, 2, 3))


def test_likelihood_by_hand() -> None:
    mechanism = KRR(3, keep=0.75)
    reports = np.array([(1,), (0,)], dtype=mechanism.dtype)
    expected = np.array([[0.125, 0.75, 0.125], [0.75, 0.125, 0.125]])
    assert mechanism.likelihood(reports) == pytest.approx(expected)
    assert mechanism.likelihood(reports, log=True) == pytest.approx(np.log(expected))


def test_simulated_labels(rng: np.random.Generator) -> None:
    mechanism = KRR.from_parameters(KRRParameters(3, 2**64, 2**64 - 1))
    reports = mechanism.simulate(["b", "c"], rng, ["a", "b", "c"])
    assert reports["symbol"].tolist() == [1, 2]
