"""Collisions in a count-mean sketch: against slow least squares, and where nothing can be told."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.mechanisms import HCMS, Counts
from deniable.mechanisms import sketch_shares as shares
from deniable.mechanisms.hashing import fingerprints
from deniable.mechanisms.permuting import code_words
from deniable.protocol.domain import string_key


def crowd(mechanism: HCMS, people: int, held: int, seed: int = 3) -> tuple[Counts, list[str]]:
    """Return the counts of people of whom half hold the first answer, and names of 40 answers."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(people) < 0.5, 0, rng.integers(0, held, people))
    names = [f"name {i}" for i in range(40)]
    listed = names if mechanism.hashed else None
    return mechanism.accumulate(mechanism.simulate(codes, rng, listed)), names


def agreements(mechanism: HCMS, counts: Counts, words: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return design, observations and weights of all buckets of all rows, one after the other."""
    shape, gap = mechanism.parameters, 2 * mechanism.pure.p - 1
    design, observed, weights = [], [], []
    for row in range(shape.rows):
        own = mechanism.buckets(words, np.full(len(words), row, dtype=np.uint64))
        signed = counts.table[row, : shape.width] - counts.table[row, shape.width :]
        for bucket in range(shape.width):
            ones = np.bitwise_count(np.arange(shape.width) & bucket) % 2
            design.append(own == bucket)
            observed.append((signed * (1 - 2 * ones.astype(int))).sum())
            weights.append(counts.reports[row])
    n = np.maximum(1, weights)
    return np.array(design, dtype=float), np.array(observed) / n / gap, np.array(weights)


def fitted(design: np.ndarray, observed: np.ndarray, weights: np.ndarray) -> np.ndarray:
    root = np.sqrt(weights)
    return np.linalg.lstsq(design * root[:, None], observed * root, rcond=None)[0]


@pytest.mark.parametrize("people", [30, 5_000])
def test_a_closed_domain_is_the_least_squares_fit_to_all_buckets(people: int) -> None:
    mechanism = HCMS(12, epsilon=3.0, rows=12, width=16)
    counts, _ = crowd(mechanism, people, 12)
    found = mechanism.estimate(counts)
    design, observed, weights = agreements(mechanism, counts, code_words(12))
    assert found.frequency == pytest.approx(fitted(design, observed, weights))
    assert found.covariance is not None
    assert np.sqrt(found.covariance.diagonal()) == pytest.approx(found.std_error)


def test_listed_strings_are_fitted_beside_an_even_rest() -> None:
    """Of rows whose mean over the buckets is known: 1/w of all people."""
    mechanism = HCMS(epsilon=3.0, rows=12, width=16)
    counts, names = crowd(mechanism, 5_000, 40)
    found = mechanism.estimate(counts, names[:12])
    words = fingerprints(map(string_key, names[:12]))
    design, observed, weights = agreements(mechanism, counts, words)
    flat = observed.reshape(12, 16)
    flat = (flat - flat.mean(axis=1, keepdims=True)).ravel()
    # Each row's own mean is left out, and the even rest falls out with it.
    centred = (design.reshape(12, 16, -1) - 1 / 16).reshape(12 * 16, -1)
    assert found.frequency == pytest.approx(fitted(centred, flat, weights), abs=0.05)
    total = (design * weights[:, None]).T @ design / counts.n
    right = (design * weights[:, None]).T @ observed / counts.n
    assert found.frequency == pytest.approx(np.linalg.solve(total - 1 / 16, right - 1 / 16))
    assert found.covariance is not None
    assert np.sqrt(found.covariance.diagonal()) == pytest.approx(found.std_error)


@pytest.mark.parametrize("answers", [None, 40])
def test_steps_find_the_exact_solution(
    answers: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = HCMS(answers, epsilon=3.0, rows=32, width=64)
    counts, names = crowd(mechanism, 20_000, 40)
    asked = None if answers else names
    exact = mechanism.estimate(counts, asked)
    monkeypatch.setattr(shares, "MOST_EXACT", 0)
    found = mechanism.estimate(counts, asked)
    assert found.covariance is None
    tolerance = 0.2 * exact.std_error.max() if answers else 1e-5
    assert found.frequency == pytest.approx(exact.frequency, abs=tolerance)
    assert found.std_error == pytest.approx(exact.std_error, rel=0.1)


def test_heavy_answers_are_solved_for_and_the_others_beside_them() -> None:
    """As if each light answer had been listed with the heavy ones alone."""
    mechanism = HCMS(epsilon=4.0, rows=10, width=8)
    counts, names = crowd(mechanism, 20_000, 1)
    found = mechanism.estimate(counts, names)
    assert found.covariance is None
    for light in (1, 7, 39):
        pair = mechanism.estimate(counts, [names[0], names[light]])
        assert found.frequency[light] == pytest.approx(pair.frequency[1])
        assert found.std_error[light] == pytest.approx(pair.std_error[1], rel=0.1)
    assert found.frequency[0] == pytest.approx(mechanism.estimate(counts, names[:1]).frequency[0])


def test_answers_that_share_every_bucket_are_named() -> None:
    mechanism = HCMS(3, epsilon=3.0, rows=1, width=8)
    words, names = code_words(3), ["red", "green", "blue"]
    own = mechanism.buckets(words, np.zeros(3, dtype=np.uint64)).tolist()
    counts = mechanism.accumulate(mechanism.simulate([0, 1, 2] * 500, 5))
    assert len(set(own)) == 3
    assert not mechanism.estimate(counts, names).notes
    small = HCMS(3, epsilon=3.0, rows=2, width=4)
    both = [small.buckets(words, np.full(3, row, dtype=np.uint64)) for row in (0, 1)]
    alike = [
        i
        for i in range(3)
        if any(i != j and all(row[i] == row[j] for row in both) for j in range(3))
    ]
    found = small.estimate(small.accumulate(small.simulate([0, 1, 2] * 500, 5)), names)
    assert np.flatnonzero(np.isnan(found.frequency)).tolist() == alike
    for i in alike:
        assert repr(names[i]) in found.notes[0]


def test_more_answers_than_a_sketch_can_tell_apart_are_said() -> None:
    mechanism = HCMS(300, epsilon=8.0, rows=2, width=16)
    codes = np.repeat(np.arange(300), 1_000)
    found = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, 1)))
    assert "More answers seem to be held" in found.notes[0]
    assert np.isfinite(found.std_error).all()


@pytest.mark.parametrize("people", [1, 20])
@pytest.mark.parametrize("answers", [2, 20, 2_000])
def test_few_reports(people: int, answers: int) -> None:
    mechanism = HCMS(answers, epsilon=8.0, rows=16, width=64)
    found = mechanism.estimate(mechanism.accumulate(mechanism.simulate([1] * people, 4)))
    known = np.isfinite(found.frequency)
    assert known.any()
    assert (found.std_error[known] > 0).all()
    assert bool(found.notes) == (not known.all())
