"""The hash family for many answers at once: the vectorised twin of `protocol.hashing`.

Guarantees: equal to `deniable.protocol.hashing`, bit for bit. Arithmetic on unsigned 64-bit arrays
wraps around, which is what the specification asks for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.protocol.hashing import GOLDEN

Words = NDArray[np.uint64]


def fingerprints(keys: Iterable[bytes]) -> Words:
    """Return a row of two 64-bit words for each answer's canonical bytes.

    Cost: one SHA-256 per key.
    """
    digests = b"".join(hashlib.sha256(key).digest()[:16] for key in keys)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, 2)


def mix(words: Words) -> Words:
    """Return SplitMix64's finaliser of each word."""
    with np.errstate(over="ignore"):  # NumPy warns of the wraparound of single numbers only
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def hash_words(words: Words, index: Words) -> Words:
    """Return the outputs of hash functions `index` for fingerprints.

    Args:
        words: fingerprints, shape (..., 2).
        index: numbers of hash functions; broadcast against `words` without its last axis.
    """
    with np.errstate(over="ignore"):
        step = np.uint64(GOLDEN) * (index + np.uint64(1))
        return mix(words[..., 0] ^ mix(words[..., 1] + step))


def reduced(hashed: Words, count: int) -> Words:
    """Return hashes as numbers below a count: the upper half of each, multiplied by it."""
    # floor(u count / 2^32) of a uniform u below 2^32: every number's probability is within 2^-32
    # of 1/count.
    return ((hashed >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)


def bloom_bits(
    words: Words, cohorts: NDArray[np.integer[Any]], hashes: int, bits: int
) -> NDArray[np.int64]:
    """Return the Bloom bits of answers in cohorts, one per hash function; they may repeat.

    Args:
        words: fingerprints, shape (..., 2).
        cohorts: broadcast against `words` without its last axis. For every answer in every
            cohort pass `words[:, None, :]` and `cohorts[None, :]`.
        hashes: h.
        bits: k.

    Returns:
        An array with one more axis than the broadcast shape, of length h.

    Cost: two mixings per bit; the memory of a few arrays as large as the result.
    """
    index = (cohorts.astype(np.uint64)[..., None] << np.uint64(16)) | np.arange(
        hashes, dtype=np.uint64
    )
    hashed = hash_words(words[..., None, :], index)
    return reduced(hashed, bits).astype(np.int64)
