"""InpPS on the device; the model stands in protocol/inp_ps.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.cells import kept_or_moved
from deniable.protocol import Answer, InpPSParameters


class InpPSEncoder(Encoder):
    """Keeps the cell of the whole profile, or moves it to one of the others."""

    def __init__(self, parameters: InpPSParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        symbol = kept_or_moved(p.cell(answer.codes), p.cells, p.keep, fresh)
        return p.layout.pack({"symbol": symbol})
