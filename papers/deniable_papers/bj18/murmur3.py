"""MurmurHash3, 32 bits, x86: the hash that [BJ18] used instead of slices of an MD5.

Only for the comparison of hash functions; this project's own family stands in protocol/hashing.py.
Austin Appleby placed the algorithm in the public domain.
"""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def _rotated(word: int, count: int) -> int:
    return ((word << count) | (word >> (32 - count))) & _MASK


def _scrambled(block: int) -> int:
    return _rotated(block * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK


def murmur3(key: bytes, seed: int = 0) -> int:
    """Return the hash of a key as an unsigned 32-bit integer."""
    word = seed & _MASK
    whole = len(key) // 4 * 4
    for place in range(0, whole, 4):
        word ^= _scrambled(int.from_bytes(key[place : place + 4], "little"))
        word = (_rotated(word, 13) * 5 + 0xE6546B64) & _MASK
    if whole < len(key):
        word ^= _scrambled(int.from_bytes(key[whole:], "little"))
    word ^= len(key)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        word = ((word ^ (word >> shift)) * factor) & _MASK
    return word ^ (word >> 16)
