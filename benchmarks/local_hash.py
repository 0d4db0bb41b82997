"""Counting support in local hashing with a pool of seeds: ours, NumPy, and a Python loop.

Grows with K M (seeds times candidates), whatever the number of reports n; the histogram costs n
once. Without a pool every report has a seed of its own, and the work is n M.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from _measure import arguments, rate, show, versions
from deniable.kernels.hash_candidates import fingerprints
from deniable.kernels.local_hash import FIRST_INDEX, pooled_support, private_support
from deniable.mechanisms.hashing import hash_words
from deniable.protocol.hashing import hash_word, reduce_to

SYMBOLS = 16

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]


def with_numpy(histogram: Integers, words: Words) -> Integers:
    """Hash all candidates for a seed at once, then look up."""
    support = np.zeros(len(words), dtype=np.int64)
    for seed, row in enumerate(histogram):
        hashed = hash_words(words, np.array([FIRST_INDEX + seed], dtype=np.uint64))
        support += row[((hashed >> np.uint64(32)) * np.uint64(SYMBOLS)) >> np.uint64(32)]
    return support


def with_a_loop(histogram: Integers, words: Words) -> list[int]:
    """Take one seed and one candidate at a time."""
    rows, pairs = histogram.tolist(), [(int(a), int(b)) for a, b in words.tolist()]
    return [
        sum(
            row[reduce_to(hash_word(pair, FIRST_INDEX + seed), SYMBOLS)]
            for seed, row in enumerate(rows)
        )
        for pair in pairs
    ]


def main() -> None:
    """Print the rates of one run; stop if two contestants disagree."""
    options = arguments(__doc__, seeds=(10_000, "seeds, K"), candidates=(20_000, "candidates, M"))
    rng = np.random.default_rng(1)
    words = fingerprints(b"s%d" % i for i in range(options.candidates))
    histogram = rng.integers(0, 1_000, (options.seeds, SYMBOLS))
    some, few = histogram[:200], histogram[:20]
    expected = with_numpy(few, words[:500])
    if not np.array_equal(pooled_support(few, words[:500]), expected):
        raise SystemExit("The kernel and NumPy disagree.")
    if with_a_loop(few, words[:500]) != expected.tolist():
        raise SystemExit("NumPy and the loop disagree.")
    seeds = rng.integers(0, 2**32, 2_000).astype(np.uint32)
    reported = rng.integers(0, SYMBOLS, 2_000).astype(np.uint16)
    private_support(seeds[:1], reported[:1], SYMBOLS, words[:1])
    show(
        f"OLH support of {len(words):,} candidates under {len(histogram):,} seeds, one core",
        "(seed, candidate) pairs",
        [
            rate(
                "ours",
                histogram[:, 0].size * len(words),
                lambda: pooled_support(histogram, words),
                3,
            ),
            rate("NumPy", len(some) * len(words), lambda: with_numpy(some, words), 3),
            rate("Python loop", len(few) * 500, lambda: with_a_loop(few, words[:500])),
            rate(
                "ours, a seed per report",
                len(seeds) * len(words),
                lambda: private_support(seeds, reported, SYMBOLS, words),
                2,
            ),
        ],
        versions("numpy", "numba"),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
