"""The paper's way from reports to strings, its filters, bounds and notes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.decode.significance import holm
from deniable.discover.ngrams.discovery import Search, candidates_of, discover_ngrams
from deniable.discover.ngrams.graph import Graph
from deniable.discover.ngrams.marginals import SHORTLIST, common_grams
from deniable.errors import InvalidParameter
from deniable.mechanisms import NGrams
from deniable.protocol import Strings
from material.ngrams import DOMAIN, SHARES, WORDS, crowd, mechanism


def test_strings_are_found_with_their_shares() -> None:
    ngrams = mechanism()
    found = discover_ngrams(ngrams, crowd(ngrams), DOMAIN)
    assert [row.value for row in found.found] == WORDS
    for row, share in zip(found.found, SHARES, strict=True):
        assert abs(row.frequency - share) < 5 * row.std_error
        assert row.interval[0] < row.frequency < row.interval[1]
        assert row.p_value <= row.corrected < 0.05
    assert found.n == found.verifiers == 30_000
    assert found.levels == ()
    assert 0 < found.learnable < 0.2


@pytest.mark.parametrize("changes", [{"step": 1}, {"n": 3}, {"n": 1, "grams": 3}, {"n": 6}])
def test_other_n_grams(changes: dict[str, int]) -> None:
    """Overlapping ones, longer ones, three of single letters, and one that is the whole string."""
    ngrams = mechanism(10.0, **changes)
    found = discover_ngrams(ngrams, crowd(ngrams, 60_000, seed=6), DOMAIN)
    strings = {row.value for row in found.found}
    assert strings >= set(WORDS)
    # Under Holm a run of twenty has a false string; three in one are not to be expected.
    assert len(strings) <= len(WORDS) + 2


def test_the_same_reports_give_the_same_result() -> None:
    ngrams = mechanism()
    reports = crowd(ngrams, 5_000)
    first = discover_ngrams(ngrams, reports, DOMAIN)
    second = discover_ngrams(ngrams, reports.tobytes(), DOMAIN)
    assert first.rows == second.rows
    assert first.notes == second.notes


def test_no_reports() -> None:
    ngrams = mechanism()
    found = discover_ngrams(ngrams, b"", DOMAIN)
    assert found.rows == ()
    assert found.notes[0] == "There are no reports yet."
    assert math.isnan(found.learnable)


def test_pure_noise_finds_nothing_and_says_so() -> None:
    ngrams = mechanism(0.01)
    found = discover_ngrams(ngrams, crowd(ngrams, 2_000), DOMAIN)
    assert found.found == ()
    assert any("No string could be put together" in note for note in found.notes)


def test_progress_counts_pairs() -> None:
    seen: list[tuple[int, int]] = []
    ngrams = mechanism()
    discover_ngrams(
        ngrams, crowd(ngrams, 2_000), DOMAIN, progress=lambda done, all_: seen.append((done, all_))
    )
    assert seen == [(0, 3), (1, 3), (2, 3)]


def everything(parts: tuple[tuple[str, ...], ...]) -> Graph:
    count = range(len(parts))
    joined = {
        (i, j): np.ones((len(parts[i]), len(parts[j])), dtype=np.bool_)
        for j in count
        for i in range(j)
    }
    return Graph(parts, joined)


def test_a_threshold_of_zero_is_bounded() -> None:
    graph = everything((("ab", "ae", "ah"), ("ra", "re", "rh"), ("ti", "ta", "t\0")))
    shape = mechanism().parameters
    assert len(candidates_of(graph, shape, Search(threshold=0)).strings) == 27
    few = candidates_of(graph, shape, Search(threshold=0, most=5))
    assert (len(few.strings), few.complete) == (5, False)
    assert candidates_of(graph, shape, Search(threshold=0, most=27)).complete
    stopped = candidates_of(graph, shape, Search(threshold=0, steps=10))
    assert len(stopped.strings) < 27
    assert not stopped.complete


def test_the_bound_is_said() -> None:
    ngrams = mechanism()
    search = Search(threshold=0, most=2)
    found = discover_ngrams(ngrams, crowd(ngrams), DOMAIN, search=search)
    assert len(found.rows) <= 2
    assert any("more candidates than the 2 that were tested" in note for note in found.notes)


def test_filters() -> None:
    graph = everything((("ab", "a "), ("ra", "h\0"), ("ti", "\0\0")))
    shape = mechanism().parameters
    every = candidates_of(graph, shape, Search()).strings
    assert set(every) == {"abrati", "abra", "abh", "a rati", "a ra", "a h"}
    tight = candidates_of(graph, shape, Search(inner_spaces=False)).strings
    assert set(tight) == {"abrati", "abra", "abh"}
    some = candidates_of(graph, shape, Search(matching="a.*a")).strings
    assert set(some) == {"abra", "a ra"}
    assert Search(inner_spaces=False).accepts("abra  ")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"threshold": -1.0}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"most": 0}, "most"),
        ({"grams": 0}, "grams"),
        ({"steps": 0}, "steps"),
        ({"matching": "("}, "regular expression"),
    ],
)
def test_searches_that_cannot_be(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Search(**wanted)


def test_a_streamed_dictionary_finds_what_all_of_it_would() -> None:
    """The shortlist holds what the regression on the whole dictionary calls common."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    ngrams = NGrams(alphabet=letters, length=4, epsilon=9.0, cohorts=32)
    rng = np.random.default_rng(2)
    words = ["abba", "cede", "fighter"[:4], "a"]
    reports = ngrams.simulate(rng.choice(4, size=20_000, p=SHARES), rng, words)
    counts = ngrams.accumulate(reports)
    grams = [a + b for a in letters for b in letters] + [a + "\0" for a in letters] + ["\0\0"]
    assert len(grams) > SHORTLIST
    for place, common in enumerate(common_grams(ngrams, counts, letters)):
        whole = ngrams.gram.estimate(ngrams.place_counts(counts, place), grams)
        passed = holm(stats.norm.sf(whole.frequency / whole.std_error), 1e-6)
        assert {grams[i] for i in np.flatnonzero(passed)} <= set(common.grams)
        assert list(common.shares) == sorted(common.shares, reverse=True)


def test_learnable_falls_with_people_and_rises_with_length() -> None:
    def limit(people: int, length: int) -> float:
        letters = "ab"
        ngrams = NGrams(alphabet=letters, length=length, epsilon=6.0, cohorts=16)
        rng = np.random.default_rng(1)
        reports = ngrams.simulate(np.zeros(people, dtype=np.int64), rng, ["ab" * (length // 2)])
        return discover_ngrams(ngrams, reports, Strings(letters, length)).learnable

    assert limit(20_000, 4) < limit(2_000, 4)
    assert limit(20_000, 4) < limit(20_000, 8)
