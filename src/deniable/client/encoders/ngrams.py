"""n-grams on the device [FPE16]; the model stands in protocol/ngrams.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.unary import pack_bits
from deniable.client.randomness import coins
from deniable.protocol import Answer, NGramsParameters, RapporParameters


class NGramsEncoder(Encoder):
    """Reports the whole string and the n-grams at the device's places, a Bloom filter each.

    Guarantees: places and cohort are drawn before the answer is looked at, and are the same in
    every report of the device; the number of draws depends on the parameters alone.
    """

    def __init__(self, parameters: NGramsParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. Draws come from `cohort` and `fresh`."""
        parameters = self._parameters
        choice = cohort.below(parameters.choices)
        number = cohort.below(parameters.cohorts)
        packed: dict[str, int | bytes] = {"places": choice, "cohort": number}
        for i, part in enumerate(parameters.parts(answer, parameters.chosen[choice])):
            shape = parameters.gram if i else parameters.whole
            packed[f"bits_{i}"] = _noisy(shape, part, number, fresh)
        return parameters.layout.pack(packed)


def _noisy(shape: RapporParameters, part: Answer, cohort: int, fresh: Draws) -> bytes:
    """Return the bits of a randomised Bloom filter."""
    held = frozenset(shape.places(part, cohort))
    one, zero = shape.report_one, shape.report_zero
    return pack_bits(
        coins(fresh, [one if i in held else zero for i in range(shape.bits)]), shape.bits
    )
