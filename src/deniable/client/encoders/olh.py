"""Optimised local hashing on the device; the model stands in protocol/olh.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.protocol import Answer, OLHParameters
from deniable.protocol.olh import symbol_of


class OLHEncoder(Encoder):
    """Hashes the answer with a seed drawn at random, and keeps or moves the symbol."""

    def __init__(self, parameters: OLHParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer. All draws come from `fresh`."""
        parameters = self._parameters
        seed = fresh.below(parameters.seeds)
        symbol = symbol_of(answer.words, seed, parameters.symbols)
        if not fresh.coin(parameters.keep):
            other = fresh.below(parameters.symbols - 1)
            symbol = other + (other >= symbol)
        return parameters.layout.pack({"seed": seed, "symbol": symbol})
