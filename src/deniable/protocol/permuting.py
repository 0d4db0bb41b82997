"""Cohorts of closed domains: a permutation of the answers in place of a hash function.

Model: hash function number `index` gives every code a 64-bit word; the rank of a code is the number
of codes whose word is smaller (equal words by code). Ranks are a permutation of 0..S-1, so that
rank mod k spreads the answers over k places as evenly as can be, which no hash function does
[KBR16, section 4]. `spec/protocol.md`, section "Permutations", specifies this bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.protocol.domain import code_key
from deniable.protocol.hashing import fingerprint, hash_word


def ranks(code: int, size: int, indices: Sequence[int]) -> list[int]:
    """Return the rank of a code among `size` codes, for each hash function.

    Cost: one SHA-256 per code of the domain, and two mixings per code and hash function: about a
    quarter of a second for 65,536 codes.
    """
    own = fingerprint(code_key(code))
    words = [hash_word(own, index) for index in indices]
    found = [0] * len(indices)
    for other in range(size):
        theirs = fingerprint(code_key(other))
        for place, index in enumerate(indices):
            found[place] += (hash_word(theirs, index), other) < (words[place], code)
    return found
