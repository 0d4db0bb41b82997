"""Projective geometry response on the device; the model stands in protocol/pgr.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, PGRParameters
from deniable.protocol.projective import inside_point, outside_point, vector_of


def noisy_point(parameters: PGRParameters, true: int, fresh: Draws) -> int:
    """Return a randomised point: of the true point's hyperplane, or outside of it."""
    own = vector_of(true, parameters.prime, parameters.dimension)
    if fresh.coin(parameters.keep):
        return inside_point(own, fresh.below(parameters.inner), parameters.prime)
    return outside_point(own, fresh.below(parameters.outer), parameters.prime)


class PGREncoder(Encoder):
    """Reports a point of the answer's hyperplane, or one outside of it."""

    def __init__(self, parameters: PGRParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. Draws come from `cohort` and `fresh`."""
        parameters = self._parameters
        number = cohort.below(parameters.cohorts)
        point = noisy_point(parameters, parameters.point(answer, number), fresh)
        packed: dict[str, int | bytes] = {"cohort": number, "point": point}
        return parameters.layout.pack(packed)
