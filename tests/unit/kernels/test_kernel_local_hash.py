"""Support counting against one report and one candidate at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import InvalidReport
from deniable.kernels.hash_candidates import fingerprints
from deniable.kernels.local_hash import (
    pooled_support,
    private_support,
    seed_histogram,
    supporting_bits,
    symbols_of,
)
from deniable.protocol.hashing import fingerprint, hash_word, reduce_to


def slow_symbol(key: bytes, seed: int, symbols: int) -> int:
    """The twin, as the protocol says it."""
    return reduce_to(hash_word(fingerprint(key), (1 << 40) + seed), symbols)


def slow_support(reports: list[tuple[int, int]], keys: list[bytes], symbols: int) -> list[int]:
    return [
        sum(slow_symbol(key, seed, symbols) == symbol for seed, symbol in reports) for key in keys
    ]


def keys_of(count: int) -> list[bytes]:
    return [b"s%d" % i for i in range(count)]


@settings(max_examples=60, deadline=None)
@given(
    pool=st.integers(1, 11),
    symbols=st.integers(2, 40),
    candidates=st.integers(0, 9),
    n=st.integers(0, 60),
    seed=st.integers(0, 2**32),
)
def test_both_counts_equal_the_slow_twin(
    pool: int, symbols: int, candidates: int, n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    seeds = rng.integers(0, pool, n).astype(np.uint32)
    reported = rng.integers(0, symbols, n).astype(np.uint16)
    keys = keys_of(candidates)
    pairs = list(zip(seeds.tolist(), reported.tolist(), strict=True))
    expected = slow_support(pairs, keys, symbols)
    histogram = seed_histogram(seeds, reported, pool, symbols)
    assert histogram.sum() == n
    assert pooled_support(histogram, fingerprints(keys)).tolist() == expected
    assert private_support(seeds, reported, symbols, fingerprints(keys)).tolist() == expected


def test_more_candidates_than_a_block() -> None:
    keys, pool, symbols = keys_of(2_500), 6, 5
    histogram = np.random.default_rng(1).integers(0, 9, (pool, symbols))
    expected = [
        sum(int(histogram[s, slow_symbol(key, s, symbols)]) for s in range(pool)) for key in keys
    ]
    assert pooled_support(histogram, fingerprints(keys)).tolist() == expected
    pairs = [(s, y) for s in range(pool) for y in range(symbols) for _ in range(histogram[s, y])]
    seeds = np.array([s for s, _ in pairs], dtype=np.uint32)
    reported = np.array([y for _, y in pairs], dtype=np.uint16)
    assert private_support(seeds, reported, symbols, fingerprints(keys)).tolist() == expected


def test_symbols_of_the_largest_seed() -> None:
    keys = keys_of(50)
    found = symbols_of(fingerprints(keys), 2**32 - 1, 7)
    assert found.tolist() == [slow_symbol(key, 2**32 - 1, 7) for key in keys]


def test_histograms_add_up() -> None:
    rng = np.random.default_rng(2)
    seeds = rng.integers(0, 20, 1_000).astype(np.uint32)
    reported = rng.integers(0, 4, 1_000).astype(np.uint16)
    parts = [seed_histogram(seeds[i::2], reported[i::2], 20, 4) for i in range(2)]
    assert (parts[0] + parts[1] == seed_histogram(seeds, reported, 20, 4)).all()


def test_what_no_client_sends_is_refused() -> None:
    one = np.ones(3, dtype=np.uint32)
    with pytest.raises(InvalidReport, match="seed must be below 1"):
        seed_histogram(one, one, 1, 4)
    with pytest.raises(InvalidReport, match="symbol must be below 1"):
        seed_histogram(one, one, 4, 1)
    with pytest.raises(InvalidReport, match="symbol must be below 1"):
        private_support(one, one, 1, fingerprints([b"s"]))


@pytest.mark.parametrize("count", [0, 1, 8, 21])
def test_supported_candidates_are_those_of_the_twin(count, rng):
    seeds, reported = rng.integers(0, 2**32, 30), rng.integers(0, 3, 30)
    keys = keys_of(count)
    found = supporting_bits(
        seeds.astype(np.uint32), reported.astype(np.uint16), 3, fingerprints(keys)
    )
    expected = [
        [slow_symbol(key, int(seed), 3) == symbol for key in keys]
        for seed, symbol in zip(seeds, reported, strict=True)
    ]
    assert found.shape == (30, -(-count // 8))
    ones = np.unpackbits(found, axis=1, count=count, bitorder="little") if count else found
    assert ones.astype(bool).tolist() == expected
