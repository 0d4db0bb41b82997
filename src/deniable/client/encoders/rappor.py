"""RAPPOR on the device [EPK14]; the model stands in protocol/rappor.py."""

from __future__ import annotations

from collections.abc import Iterable

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, RapporParameters
from deniable.protocol.hashing import bloom_bits


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
        true = self._bits(answer, number)
        response = [
            permanent.coin(parameters.permanent_one if i in true else parameters.permanent_zero)
            for i in range(parameters.bits)
        ]
        sent = (
            fresh.coin(parameters.report_one if bit else parameters.report_zero) for bit in response
        )
        return parameters.layout.pack({"cohort": number, "bits": _pack(sent, parameters.bits)})

    def _bits(self, answer: Answer, cohort: int) -> frozenset[int]:
        """Return the places of the bits that the answer sets."""
        parameters = self._parameters
        if parameters.form == "bloom":
            places = bloom_bits(answer.words, cohort, parameters.hashes, parameters.bits)
            return frozenset(places)
        if parameters.bits == 1:  # a plain boolean: one bit, set for yes
            return frozenset({0} if answer.code == 1 else ())
        return frozenset({answer.code})


def _pack(bits: Iterable[bool], count: int) -> bytes:
    """Return bytes with bit i in byte i // 8 at weight 2^(i % 8)."""
    packed = bytearray((count + 7) // 8)
    for i, bit in enumerate(bits):
        packed[i // 8] |= bit << (i % 8)
    return bytes(packed)
