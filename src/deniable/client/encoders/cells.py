"""Steps that encoders of tables share: a bit per cell, and one cell through k-RR."""

from __future__ import annotations

from deniable.client.encoders.base import Draws
from deniable.client.encoders.unary import pack_bits


def bit_per_cell(own: int, cells: int, room: int, one: int, zero: int, fresh: Draws) -> bytes:
    """Return a coin per cell, in the bytes of `room` bits: `one` for its own, `zero` for others."""
    sent = [fresh.coin(one if cell == own else zero) for cell in range(cells)]
    return pack_bits(sent, room)


def kept_or_moved(own: int, cells: int, keep: int, fresh: Draws) -> int:
    """Return the cell itself, or with the complement of `keep` one of the others, uniformly."""
    if fresh.coin(keep):
        return own
    other = fresh.below(cells - 1)
    return other + (other >= own)
