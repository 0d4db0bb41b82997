"""Ids of reports, 16 bytes each, to PostgreSQL and back, many at once.

An array of uuid in PostgreSQL's binary form (`array_recv` of its arrayfuncs.c) is a head of
five 32-bit numbers (dimensions, a flag for nulls, the elements' type, how many, the first index),
then each element after its length. Made and read as one block: an object for each id would cost as
much as inserting it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from psycopg.adapt import Dumper
from psycopg.pq import Format

_UUID, _UUIDS = 2950, 2951
_HEAD = struct.Struct("!iiIii")
_LENGTH = struct.pack("!i", 16)


class Ids:
    """A sequence of ids, each of 16 bytes."""

    def __init__(self, ids: Sequence[bytes]) -> None:
        self.array = _HEAD.pack(1, 0, _UUID, len(ids), 1) + b"".join(
            part for each in ids for part in (_LENGTH, each)
        )


class IdsDumper(Dumper):
    """Tells psycopg that the bytes are an array already."""

    format = Format.BINARY
    oid = _UUIDS

    def dump(self, obj: Ids) -> bytes:
        """Return the array."""
        return obj.array


def read_ids(array: bytes) -> set[bytes]:
    """Return the ids of an array."""
    step = len(_LENGTH) + 16
    return {array[at + 4 : at + step] for at in range(_HEAD.size, len(array), step)}
