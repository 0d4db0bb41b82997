"""Prefix growth on the device; the model stands in protocol/prefixes.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.pgr import noisy_point
from deniable.protocol import Answer, PrefixesParameters


class PrefixesEncoder(Encoder):
    """Reports a randomised point for the beginning of the string that its group reports.

    Guarantees: group and cohort are drawn before the answer is looked at.
    """

    def __init__(self, parameters: PrefixesParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. Draws come from `cohort` and `fresh`."""
        parameters = self._parameters
        group = parameters.group_of(cohort.below(parameters.total_weight))
        number = cohort.below(parameters.cohorts)
        true = parameters.point(answer, group, number)
        point = noisy_point(parameters.oracle, true, fresh)
        packed: dict[str, int | bytes] = {"group": group, "cohort": number, "point": point}
        return parameters.layout.pack(packed)
