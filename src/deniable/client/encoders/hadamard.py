"""Hadamard response on the device; the model stands in protocol/hadamard.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, HadamardParameters
from deniable.protocol.hadamard import sign_of


class HadamardEncoder(Encoder):
    """Reports the sign of one coefficient, drawn at random, or the opposite sign."""

    def __init__(self, parameters: HadamardParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. All draws come from `fresh`."""
        parameters = self._parameters
        coefficient = fresh.below(parameters.size)
        sign = sign_of(coefficient, answer.code)
        if not fresh.coin(parameters.keep):
            sign = 1 - sign
        return parameters.layout.pack({"coefficient": coefficient, "sign": sign})
