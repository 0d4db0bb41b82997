"""InpHTCMS on the device; the model stands in protocol/inp_ht_cms.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, InpHTCMSParameters
from deniable.protocol.hadamard import sign_of


class InpHTCMSEncoder(Encoder):
    """Reports one sign of the Hadamard row of the profile's bucket, or its opposite."""

    def __init__(self, parameters: InpHTCMSParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        row = fresh.below(p.rows)
        coefficient = fresh.below(p.width)
        sign = sign_of(coefficient, p.bucket(answer, row))
        if not fresh.coin(p.keep):
            sign = 1 - sign
        return p.layout.pack({"symbol": 2 * (row * p.width + coefficient) + sign})
