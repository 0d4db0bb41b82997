"""What the tests of the store have in common."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from itertools import count
from pathlib import Path

from deniable.protocol import Report
from deniable.store import Store
from deniable.store.shuffle import RandomBytes

DIGEST = b"\x11" * 32


def report(
    number: int, epoch: int = 20_000, question: str = "colour", size: int = 4, version: int = 1
) -> Report:
    """Return a report whose record is its number, so that it is recognised wherever it went."""
    identity = hashlib.sha256(struct.pack("<I", number)).digest()[:16]
    record = struct.pack("<I", number).ljust(size, b"\0")
    return Report(question, version, DIGEST, epoch, identity, record)


def reports(count: int, start: int = 0, epoch: int = 20_000) -> list[Report]:
    return [report(number, epoch) for number in range(start, start + count)]


def numbers(store: Store, question: str = "colour", size: int = 4) -> list[int]:
    """Return the numbers of the stored reports, in the order in which they are read."""
    return [
        struct.unpack_from("<I", chunk.records, start)[0]
        for chunk in store.read(question)
        for start in range(0, len(chunk.records), size)
    ]


def multiset(store: Store, question: str = "colour") -> Counter[int]:
    return Counter(numbers(store, question))


def all_bytes(folder: Path) -> bytes:
    """Return every byte of every file in a folder, the log included."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def seeded(seed: int) -> RandomBytes:
    """Return a source of uniform bytes that repeats: SHAKE of the seed and a counter."""
    numbers = count()
    return lambda size: hashlib.shake_128(b"%d/%d" % (seed, next(numbers))).digest(size)
