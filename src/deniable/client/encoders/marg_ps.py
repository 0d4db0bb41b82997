"""MargPS on the device; the model stands in protocol/marg_ps.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.cells import kept_or_moved
from deniable.protocol import Answer, MargPSParameters


class MargPSEncoder(Encoder):
    """Keeps the cell of one table, drawn at random, or moves it to one of the others."""

    def __init__(self, parameters: MargPSParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        number = fresh.below(p.marginals)
        cells = p.cells(number)
        cell = kept_or_moved(p.cell(number, answer.codes), cells, p.keep(cells), fresh)
        return p.layout.pack({"symbol": number * p.most_cells + cell})
