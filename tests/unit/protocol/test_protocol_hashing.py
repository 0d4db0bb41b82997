"""The hash family; its exact outputs are pinned by the vectors."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.protocol.hashing import MASK, bloom_bits, fingerprint, hash_word, mix, reduce_to

words = st.integers(0, MASK)


def test_the_fingerprint_is_the_first_16_bytes_of_sha_256() -> None:
    digest = hashlib.sha256(b"sfirefox").digest()
    first, second = fingerprint(b"sfirefox")
    assert first.to_bytes(8, "little") + second.to_bytes(8, "little") == digest[:16]


def _unmix(word: int) -> int:
    """The inverse of mix, so that a bijection is shown and not believed."""
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9)):
        word = word ^ (word >> shift) ^ (word >> (2 * shift))
        word = word * pow(factor, -1, 2**64) & MASK
    return word ^ (word >> 30) ^ (word >> 60)


@given(words)
def test_mixing_loses_nothing(word: int) -> None:
    assert _unmix(mix(word)) == word


def test_mixing_is_that_of_splitmix64() -> None:
    """The first outputs of SplitMix64 with seed 1234567, as published with the generator."""
    golden, state = 0x9E3779B97F4A7C15, 1234567
    outputs = []
    for _ in range(3):
        state = (state + golden) & MASK
        outputs.append(mix(state))
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(words, st.integers(1, 2**32))
def test_reduction_stays_inside_and_covers_the_ends(word: int, size: int) -> None:
    assert 0 <= reduce_to(word, size) < size
    assert reduce_to(0, size) == 0
    assert reduce_to(MASK, size) == size - 1


@given(words, words, st.integers(0, 65535), st.integers(0, 15))
def test_each_cohort_and_hash_has_its_own_function(a: int, b: int, cohort: int, i: int) -> None:
    word = hash_word((a, b), (cohort << 16) | i)
    assert 0 <= word <= MASK
    assert word != hash_word((a, b), ((cohort ^ 1) << 16) | i)


@given(words, words, st.integers(0, 65535), st.integers(1, 16), st.integers(2, 65537))
def test_bloom_bits_are_one_place_per_hash(a: int, b: int, cohort: int, h: int, k: int) -> None:
    places = bloom_bits((a, b), cohort, h, k)
    assert len(places) == h
    assert all(0 <= place < k for place in places)
    assert bloom_bits((a, b), cohort, 1, k) == places[:1]


@pytest.mark.parametrize("cohort", [0, 77])
def test_strings_spread_evenly_over_the_bits(cohort: int) -> None:
    """128 cells, 12,800 strings: sd of a cell is about 10, so 60 away is 6 sd (no randomness)."""
    cells = [0] * 128
    for i in range(12_800):
        cells[bloom_bits(fingerprint(b"s%d" % i), cohort, 1, 128)[0]] += 1
    assert all(abs(cell - 100) < 60 for cell in cells)
