"""Permutations of closed domains for all codes at once: the twin of `protocol.permuting`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.hashing import Words, fingerprints, hash_words
from deniable.protocol.domain import code_key


@lru_cache(maxsize=4)
def code_words(size: int) -> Words:
    """Return the fingerprints of the codes 0..size-1; read-only, since they are kept.

    Cost: one SHA-256 per code, once; 1 MB for 65,536 codes.
    """
    words = fingerprints(code_key(code) for code in range(size))
    words.flags.writeable = False
    return words


def all_ranks(size: int, index: int) -> NDArray[np.int64]:
    """Return the rank of every code under hash function `index`: a permutation.

    Cost: a sort of `size` words.
    """
    words = hash_words(code_words(size), np.asarray(index, dtype=np.uint64))
    found = np.empty(size, dtype=np.int64)
    found[np.argsort(words, kind="stable")] = np.arange(size)  # stable: equal words by code
    return found
