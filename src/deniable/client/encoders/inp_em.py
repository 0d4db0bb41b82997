"""InpEM on the device; the model stands in protocol/inp_em.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.unary import pack_bits
from deniable.protocol import Answer, InpEMParameters


class InpEMEncoder(Encoder):
    """Keeps or flips every bit of the profile by a coin of its own."""

    def __init__(self, parameters: InpEMParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        cell = p.cell(answer.codes)
        sent = [bool(cell >> i & 1) == fresh.coin(p.keep) for i in range(p.width)]
        return p.layout.pack({"bits": pack_bits(sent, p.width)})
