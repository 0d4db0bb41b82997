"""A group's table gives the mechanism's own estimates, and peeling takes collisions away."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.discover.group_estimates import Table
from deniable.mechanisms import Prefixes
from deniable.protocol.prefixes import chained
from material.prefixes import STRINGS, counts, mechanism


def words_of(texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    return np.array([chained([ord(x) for x in t]) for t in texts], dtype=np.uint64).reshape(-1, 2)


def test_estimates_are_the_mechanisms() -> None:
    table = Table.of(mechanism(), counts(), mechanism().parameters.verification)
    expected = mechanism().estimate(counts(), STRINGS)
    assert table.estimate(words_of(STRINGS)) == pytest.approx(expected.frequency, abs=1e-6)
    assert table.n == expected.n
    assert table.noise > 0


def crowded(rng: np.random.Generator) -> tuple[Table, list[str]]:
    """Return the table of a crowd in which one string is everywhere, in few points."""
    crowd = Prefixes(epsilon=5.0, alphabet="ab", length=8, lengths=[8], cohorts=4, points=60)
    reports = crowd.simulate(["abababab"] * 40_000, rng)
    others = [f"{number:08b}".replace("0", "a").replace("1", "b") for number in range(256)]
    others.remove("abababab")
    return Table.of(crowd, crowd.accumulate(reports), 1), others


def test_peeling_takes_the_shadows_of_frequent_strings_away(rng: np.random.Generator) -> None:
    table, others = crowded(rng)
    words = words_of(["abababab", *others])
    before = table.estimate(words)
    assert before[1:].max() > 0.2  # somebody shares a point with it in a cohort
    after = table.peel(words, before)
    assert after[0] == pytest.approx(1, abs=0.05)
    assert after[1:].max() < 8 * float(np.sqrt(table.pure.variance(table.n, 0.0)))


def test_nothing_is_peeled_without_evidence() -> None:
    table = Table.of(mechanism(), counts(), mechanism().parameters.verification)
    worth = table.worth.copy()
    absent = words_of(["ccc", "ggg"])
    table.peel(absent, table.estimate(absent))
    assert np.array_equal(worth, table.worth)


def test_a_group_without_reports() -> None:
    table = Table.of(mechanism(), mechanism().zero(), 0)
    assert table.n == 0
    assert not table.worth.any()
