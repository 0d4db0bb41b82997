"""The mark beside a store: the number of written transactions, outside of SQLite's files.

A write-ahead log that vanished leaves a sound database of an earlier moment, and nothing inside
tells. The mark does: it is a file of one line, `<store>-mark`, that repeats the store's number of
transactions. A store that holds fewer than its mark says has lost some.

Model. The mark is written after a transaction is durable and never before, and without a sync of
its own: it may be behind the store, by the last moments before a power cut, never ahead of it. A
mark that is missing, cut or torn says nothing, and is written anew.

Edge cases, which nobody can notice: the mark is lost together with the log; the log is lost in a
power cut, and only transactions of the last moments (until the system writes its files, half a
minute on Linux) were in it.
"""

from __future__ import annotations

import os
import re
import zlib
from contextlib import suppress
from pathlib import Path

_LINE = re.compile(rb"deniable store, transactions: ([0-9]{20}) ([0-9a-f]{8})\n")


class Mark:
    """The mark of one store; `note` is cheap enough for every transaction."""

    def __init__(self, store: Path) -> None:
        self.path = store.with_name(f"{store.name}-mark")

    def read(self) -> int | None:
        """Return the number of transactions that the store must have; None if nothing says it."""
        try:
            return _number(self.path.read_bytes())
        except OSError:
            return None

    def note(self, number: int) -> None:
        """Note that `number` transactions are durable, unless more are noted already.

        A mark that cannot be written stays behind, which makes it weaker and nothing wrong; so an
        error here must not turn a durable transaction into a failed one.
        """
        with suppress(OSError):
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                known = _number(os.pread(file, 128, 0))
                if known is None:
                    os.ftruncate(file, 0)  # whatever it was, it may be longer than a line
                if known is None or known < number:
                    os.pwrite(file, _line(number), 0)
            finally:
                os.close(file)


def _line(number: int) -> bytes:
    digits = b"%020d" % number
    return b"deniable store, transactions: %b %08x\n" % (digits, zlib.crc32(digits))


def _number(line: bytes) -> int | None:
    match = _LINE.fullmatch(line)
    if match is None or int(match[2], 16) != zlib.crc32(match[1]):
        return None
    return int(match[1])
