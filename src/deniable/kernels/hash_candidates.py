"""From the strings of a candidate list to their Bloom bits in every cohort.

Model: one SHA-256 per string gives two words; every (cohort, hash function) then costs two
64-bit mixings. Equal, bit for bit, to `protocol.hashing.bloom_bits`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit
from deniable.kernels.mixing import mix, reduce_to
from deniable.protocol.hashing import GOLDEN, MASK

Words = NDArray[np.uint64]
Positions = NDArray[np.uint16] | NDArray[np.uint32]


def fingerprints(keys: Iterable[bytes]) -> Words:
    """Return a row of two words for each answer's canonical bytes.

    Cost: one SHA-256 per key, under a microsecond. Threads cannot help: hashlib keeps the
    interpreter's lock for inputs as short as these.
    """
    sha256 = hashlib.sha256
    digests = b"".join([sha256(key).digest()[:16] for key in keys])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64).reshape(-1, 2)


def bloom_positions(words: Words, cohorts: int, hashes: int, bits: int) -> Positions:
    """Return the Bloom bits of every candidate in every cohort, M x m x h; they may repeat.

    Guarantees: 16-bit integers where k is at most 65,536, else 32-bit ones. A million candidates
    in 32 cohorts with 2 hash functions take 128 MB.

    Cost: M m h times two mixings.

    Args:
        words: fingerprints, M x 2.
        cohorts: m.
        hashes: h, at most 65,536.
        bits: k, at most 2^32.
    """
    indices = ((cohort << 16) | i for cohort in range(cohorts) for i in range(hashes))
    steps = np.array([GOLDEN * (index + 1) & MASK for index in indices], dtype=np.uint64)
    positions: Positions
    if bits <= 2**16:
        positions = np.empty((words.shape[0], steps.size), dtype=np.uint16)
    else:
        positions = np.empty((words.shape[0], steps.size), dtype=np.uint32)
    _fill(np.ascontiguousarray(words), steps, np.uint64(bits), positions)
    return positions.reshape(words.shape[0], cohorts, hashes)


@njit
def _fill(words: Words, steps: Words, bits: np.uint64, positions: Positions) -> None:
    """Write a row of positions per fingerprint; `steps` are the increments of its functions."""
    for i in range(words.shape[0]):
        first, second = words[i, 0], words[i, 1]
        for j in range(steps.size):
            positions[i, j] = reduce_to(mix(first ^ mix(second + steps[j])), bits)
