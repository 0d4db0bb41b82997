"""Optimised unary encoding on the device; the model stands in protocol/oue.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.unary import own_bits, two_stages
from deniable.protocol import Answer, OUEParameters


class OUEEncoder(Encoder):
    """Passes one bit per answer through the permanent and the fresh stage."""

    def __init__(self, parameters: OUEParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer, drawn from `permanent` and `fresh`."""
        held = own_bits(answer, self._parameters)
        return two_stages(held, self._parameters, permanent, fresh)
