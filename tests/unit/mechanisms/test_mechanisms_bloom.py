"""Weighted least squares over candidate strings, where it is easy and where it cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, Rappor
from deniable.mechanisms.closed_form import Pure
from deniable.mechanisms.hashing import fingerprints
from deniable.mechanisms.rappor_bloom import Bloom, design_matrix
from deniable.protocol import ABSENT
from deniable.protocol.hashing import bloom_bits, fingerprint

STRINGS = [f"string {i}" for i in range(6)]


def expected_counts(mechanism: Rappor, frequencies: dict[str, float], people: int) -> Counts:
    """Return the counts without any noise: exactly their expectation, rounded."""
    shape = mechanism.parameters
    share = np.full((shape.cohorts, shape.bits), mechanism.pure.q)
    for text, frequency in frequencies.items():
        for cohort in range(shape.cohorts):
            words = fingerprint(b"s" + text.encode())
            bits = set(bloom_bits(words, cohort, shape.hashes, shape.bits))
            share[cohort, sorted(bits)] += mechanism.pure.gap * frequency
    each = people // shape.cohorts
    return Counts(np.full(shape.cohorts, each), np.rint(share * each).astype(np.int64))


def test_the_design_is_the_set_of_bits() -> None:
    design = design_matrix(
        Bloom(5, 4, 3, Pure(0.8, 0.2, 0.6)), fingerprints([b"sa", b"sb"])
    ).toarray()
    for column, key in enumerate((b"sa", b"sb")):
        for cohort in range(3):
            expected = np.zeros(5)
            expected[bloom_bits(fingerprint(key), cohort, 4, 5)] = 1
            assert design[cohort * 5 : cohort * 5 + 5, column].tolist() == expected.tolist()


@pytest.mark.parametrize("hashes", [1, 2, 4])
def test_expected_counts_give_the_frequencies_back(hashes: int) -> None:
    mechanism = Rappor(bits=32, hashes=hashes, cohorts=4, epsilon=3.0)
    true = dict(zip(STRINGS, (0.4, 0.3, 0.2, 0.1, 0.0, 0.0), strict=True))
    estimate = mechanism.estimate(expected_counts(mechanism, true, 4 * 10**9), STRINGS)
    assert estimate.frequency == pytest.approx(list(true.values()), abs=1e-6)
    assert estimate.notes == ()


def test_against_dense_least_squares(rng: np.random.Generator) -> None:
    """The slow twin: the same two passes with dense matrices and a general inverse."""
    mechanism = Rappor(bits=16, hashes=2, cohorts=3, epsilon=2.0)
    counts = mechanism.accumulate(mechanism.simulate(STRINGS * 300, rng))
    estimate = mechanism.estimate(counts, STRINGS)
    p, q = mechanism.pure.q, mechanism.pure.p
    keys = [b"s" + text.encode() for text in STRINGS]
    x = design_matrix(Bloom(16, 2, 3, mechanism.pure), fingerprints(keys)).toarray()
    x = np.column_stack([x, np.ones(48)])
    people = np.repeat(counts.reports, 16)
    y = (counts.table.ravel() / people - p) / (q - p)
    first = np.linalg.inv(x.T @ np.diag(people) @ x) @ x.T @ (people * y)
    r = (people * np.clip(p + (q - p) * x @ first, p, q) + 0.5) / (people + 1)
    w = people * (q - p) ** 2 / (r * (1 - r))
    inverse = np.linalg.inv(x.T @ np.diag(w) @ x)
    solution = inverse @ x.T @ (w * y)
    excess = max(1.0, float(w @ (y - x @ solution) ** 2) / (48 - 7))
    assert estimate.frequency == pytest.approx(solution[:-1])
    assert estimate.covariance == pytest.approx(excess * inverse[:-1, :-1])


def test_unlisted_strings_do_not_shift_the_listed_ones_and_are_noticed() -> None:
    mechanism = Rappor(bits=64, hashes=2, cohorts=64, epsilon=4.0)
    true = {"listed": 0.2} | {f"unlisted {i}": 0.1 for i in range(8)}
    estimate = mechanism.estimate(expected_counts(mechanism, true, 64 * 10**6), ["listed", "none"])
    assert estimate.frequency == pytest.approx([0.2, 0.0], abs=4 * estimate.std_error.max())
    assert any("not among the candidates" in note for note in estimate.notes)
    alone = mechanism.estimate(expected_counts(mechanism, true, 64 * 10**6), list(true))
    assert estimate.std_error[0] > 5 * alone.std_error[0]


def test_one_candidate_one_cohort(rng: np.random.Generator) -> None:
    mechanism = Rappor(bits=8, hashes=1, cohorts=1, epsilon=3.0)
    counts = mechanism.accumulate(mechanism.simulate(["a"] * 2000, rng))
    estimate = mechanism.estimate(counts, ["a"])
    assert estimate.frequency[0] == pytest.approx(1, abs=0.2)
    assert np.isfinite(estimate.std_error[0])


def test_candidates_that_share_all_bits_are_said_to() -> None:
    mechanism = Rappor(bits=2, hashes=1, cohorts=1, epsilon=1.0)
    same = [text for text in STRINGS if bloom_bits(fingerprint(b"s" + text.encode()), 0, 1, 2)[0]]
    assert len(same) >= 2
    counts = expected_counts(mechanism, {same[0]: 1.0}, 1000)
    estimate = mechanism.estimate(counts, same[:2])
    assert np.isnan(estimate.frequency).all()
    assert np.isnan(estimate.std_error).all()
    assert estimate.covariance is not None
    assert np.isnan(estimate.covariance).all()
    assert same[0] in estimate.notes[-1]
    assert "2 of 2 candidates" in estimate.notes[-1]


def test_only_the_candidates_that_share_their_bits_are_unknown() -> None:
    mechanism = Rappor(bits=4, hashes=1, cohorts=1, epsilon=4.0)
    places: dict[int, list[str]] = {}
    for text in (f"string {i}" for i in range(40)):
        bit = bloom_bits(fingerprint(b"s" + text.encode()), 0, 1, 4)[0]
        places.setdefault(bit, []).append(text)
    twins, single = places[0][:2], places[1][0]
    counts = expected_counts(mechanism, {twins[0]: 0.5, single: 0.5}, 10**8)
    estimate = mechanism.estimate(counts, [*twins, single])
    assert np.isnan(estimate.frequency).tolist() == [True, True, False]
    assert estimate.frequency[2] == pytest.approx(0.5, abs=1e-3)


def test_more_candidates_than_equations() -> None:
    mechanism = Rappor(bits=4, hashes=1, cohorts=2, epsilon=1.0)
    many = [f"string {i}" for i in range(100)]
    estimate = mechanism.estimate(expected_counts(mechanism, {many[0]: 1.0}, 1000), many)
    assert np.isnan(estimate.std_error).all()
    assert "100 of 100 candidates" in estimate.notes[-1]
    assert "and 95 more" in estimate.notes[-1]


def test_no_room_for_an_intercept() -> None:
    """Two bits, two candidates that set one each: their sum is the intercept."""
    mechanism = Rappor(bits=2, hashes=1, cohorts=1, epsilon=2.0)
    pair: dict[int, str] = {}
    for text in STRINGS:
        pair.setdefault(bloom_bits(fingerprint(b"s" + text.encode()), 0, 1, 2)[0], text)
    listed = [pair[0], pair[1]]
    counts = expected_counts(mechanism, {listed[0]: 0.7, listed[1]: 0.3}, 10**8)
    estimate = mechanism.estimate(counts, listed)
    assert estimate.frequency == pytest.approx([0.7, 0.3], abs=1e-4)
    assert "intercept" in estimate.notes[0]


def test_cohorts_without_reports_are_left_out() -> None:
    mechanism = Rappor(bits=32, hashes=1, cohorts=4, epsilon=3.0)
    counts = expected_counts(mechanism, {"a": 0.6, "b": 0.4}, 4 * 10**8)
    counts.reports[2], counts.table[2] = 0, 0
    estimate = mechanism.estimate(counts, ["a", "b"])
    assert estimate.frequency == pytest.approx([0.6, 0.4], abs=1e-4)
    assert estimate.notes == ("1 of 4 cohorts have no reports.",)


def test_no_reports_teach_nothing() -> None:
    mechanism = Rappor(bits=32, hashes=1, cohorts=4, epsilon=3.0)
    estimate = mechanism.estimate(mechanism.zero(), ["a", ABSENT])
    assert estimate.candidates == ("a", "(absent)")
    assert np.isnan(estimate.frequency).all()
    assert "no reports" in estimate.notes[0]


def test_a_single_report(rng: np.random.Generator) -> None:
    mechanism = Rappor(bits=32, hashes=1, cohorts=4, epsilon=3.0)
    estimate = mechanism.estimate(mechanism.accumulate(mechanism.simulate(["a"], rng)), ["a"])
    assert np.isfinite(estimate.frequency).all()
    assert np.isfinite(estimate.std_error).all()


def test_bad_candidates_are_refused() -> None:
    mechanism = Rappor(bits=32, hashes=1, cohorts=4, epsilon=3.0)
    for bad in (None, [], ["a", "a"]):
        with pytest.raises(InvalidParameter):
            mechanism.estimate(mechanism.zero(), bad)
        with pytest.raises(InvalidParameter):
            mechanism.likelihood(np.zeros(1, dtype=mechanism.dtype), bad)


def test_the_absent_answer_is_a_candidate(rng: np.random.Generator) -> None:
    mechanism = Rappor(bits=64, hashes=1, cohorts=8, epsilon=5.0)
    counts = mechanism.accumulate(mechanism.simulate(["a", "a", "a", ABSENT] * 5000, rng))
    estimate = mechanism.estimate(counts, ["a", ABSENT, "(absent)"])
    assert estimate.frequency == pytest.approx([0.75, 0.25, 0.0], abs=0.05)
