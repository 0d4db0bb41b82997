"""Fingerprints and Bloom bits against the protocol's own functions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.kernels.hash_candidates import bloom_positions, fingerprints
from deniable.kernels.mixing import hash_word, mix, reduce_to
from deniable.protocol import hashing

WORD = st.integers(0, 2**64 - 1)


@settings(max_examples=60, deadline=None)
@given(
    keys=st.lists(st.binary(max_size=80), max_size=6),
    cohorts=st.integers(1, 5),
    hashes=st.integers(1, 16),
    bits=st.integers(2, 70_000),
)
def test_equal_to_the_protocol(keys: list[bytes], cohorts: int, hashes: int, bits: int) -> None:
    positions = bloom_positions(fingerprints(keys), cohorts, hashes, bits)
    expected = [
        [hashing.bloom_bits(hashing.fingerprint(key), c, hashes, bits) for c in range(cohorts)]
        for key in keys
    ]
    assert positions.shape == (len(keys), cohorts, hashes)
    assert positions.tolist() == expected


@pytest.mark.parametrize(("bits", "dtype"), [(65_536, np.uint16), (65_537, np.uint32)])
def test_narrow_integers_where_they_hold_every_bit(bits: int, dtype: type[np.generic]) -> None:
    words = fingerprints([b"s%d" % i for i in range(20_000)])
    positions = bloom_positions(words, 8, 4, bits)
    assert positions.dtype == dtype
    assert positions.max() == bits - 1  # of 640,000 draws some reach the last
    assert positions.min() == 0


def test_cohorts_up_to_the_last() -> None:
    words = fingerprints([b"sfirefox"])
    positions = bloom_positions(words, 65_536, 1, 128)
    last = hashing.bloom_bits(hashing.fingerprint(b"sfirefox"), 65_535, 1, 128)
    assert positions[0, 65_535].tolist() == last


@settings(max_examples=200, deadline=None)
@given(first=WORD, second=WORD, index=WORD, size=st.integers(1, 2**32))
def test_the_mixing_is_the_protocols(first: int, second: int, index: int, size: int) -> None:
    a, b, i = np.uint64(first), np.uint64(second), np.uint64(index)
    assert int(mix(a)) == hashing.mix(first)
    assert int(hash_word(a, b, i)) == hashing.hash_word((first, second), index)
    assert int(reduce_to(a, np.uint64(size))) == hashing.reduce_to(first, size)
