"""k-ary randomised response on the device [KBR16]; the model stands in protocol/krr.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, KRRParameters

_ALWAYS = 2**64


class KRREncoder(Encoder):
    """Keeps the symbol or moves it to one of the others, first for ever, then afresh."""

    def __init__(self, parameters: KRRParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer, drawn from `permanent` and `fresh`."""
        parameters = self._parameters
        symbol = self._stage(answer.code, parameters.permanent_keep, permanent)
        symbol = self._stage(symbol, parameters.report_keep, fresh)
        return parameters.layout.pack({"symbol": symbol})

    def _stage(self, symbol: int, keep: int, draws: Draws) -> int:
        if keep == _ALWAYS or draws.coin(keep):  # a stage that does nothing needs no draws
            return symbol
        other = draws.below(self._parameters.answers - 1)
        return other + (other >= symbol)
