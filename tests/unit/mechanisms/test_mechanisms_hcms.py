"""The Hadamard count-mean sketch for populations: against a slow sketch, and its edges."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import HCMS
from deniable.mechanisms.hashing import fingerprints
from deniable.protocol import ABSENT, Answer
from deniable.protocol.domain import code_key, string_key

STRINGS = [f"string {i}" for i in range(7)]


def test_support_is_what_a_loop_over_the_reports_counts(rng: np.random.Generator) -> None:
    mechanism = HCMS(epsilon=1.0, rows=3, width=8)
    reports = mechanism.simulate(STRINGS * 50, rng)
    words = fingerprints(string_key(text) for text in STRINGS)
    agreed = mechanism.rows(mechanism.accumulate(reports), words).observed
    for place, text in enumerate(STRINGS):
        answer, support = Answer(string_key(text)), 0
        for row, coefficient, sign in reports.tolist():
            bucket = mechanism.parameters.bucket(answer, row)
            support += (bucket & coefficient).bit_count() % 2 == sign
        gap = 2 * mechanism.pure.p - 1
        assert agreed[place] == pytest.approx((2 * support / reports.size - 1) / gap)


def test_closed_domains_know_their_answers_by_code(rng: np.random.Generator) -> None:
    mechanism = HCMS(5, epsilon=6.0, rows=8, width=64)
    codes = [0, 0, 0, 1, 4] * 4000
    estimate = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
    assert estimate.candidates == ("0", "1", "2", "3", "4")
    assert estimate.frequency == pytest.approx([0.6, 0.2, 0, 0, 0.2], abs=0.08)
    shape = mechanism.parameters
    words = np.array([Answer(code_key(c), c).words for c in range(5)], dtype=np.uint64)
    found = mechanism.buckets(words, np.full(5, 3, dtype=np.uint64))
    assert found.tolist() == [shape.bucket(Answer(code_key(c), c), 3) for c in range(5)]


def test_collisions_are_in_the_standard_error() -> None:
    """Everybody holds one string, without noise to speak of: buckets are shared, or not."""
    mechanism = HCMS(epsilon=20.0, rows=4, width=16)
    rng = np.random.default_rng(5)
    counts = mechanism.accumulate(mechanism.simulate(["held"] * 400_000, rng))
    others = [f"other {i}" for i in range(2_000)]
    estimate = mechanism.estimate(counts, others)
    spread = float(np.sqrt(np.square(estimate.frequency).mean()))
    assert estimate.std_error[0] == pytest.approx(spread, rel=0.15)
    noise = float(np.sqrt(mechanism.variance(400_000, 0.0)))
    assert spread > 20 * noise


def test_what_is_refused() -> None:
    mechanism = HCMS(epsilon=1.0, rows=4, width=8)
    for bad in (None, [], ["a", "a"]):
        with pytest.raises(InvalidParameter):
            mechanism.estimate(mechanism.zero(), bad)
    for field, value in (("row", 4), ("coefficient", 8), ("sign", 2)):
        record = np.zeros(1, dtype=mechanism.dtype)
        record[field] = value
        with pytest.raises(InvalidReport, match=f"{field} must be below {value}"):
            mechanism.accumulate(record)


def test_the_absent_answer_is_a_candidate(rng: np.random.Generator) -> None:
    mechanism = HCMS(epsilon=5.0)
    counts = mechanism.accumulate(mechanism.simulate(["a", "a", "a", ABSENT] * 5000, rng))
    estimate = mechanism.estimate(counts, ["a", ABSENT, "(absent)"])
    assert estimate.frequency == pytest.approx([0.75, 0.25, 0.0], abs=0.06)
