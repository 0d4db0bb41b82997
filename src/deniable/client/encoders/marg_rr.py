"""MargRR on the device; the model stands in protocol/marg_rr.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.cells import bit_per_cell
from deniable.protocol import Answer, MargRRParameters


class MargRREncoder(Encoder):
    """Passes one bit per cell of one table, drawn at random, through a coin each."""

    def __init__(self, parameters: MargRRParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        number = fresh.below(p.marginals)
        own, cells = p.cell(number, answer.codes), p.cells(number)
        bits = bit_per_cell(own, cells, p.most_cells, p.one, p.zero, fresh)
        packed: dict[str, int | bytes] = {"marginal": number, "bits": bits}
        return p.layout.pack(packed)
