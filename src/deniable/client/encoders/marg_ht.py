"""MargHT on the device; the model stands in protocol/marg_ht.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, MargHTParameters
from deniable.protocol.hadamard import sign_of


class MargHTEncoder(Encoder):
    """Reports the sign of one coefficient of one table, or the opposite sign."""

    def __init__(self, parameters: MargHTParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        number = fresh.below(p.marginals)
        alpha = 1 + fresh.below(p.cells(number) - 1)
        sign = sign_of(alpha, p.cell(number, answer.codes))
        if not fresh.coin(p.keep):
            sign = 1 - sign
        return p.layout.pack({"symbol": 2 * (number * p.most_cells + alpha) + sign})
