"""Hashing a candidate list for every cohort: ours, NumPy, and hashlib alone.

Grows linearly with M: one SHA-256 per candidate, then M m h times two mixings; k does not matter.
Our time includes normalising and encoding the strings.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from _measure import arguments, rate, show, versions
from deniable.kernels.hash_candidates import bloom_positions, fingerprints
from deniable.mechanisms import hashing
from deniable.protocol.domain import string_key

BITS, HASHES, COHORTS = 128, 2, 32


def ours(strings: list[str]) -> NDArray[Any]:
    """Hash strings to Bloom bits in every cohort."""
    words = fingerprints(string_key(text) for text in strings)
    return bloom_positions(words, COHORTS, HASHES, BITS)


def with_numpy(strings: list[str]) -> NDArray[Any]:
    """Do the same with arrays of 64-bit words."""
    words = hashing.fingerprints(string_key(text) for text in strings)
    return hashing.bloom_bits(words[:, None, :], np.arange(COHORTS)[None, :], HASHES, BITS)


def with_a_hash_per_bit(strings: list[str]) -> object:
    """Do as RAPPOR analysts have done: a hash of cohort and string for every cohort."""
    prefixes = [cohort.to_bytes(4, "big") for cohort in range(COHORTS)]
    return [
        [hashlib.md5(prefix + text.encode(), usedforsecurity=False).digest() for prefix in prefixes]
        for text in strings
    ]


def main() -> None:
    """Print the rates of one run; stop if ours and NumPy disagree."""
    options = arguments(__doc__, candidates=(1_000_000, "candidates, M"))
    strings = [f"www.example-{i}.com" for i in range(options.candidates)]
    some, few = strings[:100_000], strings[:10_000]
    if not np.array_equal(ours(few), with_numpy(few)):
        raise SystemExit("The kernel and NumPy disagree.")
    words = fingerprints(string_key(text) for text in strings)
    show(
        f"Hashing candidates for {COHORTS} cohorts x {HASHES} hashes, one core",
        "candidates",
        [
            rate("ours", len(strings), lambda: ours(strings), 6),
            rate("NumPy", len(some), lambda: with_numpy(some), 3),
            rate("an MD5 per cohort", len(few), lambda: with_a_hash_per_bit(few)),
            rate(
                "our mixing alone",
                len(strings),
                lambda: bloom_positions(words, COHORTS, HASHES, BITS),
                2,
            ),
            rate(
                "hashlib alone: one SHA-256 each",
                len(some),
                lambda: [hashlib.sha256(text.encode()).digest() for text in some],
            ),
        ],
        versions("numpy", "numba"),
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
