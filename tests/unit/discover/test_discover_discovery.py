"""The whole of prefix growth: found strings, levels, limits, and crowds with nothing to find."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from deniable.discover import discover
from deniable.discover.extensions import branches_of
from deniable.discover.group_estimates import Table
from deniable.discover.prefixes.discovery import learnable
from deniable.discover.prefixes.growth import grow
from deniable.discover.prefixes.simulate import simulate
from deniable.errors import InvalidParameter
from deniable.mechanisms import Prefixes
from deniable.protocol import ABSENT
from material.prefixes import DOMAIN, SHARES, STRINGS, counts, discovery, mechanism


@pytest.mark.parametrize("coded", [False, True])
def test_frequent_strings_are_found(coded: bool) -> None:
    result = discovery(coded)
    found = {row.value: row for row in result.found}
    assert {*STRINGS[:6]} <= found.keys() <= {*STRINGS}
    for value, share in zip(STRINGS[:6], SHARES, strict=False):
        row = found[value]
        assert abs(row.frequency - share) < 6 * row.std_error
        assert row.interval[0] < row.frequency < row.interval[1]
        assert row.selected_interval is not None
        assert row.selected_interval[0] <= row.interval[0]
        assert row.corrected >= row.p_value
        assert row.corrected < 0.05
        assert row.storey


def test_rows_are_in_order_and_levels_lead_to_them() -> None:
    result = discovery()
    assert all(a.frequency >= b.frequency for a, b in pairwise(result.rows))
    assert result.levels[0].tested == 1 + 8 + 64 + 512
    for above, below in pairwise(result.levels):
        for kept in below.kept:
            parent = above.kept[kept.parent].symbols
            assert kept.symbols[: len(parent)] == parent
    assert all(len(level.kept) <= 40 for level in result.levels)
    assert result.n == 30_000
    assert 0 < result.learnable < 0.1


def test_the_same_counts_give_the_same_discovery() -> None:
    again = discover(mechanism(), counts(), DOMAIN, beam=40)
    assert repr(again.rows) == repr(discovery().rows)  # a likelihood that is not computed is NaN
    assert again.levels == discovery().levels


def test_progress_counts_levels_and_verification() -> None:
    seen: list[tuple[int, int]] = []
    discover(mechanism(), counts(), DOMAIN, beam=5, progress=lambda *now: seen.append(now))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_no_reports() -> None:
    nothing = discover(mechanism(), mechanism().zero(), DOMAIN)
    assert nothing.rows == ()
    assert math.isnan(nothing.learnable)
    assert "no reports yet" in nothing.notes[0]


@pytest.mark.parametrize("coded", [False, True])
def test_a_handful_of_people(coded: bool) -> None:
    few = mechanism(coded).accumulate(
        mechanism(coded).simulate(["abc"] * 3, np.random.default_rng(1))
    )
    result = discover(mechanism(coded), few, DOMAIN, beam=10)
    assert any("groups have no reports" in note for note in result.notes)
    assert all(not row.holm or row.value == "abc" for row in result.rows)


def test_what_cannot_be_known_is_said() -> None:
    assert any("cannot be known" in note for note in discovery().notes)


def test_a_beam_must_be_a_number_of_beginnings() -> None:
    branches = branches_of(mechanism().parameters, DOMAIN)
    tables = (Table.of(mechanism(), counts(), level) for level in range(3))
    with pytest.raises(InvalidParameter, match="beam"):
        grow(branches, tables, 3, beam=0)


def test_a_narrow_beam_keeps_the_most_credible() -> None:
    narrow = discover(mechanism(), counts(), DOMAIN, beam=1)
    assert [len(level.kept) for level in narrow.levels] == [1, 1, 1]
    assert {row.value for row in narrow.found} <= {"abc", "abcdefgh"}


def test_simulated_runs_compare_with_the_truth(rng: np.random.Generator) -> None:
    run = simulate(mechanism(), DOMAIN, STRINGS, SHARES, 20_000, rng, beam=40)
    assert run.found >= 5
    assert run.found + run.false == len(run.discovery.found)
    assert sum(run.shares.values()) == pytest.approx(1)


def test_those_without_an_answer_lift_nothing() -> None:
    """Four of five have none: what shares a hash with that would look frequent, unless peeled."""
    shape = Prefixes(
        epsilon=8.0, alphabet="abcdefgh", length=8, lengths=[3, 5, 8], cohorts=1, points=1_000
    )
    rng = np.random.default_rng(2)
    codes = rng.choice(2, size=20_000, p=[0.2, 0.8])
    reported = shape.accumulate(shape.simulate(codes, rng, ["abc", ABSENT]))

    def lifted(absent: bool) -> float:
        found = discover(shape, reported, DOMAIN, beam=40, absent=absent)
        assert found.found[0].value == "abc"
        kept = found.levels[0].kept
        return max(one.estimate for one in kept if one.symbols[:3] != tuple(map(ord, "abc")))

    assert lifted(absent=False) > 0.7
    assert lifted(absent=True) < 0.1


def test_what_is_learnable_counts_where_strings_end() -> None:
    """Short strings are the only extension of themselves from some level on: it is easier."""
    result = discovery()
    last = Table.of(mechanism(), counts(), mechanism().parameters.verification)
    long = tuple(row for row in result.rows if len(row.value) == DOMAIN.length)
    short = tuple(row for row in result.rows if len(row.value) < 4)
    assert any(row.holm for row in long)
    assert any(row.holm for row in short)
    rest = tuple(replace(row, holm=False) for row in result.rows)
    limits = [
        learnable(list(result.levels), last, (*rows, *rest)[: len(rest)], result.branches)
        for rows in (long, short)
    ]
    assert limits[1] < limits[0]
