"""O-RR on the device [KBR16]; the model stands in protocol/orr.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, ORRParameters


class ORREncoder(Encoder):
    """Maps the answer to its cohort's symbol, and keeps it or moves it to another one.

    Cost: in the permuted form, a hash per answer of the domain.
    """

    def __init__(self, parameters: ORRParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. Draws come from `cohort` and `fresh`."""
        parameters = self._parameters
        number = cohort.below(parameters.cohorts)
        symbol = parameters.symbol(answer, number)
        if not fresh.coin(parameters.keep):
            other = fresh.below(parameters.symbols - 1)
            symbol = other + (other >= symbol)
        return parameters.layout.pack({"cohort": number, "symbol": symbol})
