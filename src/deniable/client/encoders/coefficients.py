"""Coefficients on the device; the model stands in protocol/coefficients.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, CoefficientsParameters


class CoefficientsEncoder(Encoder):
    """Draws an order and one of its coefficients, and reports a sign whose mean is its value."""

    def __init__(self, parameters: CoefficientsParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        parameters = self._parameters
        coefficient = self._drawn(fresh)
        value = parameters.value(coefficient, answer.codes)
        sign = 0 if fresh.coin(parameters.plus(*value)) else 1
        return parameters.layout.pack({"symbol": 2 * coefficient + sign})

    def _drawn(self, fresh: Draws) -> int:
        """Return the number of a coefficient: first its order, then one of that order."""
        first = 0
        for threshold, count in zip(self._parameters.orders, self._parameters.counts, strict=False):
            if fresh.coin(threshold):
                return first + fresh.below(count)
            first += count
        return first + fresh.below(self._parameters.counts[-1])
