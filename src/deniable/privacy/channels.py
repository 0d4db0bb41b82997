"""The exact channels of a client's encoder: one report, the permanent stage, the fresh stage."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from deniable.client.encoders.base import Draws, Encoder
from deniable.privacy.enumeration import channel, enumerate_outputs
from deniable.protocol import Answer

Law = frozenset[tuple[bytes, Fraction]]
"""The distribution of a report, as a set of (record, probability): all that ever more reports of
one device and value can reveal."""


def report_channel(
    encoder: Encoder, answers: Iterable[Answer]
) -> dict[Answer, dict[bytes, Fraction]]:
    """Return the distribution of one report under each answer: cohort and both stages chained."""

    def encode(answer: Answer, draws: Draws) -> bytes:
        return encoder.encode(answer, draws, draws, draws)

    return channel(encode, answers)


def permanent_channel(
    encoder: Encoder, answers: Iterable[Answer]
) -> dict[Answer, dict[Law, Fraction]]:
    """Return the distribution, under each answer, of the device's permanent response.

    A permanent response shows itself only through reports. However many reports are seen, they
    reveal at most the law by which they are drawn. So the law stands for the permanent response:
    cohort and permanent draws decide the law, and the worst ratio of this channel bounds the
    disclosure of any number of reports. An encoder without a permanent stage has one law per
    answer, and no finite ratio.

    Cost: the product of the numbers of permanent and fresh paths.
    """

    def law(answer: Answer, draws: Draws) -> Law:
        kept = _Kept(draws)

        def encode(fresh: Draws) -> bytes:
            kept.rewind()
            return encoder.encode(answer, kept, kept, fresh)

        return frozenset(enumerate_outputs(encode).items())

    return channel(law, answers)


def fresh_channel(encoder: Encoder, answers: Iterable[Answer]) -> dict[Law, dict[bytes, Fraction]]:
    """Return the distribution of one report given each permanent response that can occur.

    The logarithm of its worst ratio is the epsilon of one report about the permanent response.
    """
    permanent = permanent_channel(encoder, answers)
    laws = {law for distribution in permanent.values() for law in distribution}
    return {law: dict(law) for law in laws}


class _Kept:
    """Draws that are made once and then repeated from the start after every `rewind`."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._outcomes: list[int] = []
        self._place = 0

    def rewind(self) -> None:
        self._place = 0

    def coin(self, threshold: int, bits: int = 64) -> bool:
        if self._place == len(self._outcomes):
            self._outcomes.append(int(self._draws.coin(threshold, bits)))
        return self._next() == 1

    def below(self, bound: int) -> int:
        if self._place == len(self._outcomes):
            self._outcomes.append(self._draws.below(bound))
        return self._next()

    def _next(self) -> int:
        self._place += 1
        return self._outcomes[self._place - 1]
