"""The encoder contract: an answer and three sources of coins in, a record out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

from deniable.protocol import Answer


class Draws(Protocol):
    """A source of randomness. Encoders draw only through these two primitives.

    Privacy proofs branch on their outcomes with exact weights, so an encoder that drew in any
    other way could not be proven.
    """

    def coin(self, threshold: int, bits: int = 64) -> bool:
        """Return True with probability threshold / 2^bits, exactly; threshold in 0..2^bits."""

    def below(self, bound: int) -> int:
        """Return an integer of 0..bound-1, uniformly, exactly; bound in 1..2^32."""


class Encoder(ABC):
    """Encodes the answers of one field.

    `cohort` draws are permanent per device and field; `permanent` draws are permanent per device,
    field and answer; `fresh` draws come from the operating system for every report.
    """

    @abstractmethod
    def encode(self, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        """Return the wire record of a randomised answer."""
