"""The vectorised hash family against its slow twin in the protocol."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.mechanisms import hashing
from deniable.protocol import hashing as slow

KEYS = [b"", b"a", b"sfirefox", "s\u00e9".encode(), b"i\x00\x00\x00\x00", bytes(4096)]


def test_fingerprints_are_bit_exact() -> None:
    fast = hashing.fingerprints(KEYS)
    assert [tuple(map(int, row)) for row in fast] == [slow.fingerprint(key) for key in KEYS]


def test_no_keys_are_no_rows() -> None:
    assert hashing.fingerprints([]).shape == (0, 2)


@given(st.integers(0, 2**64 - 1))
def test_mix_is_bit_exact(word: int) -> None:
    assert int(hashing.mix(np.array([word], dtype=np.uint64))[0]) == slow.mix(word)


@given(
    st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
    st.integers(0, 2**32 - 1),
)
def test_hash_words_are_bit_exact(words: tuple[int, int], index: int) -> None:
    fast = hashing.hash_words(np.array(words, dtype=np.uint64), np.array(index, dtype=np.uint64))
    assert int(fast) == slow.hash_word(words, index)


@pytest.mark.parametrize(("hashes", "bits"), [(1, 2), (2, 128), (16, 65_537)])
def test_bloom_bits_of_all_candidates_and_cohorts(hashes: int, bits: int) -> None:
    cohorts = np.array([0, 1, 63, 65_535])
    words = hashing.fingerprints(KEYS)
    fast = hashing.bloom_bits(words[:, None, :], cohorts[None, :], hashes, bits)
    assert fast.shape == (len(KEYS), cohorts.size, hashes)
    for row, key in enumerate(KEYS):
        for column, cohort in enumerate(cohorts):
            expected = slow.bloom_bits(slow.fingerprint(key), int(cohort), hashes, bits)
            assert fast[row, column].tolist() == expected


def test_bloom_bits_of_pairs() -> None:
    cohorts = np.arange(len(KEYS), dtype=np.uint16)
    fast = hashing.bloom_bits(hashing.fingerprints(KEYS), cohorts, 3, 100)
    for key, cohort, bits in zip(KEYS, cohorts, fast, strict=True):
        assert bits.tolist() == slow.bloom_bits(slow.fingerprint(key), int(cohort), 3, 100)
