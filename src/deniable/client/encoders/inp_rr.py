"""InpRR on the device; the model stands in protocol/inp_rr.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.cells import bit_per_cell
from deniable.protocol import Answer, InpRRParameters


class InpRREncoder(Encoder):
    """Passes one bit per cell of the whole profile through a coin each."""

    def __init__(self, parameters: InpRRParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        own = p.cell(answer.codes)
        return p.layout.pack({"bits": bit_per_cell(own, p.cells, p.cells, p.one, p.zero, fresh)})
