"""The hash family of `protocol.hashing`, and the generator of simulations, in compiled form."""

from __future__ import annotations

import numpy as np

from deniable.kernels._jit import njit
from deniable.protocol.hashing import GOLDEN

_GOLDEN = np.uint64(GOLDEN)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_32 = np.uint64(32)


@njit
def mix(word: np.uint64) -> np.uint64:
    """Return SplitMix64's finaliser of a word, as `protocol.hashing.mix`."""
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)


@njit
def hash_word(first: np.uint64, second: np.uint64, index: np.uint64) -> np.uint64:
    """Return hash function `index` of a fingerprint, as `protocol.hashing.hash_word`."""
    return mix(first ^ mix(second + _GOLDEN * (index + _ONE)))


@njit
def reduce_to(word: np.uint64, size: np.uint64) -> np.uint64:
    """Map a word to 0..size-1 by its upper 32 bits, as `protocol.hashing.reduce_to`."""
    return ((word >> _32) * size) >> _32
