"""InpOLH on the device; the model stands in protocol/inp_olh.py."""

from __future__ import annotations

from deniable.client.encoders.base import Draws, Encoder
from deniable.client.encoders.cells import kept_or_moved
from deniable.protocol import Answer, InpOLHParameters
from deniable.protocol.olh import symbol_of


class InpOLHEncoder(Encoder):
    """Hashes the profile with a seed drawn at random, and keeps or moves the symbol."""

    def __init__(self, parameters: InpOLHParameters) -> None:
        self._parameters = parameters

    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised profile. All draws come from `fresh`."""
        p = self._parameters
        seed = fresh.below(p.seeds)
        own = symbol_of(answer.words, seed, p.symbols)
        return p.layout.pack({"seed": seed, "symbol": kept_or_moved(own, p.symbols, p.keep, fresh)})
