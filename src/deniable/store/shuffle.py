"""Forgetting an order: records permuted by the operating system's randomness.

A permutation is drawn by sorting one random 64-bit key per record. Without ties every order is
equally likely; two of n keys are equal with probability below n^2 / 2^65 (2^-21 for four million
records), and then only those two keep their order. No generator with a state is involved: whoever
knows where some records went learns nothing about the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

RandomBytes = Callable[[int], bytes]
"""A source of randomness: n -> n bytes. Production code passes os.urandom."""


def shuffled(records: bytes, size: int, random_bytes: RandomBytes) -> bytes:
    """Return the records, each `size` bytes, in an order drawn uniformly.

    Cost: one copy of the records, and 16 bytes per record.
    """
    count = len(records) // size
    if count == 1:  # the norm: one report in a group, and nothing to draw
        return records
    order = np.argsort(np.frombuffer(random_bytes(8 * count), dtype=np.uint64))
    return np.frombuffer(records, dtype=np.uint8).reshape(count, size)[order].tobytes()


def scattered(
    records: bytes, size: int, buckets: int, random_bytes: RandomBytes
) -> Iterator[tuple[int, bytes]]:
    """Yield (bucket, its records), each record thrown into one of `buckets`, uniformly.

    The number of buckets must be a power of two up to 65,536: then the lowest bits of a random
    number choose one without bias.
    """
    count = len(records) // size
    chosen = np.frombuffer(random_bytes(2 * count), dtype=np.uint16) & (buckets - 1)
    rows = np.frombuffer(records, dtype=np.uint8).reshape(count, size)
    for bucket in np.unique(chosen):
        yield int(bucket), rows[chosen == bucket].tobytes()
