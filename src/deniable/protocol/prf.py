"""Pseudo-random function of permanent responses: HKDF-SHA-256 keys, an HMAC-SHA-256 stream.

`spec/protocol.md`, section "Pseudo-random function", specifies this bit for bit.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Callable

SALT = b"deniable/v1"
SECRET_BYTES = 32
_BLOCK = 64
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def derive_key(secret: bytes, *info: bytes) -> bytes:
    """Return a 32-byte key for `info`, by HKDF-SHA-256 [RFC 5869] with a fixed salt.

    Each piece of info is prefixed with its length (u32, little-endian), so that no two different
    lists of pieces give the same bytes.
    """
    extracted = hmac.digest(SALT, secret, hashlib.sha256)
    joined = b"".join(len(piece).to_bytes(4, "little") + piece for piece in info)
    return hmac.digest(extracted, joined + b"\x01", hashlib.sha256)


class Stream:
    """The pseudo-random stream of a key: HMAC-SHA-256(key, u32 counter) for counter 0, 1, ...

    Cost: one HMAC per four words.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0
        self._block = b""

    def __repr__(self) -> str:
        return "Stream(<key hidden>)"

    def word(self) -> int:
        """Return the next 8 bytes of the stream as a little-endian integer."""
        if not self._block:
            counter = self._counter.to_bytes(4, "little")
            self._block = hmac.digest(self._key, counter, hashlib.sha256)
            self._counter += 1
        head, self._block = self._block[:8], self._block[8:]
        return int.from_bytes(head, "little")

    def words(self, count: int) -> tuple[int, ...]:
        """Return the next `count` words: those that as many calls of `word` would return.

        Cost: a third of theirs. HMAC's two hashes [RFC 2104] have taken in the key once, and a
        copy of each takes in a counter.
        """
        padded = self._key.ljust(_BLOCK, b"\0")
        inner = hashlib.sha256(padded.translate(_INNER))
        outer = hashlib.sha256(padded.translate(_OUTER))
        blocks = [self._block]
        after = self._counter + max(0, -(-(8 * count - len(self._block)) // 32))
        for counter in range(self._counter, after):
            hashed, keyed = inner.copy(), outer.copy()
            hashed.update(counter.to_bytes(4, "little"))
            keyed.update(hashed.digest())
            blocks.append(keyed.digest())
        stream, self._counter = b"".join(blocks), after
        self._block = stream[8 * count :]
        return struct.unpack_from(f"<{count}Q", stream)


class DerivedStream(Stream):
    """The stream of a derived key, which is derived when the first word is asked for.

    Many mechanisms have no use for one of the streams that an encoder is given.

    Args:
        derive: returns the key; it is called once, if at all.
    """

    def __init__(self, derive: Callable[[], bytes]) -> None:
        self._key = self._block = b""
        self._counter = 0
        self._derived = derive

    def word(self) -> int:
        """Return the next word, as `Stream` does."""
        self._derive()
        return super().word()

    def words(self, count: int) -> tuple[int, ...]:
        """Return the next words, as `Stream` does."""
        self._derive()
        return super().words(count)

    def _derive(self) -> None:
        if not self._key:
            self._key = self._derived()
