"""The hash family: one SHA-256 per answer, then cheap 64-bit mixing.

A million candidates times 64 cohorts costs a million SHA-256 and 64 million mixings, so decoding
is seconds. `spec/protocol.md`, section "Hash family", specifies this bit for bit.
"""

from __future__ import annotations

import hashlib

MASK: int = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
"""The odd integer nearest 2^64 / golden ratio: the increment of SplitMix64."""


def fingerprint(key: bytes) -> tuple[int, int]:
    """Return two 64-bit words that stand for the answer with canonical bytes `key`."""
    digest = hashlib.sha256(key).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def mix(word: int) -> int:
    """Return SplitMix64's finaliser of a 64-bit word: a bijection whose bits all depend on all."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def hash_word(words: tuple[int, int], index: int) -> int:
    """Return the 64-bit output of hash function number `index` for a fingerprint."""
    first, second = words
    return mix(first ^ mix((second + GOLDEN * (index + 1)) & MASK))


def reduce_to(word: int, size: int) -> int:
    """Map a 64-bit word to 0..size-1 by its upper 32 bits; size is at most 2^32.

    The bias is below size / 2^32.
    """
    return ((word >> 32) * size) >> 32


def bloom_bits(words: tuple[int, int], cohort: int, hashes: int, bits: int) -> list[int]:
    """Return the Bloom bits of an answer in a cohort, one per hash function; they may repeat."""
    return [reduce_to(hash_word(words, (cohort << 16) | i), bits) for i in range(hashes)]
