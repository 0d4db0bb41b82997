"""InpHT on the device; the model stands in protocol/inp_ht.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, InpHTParameters
from deniable.protocol.profile_selection import signs_differ


class InpHTEncoder(Encoder):
    """Reports the sign of one coefficient, drawn at random, or the opposite sign."""

    def __init__(self, parameters: InpHTParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        parameters = self._parameters
        coefficient = fresh.below(parameters.coefficients)
        sign = signs_differ(answer.codes, parameters.masks(coefficient))
        if not fresh.coin(parameters.keep):
            sign = 1 - sign
        return parameters.layout.pack({"symbol": 2 * coefficient + sign})
