"""The only door to randomness in the client: exact coins and exact uniform integers.

`SystemDraws` draws from the operating system, `StreamDraws` from a pseudo-random stream that is
permanent for a key. Both give exactly the stated probabilities; no floating-point number is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, MutableSequence, Sequence
from typing import TYPE_CHECKING, TypeVar

from deniable.errors import InvalidParameter
from deniable.protocol.prf import Stream

if TYPE_CHECKING:
    from deniable.client.encoders import Draws

T = TypeVar("T")

_WIDTHS = (8, 16, 64)
"""The widths of a coin: 64 bits in use; 8 and 16 so that every outcome can be enumerated."""

_LARGEST_BOUND = 2**32
_AHEAD = 512
_ONE = 2**64


class SystemDraws:
    """Fresh draws from the operating system's generator.

    Guarantees: `coin` and `below` are exact if the source's bytes are uniform and independent. No
    byte is used twice, also after a fork: the child forgets what the parent had read ahead.

    Cost: a coin takes 1.004 bytes on average, since bytes are compared from the most significant
    one and the first that differs decides.

    Edge cases: not for several threads at once; each owner holds its own.

    Args:
        source: returns as many random bytes as asked. Only the default is read ahead; any other is
            asked for exactly the bytes that are needed, so that a proof can enumerate them.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        self._source = source
        self._ahead = _AHEAD if source is os.urandom else 0
        self._owner = os.getpid()
        self._buffer = b""

    def __repr__(self) -> str:
        return "SystemDraws()"

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True with probability threshold / 2^bits, exactly; threshold in 0..2^bits."""
        _check_coin(threshold, bits)
        if threshold in (0, 1 << bits):
            return threshold > 0
        # The first byte that differs decides (docs/mathematics.md, section 8).
        for place in threshold.to_bytes(bits // 8, "big"):
            byte = self._take(1)[0]
            if byte != place:
                return byte < place
        return False

    def below(self, bound: int) -> int:
        """Return an integer of 0..bound-1, uniformly, exactly; bound in 1..2^32."""
        width = _check_bound(bound)
        if not width:
            return 0
        # Rejection, never a modulus: every integer below the bound is equally likely.
        while True:
            number = int.from_bytes(self._take((width + 7) // 8), "little") & ((1 << width) - 1)
            if number < bound:
                return number

    def coins(self, thresholds: Sequence[int]) -> list[bool]:
        """Return what as many calls of `coin` with 64 bits would, from the same bytes."""
        if not self._ahead:
            return [self.coin(threshold) for threshold in thresholds]
        self._take(0)
        # Kept here meanwhile: whatever interrupts this, no byte is used twice.
        buffer, self._buffer = self._buffer, b""
        place, made = 0, []
        for threshold in thresholds:
            first = threshold >> 56
            if place == len(buffer):
                buffer, place = self._source(max(self._ahead, len(thresholds))), 0
            byte = buffer[place]
            if byte != first and 0 < threshold < _ONE:
                made.append(byte < first)
                place += 1
            else:  # a draw in 256, and coins that need none
                self._buffer = buffer[place:]
                made.append(self.coin(threshold))
                buffer, self._buffer, place = self._buffer, b"", 0
        self._buffer = buffer[place:]
        return made

    def falls(self, threshold: int) -> int:
        """Return how many coins fall before the first that comes up, from the bytes of `coin`.

        Raises:
            InvalidParameter: if none would ever come up.
        """
        _check_coin(threshold, 64)
        if not threshold:
            raise InvalidParameter("A coin of the threshold 0 never comes up.")
        fallen = 0
        # A first byte above the threshold's is a coin that fell: all up to the next other byte.
        first = threshold >> 56 if self._ahead and threshold < _ONE else 255
        others = b"\1" * (first + 1) + bytes(255 - first)
        while first < 255:
            self._take(0)
            buffer, self._buffer = self._buffer, b""
            place = buffer.translate(others).find(1)
            if place < 0:
                fallen += len(buffer)
                self._buffer = self._source(self._ahead)
                continue
            if buffer[place] < first:  # it came up, whatever follows
                self._buffer = buffer[place + 1 :]
                return fallen + place
            self._buffer = buffer[place:]
            if self.coin(threshold):
                return fallen + place
            fallen += place + 1
        while not self.coin(threshold):
            fallen += 1
        return fallen

    def token(self, count: int) -> bytes:
        """Return random bytes for a secret or an id, never kept in the read-ahead buffer."""
        return self._source(count)

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put `items` into a uniformly random order (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def _take(self, count: int) -> bytes:
        if self._owner != os.getpid():  # a forked child must not share its parent's bytes
            self._owner, self._buffer = os.getpid(), b""
        if len(self._buffer) < count:
            self._buffer = self._source(max(count, self._ahead))
        head, self._buffer = self._buffer[:count], self._buffer[count:]
        return head


class StreamDraws:
    """Permanent draws: the same key gives the same draws for ever, on every device.

    Guarantees: every coin takes exactly one word of the stream, also where its threshold is 0 or
    2^bits, so that a coin's place does not depend on the thresholds before it.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __repr__(self) -> str:
        return "StreamDraws(<key hidden>)"

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True if the upper `bits` bits of the next word are below `threshold`."""
        _check_coin(threshold, bits)
        return (self._stream.word() >> (64 - bits)) < threshold

    def coins(self, thresholds: Sequence[int]) -> list[bool]:
        """Return what as many calls of `coin` with 64 bits would."""
        for threshold in set(thresholds):
            _check_coin(threshold, 64)
        words = self._stream.words(len(thresholds))
        return [word < threshold for word, threshold in zip(words, thresholds, strict=True)]

    def below(self, bound: int) -> int:
        """Return an integer of 0..bound-1: the low bits of the first word that fits."""
        width = _check_bound(bound)
        if width == 0:
            return 0
        while True:
            number = self._stream.word() & ((1 << width) - 1)
            if number < bound:
                return number


def coins(draws: Draws, thresholds: list[int]) -> list[bool]:
    """Toss coins one after the other: at once where the draws are a client's own."""
    if type(draws) is SystemDraws or type(draws) is StreamDraws:
        return draws.coins(thresholds)
    return [draws.coin(threshold) for threshold in thresholds]


def falls(draws: Draws, threshold: int) -> int:
    """Return how many coins fall before the first that comes up: at once from a client's draws."""
    if type(draws) is SystemDraws:
        return draws.falls(threshold)
    fallen = 0
    while not draws.coin(threshold):
        fallen += 1
    return fallen


def _check_coin(threshold: int, bits: int) -> None:
    if bits not in _WIDTHS:
        raise InvalidParameter(f"A coin has 8, 16 or 64 bits. Got {bits!r:.40}.")
    if not 0 <= threshold <= 1 << bits:
        raise InvalidParameter(f"The threshold of a coin of {bits} bits must be in 0..2^{bits}.")


def _check_bound(bound: int) -> int:
    """Return the number of bits that hold 0..bound-1."""
    if not 1 <= bound <= _LARGEST_BOUND:
        raise InvalidParameter(f"The bound must be an integer from 1 to 2^32. Got {bound!r:.40}.")
    return (bound - 1).bit_length()
