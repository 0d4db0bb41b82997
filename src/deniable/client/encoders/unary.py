"""Both stages of a mechanism that reports one bit per place; the model is in protocol/unary.py."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from deniable.client.encoders.base import Draws
from deniable.client.randomness import coins
from deniable.protocol import Answer
from deniable.protocol.unary import UnaryParameters


def two_stages(
    held: Collection[int], parameters: UnaryParameters, permanent: Draws, fresh: Draws
) -> bytes:
    """Return the packed bits of a report of an answer that sets the bits `held`.

    Guarantees: the number of draws depends on the parameters alone, never on the answer.
    """
    one, zero = parameters.permanent_one, parameters.permanent_zero
    response = coins(permanent, [one if i in held else zero for i in range(parameters.bits)])
    one, zero = parameters.report_one, parameters.report_zero
    return pack_bits(coins(fresh, [one if bit else zero for bit in response]), parameters.bits)


def own_bits(answer: Answer, parameters: UnaryParameters) -> frozenset[int]:
    """Return the bits of an answer where each has its own: one, or one per member of a set.

    Where members have bits, there is none for "none of them", so that absent has the last one.
    """
    if not parameters.members:
        return frozenset({answer.code})
    return frozenset({parameters.bits - 1} if answer.code >= 0 else answer.members)


def pack_bits(bits: Iterable[bool], count: int) -> bytes:
    """Return bytes with bit i in byte i // 8 at weight 2^(i % 8)."""
    digits = "".join("1" if bit else "0" for bit in bits)
    return int(digits[::-1] or "0", 2).to_bytes((count + 7) // 8, "little")
