"""Beliefs: more evidence means higher odds, and many levels count together."""

from __future__ import annotations

import numpy as np

from deniable.discover.group_estimates import Table
from deniable.discover.prefixes.evidence import Beliefs
from material.prefixes import counts, mechanism

TABLE = Table.of(mechanism(), counts(), 0)
NOISE = TABLE.noise


def updated(beliefs: Beliefs, sigmas: list[float], extensions: int) -> tuple[list[float], Beliefs]:
    e = np.array(sigmas) * NOISE
    parents = np.zeros(len(e), dtype=np.int64)
    odds, after = beliefs.update(parents, np.full(len(e), extensions), e, TABLE)
    return odds.tolist(), after


def test_odds_rise_with_the_estimate() -> None:
    odds, after = updated(Beliefs.first(NOISE), [-2, 0, 2, 4, 8, 100], 1_000)
    assert odds == sorted(odds)
    assert odds[1] < 0 < odds[4]
    assert np.allclose(after.chances.sum(axis=1), 1)


def test_evidence_adds_up_over_levels() -> None:
    """Three standard errors at each of three levels are more than at the last one alone."""
    beliefs, weak = Beliefs.first(NOISE), Beliefs.first(NOISE)
    for _ in range(3):
        odds, beliefs = updated(beliefs, [3.0], 50)
        beliefs = beliefs.rows(np.array([0]))
    for sigmas in (1.0, 1.0, 3.0):
        less, weak = updated(weak, [sigmas], 50)
        weak = weak.rows(np.array([0]))
    assert odds[0] > less[0]


def test_an_ended_string_keeps_its_frequency() -> None:
    """Its one extension is itself, so that an estimate as before makes it surer."""
    odds, beliefs = updated(Beliefs.first(NOISE), [5.0], 1_000)
    again, _ = updated(beliefs, [5.0], 1)
    none, _ = updated(beliefs, [0.0], 1)
    assert again[0] > odds[0] > none[0]


def test_large_numbers_stay_finite() -> None:
    odds, after = updated(Beliefs.first(NOISE), [1e5, -1e3], 10)
    assert np.isfinite(after.chances).all()
    assert odds[0] > odds[1]
