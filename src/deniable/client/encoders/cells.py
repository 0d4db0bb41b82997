"""Steps that encoders of tables share: a bit per cell, and one cell through k-RR."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.unary import pack_bits
from deniable.client.randomness import coins
from deniable.protocol import Answer
from deniable.protocol.profile_truth import TruthParameters


def bit_per_cell(own: int, cells: int, room: int, one: int, zero: int, fresh: Draws) -> bytes:
    """Return a coin per cell, in the bytes of `room` bits: `one` for its own, `zero` for others."""
    sent = coins(fresh, [one if cell == own else zero for cell in range(cells)])
    return pack_bits(sent, room)


def kept_or_moved(own: int, cells: int, keep: int, fresh: Draws) -> int:
    """Return the cell itself, or with the complement of `keep` one of the others, uniformly."""
    if fresh.coin(keep):
        return own
    other = fresh.below(cells - 1)
    return other + (other >= own)


class TableEncoder(Encoder):
    """Keeps the cell of one table, drawn at random, or moves it to one of the others."""

    def __init__(self, parameters: TruthParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        number = fresh.below(p.tables)
        cells = p.cells(number)
        cell = kept_or_moved(p.cell(number, answer.codes), cells, p.keep(cells), fresh)
        return p.layout.pack({"symbol": number * p.sizes[-1] + cell})
