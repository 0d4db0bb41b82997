"""RAPPOR on the device [EPK14]; the model stands in protocol/rappor.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.unary import own_bits, two_stages
from deniable.protocol import Answer, RapporParameters


class RapporEncoder(Encoder):
    """Sets the answer's bits and passes each through the permanent and the fresh stage.

    Guarantees: the number of draws depends on the parameters alone, never on the answer.
    """

    def __init__(self, parameters: RapporParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer."""
        parameters = self._parameters
        number = cohort.below(parameters.cohorts)
        sent = two_stages(self._bits(answer, number), parameters, permanent, fresh)
        return parameters.layout.pack({"cohort": number, "bits": sent})

    def _bits(self, answer: Answer, cohort: int) -> frozenset[int]:
        """Return the places of the bits that the answer sets."""
        parameters = self._parameters
        if parameters.form != "basic":
            return frozenset(parameters.places(answer, cohort))
        if parameters.bits == 1:  # a plain boolean: one bit, set for yes
            return frozenset({0} if answer.code == 1 else ())
        return own_bits(answer, parameters)
