"""Common n-grams: rare ones beside very frequent ones, in a dictionary that is streamed."""

from __future__ import annotations

import numpy as np

from deniable.discover.ngrams.dictionary import dictionary
from deniable.discover.ngrams.marginals import LOOKED_AT_ONCE, SHORTLIST, common_grams
from deniable.mechanisms import NGrams

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def test_a_frequent_n_gram_does_not_hide_rare_ones() -> None:
    """With four hash functions and eight cohorts a gram of 85% lifts thousands above one of 2%."""
    ngrams = NGrams(alphabet=LETTERS, length=3, n=3, p=0.1, q=0.9, hashes=4, cohorts=8)
    words, shares = ["abc", "xyz", "mno", "pqr"], [0.85, 0.05, 0.05, 0.05]
    rng = np.random.default_rng(8)
    reports = ngrams.simulate(rng.choice(4, size=40_000, p=shares), rng, words)
    assert sum(map(len, dictionary(LETTERS, 3))) > LOOKED_AT_ONCE > SHORTLIST
    (common,) = common_grams(ngrams, ngrams.accumulate(reports), LETTERS)
    assert set(common.grams) >= set(words)
    found = dict(zip(common.grams, common.shares, strict=True))
    for word, share in zip(words, shares, strict=True):
        assert abs(found[word] - share) < 0.03


def test_at_most_so_many_and_none_without_reports() -> None:
    ngrams = NGrams(alphabet="abcd", length=4, epsilon=20.0, cohorts=4)
    rng = np.random.default_rng(1)
    words = ["abcd", "bcda", "cdab", "dabc", "aabb"]
    counts = ngrams.accumulate(ngrams.simulate(rng.integers(0, 5, size=5_000), rng, words))
    for common in common_grams(ngrams, counts, "abcd", most=2):
        assert len(common.grams) == len(common.shares) == 2
        assert common.shares[0] >= common.shares[1]
    for common in common_grams(ngrams, ngrams.zero(), "abcd"):
        assert (common.grams, common.n) == ((), 0)
