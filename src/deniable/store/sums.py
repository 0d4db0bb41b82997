"""Sums that tell a damaged row from a sound one: eight bytes of BLAKE2b.

Guarantees: bytes that changed by accident keep their sum with probability 2^-64. It is no
signature: whoever can write the file can write a sum too.
"""

from __future__ import annotations

from hashlib import blake2b

_SUM_BYTES = 8


def chunk_sum(number: int, key: bytes, records: bytes) -> bytes:
    """Return the sum of a chunk: of its batch's number, its key and its records."""
    made = blake2b(number.to_bytes(8, "little"), digest_size=_SUM_BYTES)
    made.update(key)
    made.update(records)
    return made.digest()


def row_sum(*columns: object) -> bytes:
    """Return the sum of a row's columns, each with its type."""
    return blake2b(repr(columns).encode(), digest_size=_SUM_BYTES).digest()
