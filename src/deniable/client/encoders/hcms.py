"""Hadamard count-mean sketch on the device; the model stands in protocol/hcms.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, HCMSParameters


class HCMSEncoder(Encoder):
    """Reports one sign of the Hadamard row of the answer's bucket, or its opposite."""

    def __init__(self, parameters: HCMSParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. All draws come from `fresh`."""
        parameters = self._parameters
        row = fresh.below(parameters.rows)
        coefficient = fresh.below(parameters.width)
        sign = (coefficient & parameters.bucket(answer, row)).bit_count() % 2
        if not fresh.coin(parameters.keep):
            sign = 1 - sign
        packed: dict[str, int | bytes] = {"row": row, "coefficient": coefficient, "sign": sign}
        return parameters.layout.pack(packed)
