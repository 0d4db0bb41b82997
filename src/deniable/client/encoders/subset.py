"""Subset selection on the device; the model stands in protocol/subset.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.unary import pack_bits
from deniable.protocol import Answer, SubsetParameters


class SubsetEncoder(Encoder):
    """Reports d answers, the true one among them or not, the others uniform."""

    def __init__(self, parameters: SubsetParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. All draws come from `fresh`."""
        k, size = self._parameters.answers, self._parameters.size
        included = fresh.coin(self._parameters.keep)
        others = _choose(k - 1, size - included, fresh)
        members = {other + (other >= answer.code) for other in others}
        if included:
            members.add(answer.code)
        return self._parameters.layout.pack(
            {"bits": pack_bits((i in members for i in range(k)), k)}
        )


def _choose(among: int, count: int, draws: Draws) -> set[int]:
    """Return a uniform set of `count` of the integers 0..among-1.

    Floyd's algorithm: a draw per member, none of them rejected [Bentley and Floyd, "A sample of
    brilliance", Communications of the ACM, 1987].
    """
    chosen: set[int] = set()
    for last in range(among - count, among):
        drawn = draws.below(last + 1)
        chosen.add(last if drawn in chosen else drawn)
    return chosen
