"""n-grams for populations: counts by slow twins, likelihoods of other n-grams, refusals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms import NGrams
from deniable.protocol import ABSENT

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["rabbit", "hermit", "cat", ""]


def mechanism(**changes: Any) -> NGrams:
    usual: dict[str, Any] = {"epsilon": 6.0, "bits": 20, "cohorts": 3}
    return NGrams(alphabet=LETTERS, length=6, **{**usual, **changes})


def test_counts_are_those_of_a_slow_twin(rng: np.random.Generator) -> None:
    ngrams = mechanism()
    reports = ngrams.simulate(rng.integers(0, 4, size=200), rng, WORDS)
    counts = ngrams.accumulate(reports)
    table = np.zeros((4 * 3, 21), dtype=np.int64)
    for report in reports:
        blocks = [0, *(1 + place for place in ngrams.parameters.chosen[report["places"]])]
        for part, block in enumerate(blocks):
            row = block * 3 + report["cohort"]
            bits = np.unpackbits(report[f"bits_{part}"], bitorder="little")[:20]
            table[row, :20] += bits
            table[row, 20] += 1
    assert np.array_equal(counts.table, table)
    assert counts.n == 200
    assert ngrams.whole_counts(counts).n == 200
    assert sum(ngrams.place_counts(counts, place).n for place in range(3)) == 400


def test_places_are_even_and_parts_hold_their_n_grams(rng: np.random.Generator) -> None:
    """With hardly any noise a part shows exactly the bits of its n-gram."""
    ngrams = mechanism(epsilon=None, p=1e-9, q=1 - 1e-9, bits=64)
    reports = ngrams.simulate(np.zeros(3_000, dtype=np.int64), rng, WORDS)
    assert np.all(np.abs(np.bincount(reports["places"], minlength=3) - 1_000) < 250)
    for number, place in ((1, 0), (2, 2)):
        part = ngrams.part(reports, number)[reports["places"] == 1]
        gram = ngrams.parameters.gram_of("rabbit", place)
        found = ngrams.gram.likelihood(part, [gram, "zz"], log=True)
        assert np.all(found[:, 0] > -2)


def test_unlisted_is_the_mean_over_hash_functions(rng: np.random.Generator) -> None:
    """The slow twin: the mean over all bits that two hash functions can choose."""
    ngrams = mechanism(hashes=2)
    part = ngrams.part(ngrams.simulate(np.zeros(50, dtype=np.int64), rng, WORDS), 1)
    pure = ngrams.gram.pure
    bits = np.unpackbits(part["bits"], axis=1, count=20, bitorder="little") == 1
    slow = np.zeros(50)
    for chosen in itertools.product(range(20), repeat=2):
        one = np.where(np.isin(np.arange(20), chosen), pure.p, pure.q)
        slow += np.prod(np.where(bits, one, 1 - one), axis=1) / 20**2 / 3
    assert np.allclose(np.exp(ngrams.unlisted(part)), slow)


def test_delta_is_the_error_of_one_bit() -> None:
    ngrams = mechanism(epsilon=None, p=0.25, q=0.32, hashes=2)
    assert ngrams.pair_error(10**6) == pytest.approx(0.0062, abs=1e-4)
    assert ngrams.pair_error(10**6 // 45) == pytest.approx(0.0415, abs=1e-4)


def test_absent_and_too_long_strings(rng: np.random.Generator) -> None:
    ngrams = mechanism()
    reports = ngrams.simulate(np.zeros(5, dtype=np.int64), rng, [ABSENT])
    assert ngrams.likelihood(reports, [ABSENT, "cat"]).shape == (5, 2)
    with pytest.raises(InvalidParameter, match="at most 6 characters"):
        ngrams.simulate(["rabbits"], rng)


def test_places_out_of_range_are_refused(rng: np.random.Generator) -> None:
    ngrams = mechanism()
    reports = ngrams.simulate(["cat"], rng)
    reports["places"] = 3
    with pytest.raises(InvalidReport, match="below 3"):
        ngrams.accumulate(reports)
