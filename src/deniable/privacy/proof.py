"""Proofs of epsilon: enumerate a channel exactly and compare its worst ratio with the claim."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from deniable.privacy import (
    Channel,
    channel,
    enumerate_outputs,
    fresh_channel,
    permanent_channel,
    report_channel,
    worst_ratio,
)
from deniable.protocol.epsilon import epsilon_of, within

__all__ = [
    "Proof",
    "channel",
    "enumerate_outputs",
    "fresh_channel",
    "permanent_channel",
    "prove_epsilon",
    "report_channel",
    "worst_ratio",
]

Given = TypeVar("Given", bound=Hashable)
Output = TypeVar("Output", bound=Hashable)


@dataclass(frozen=True)
class Proof:
    """The verdict of an exact enumeration on a claimed epsilon.

    Attributes:
        worst: the largest ratio of probabilities; None if it is infinite.
        claimed: the claimed epsilon in micros; None claims nothing.
    """

    worst: Fraction | None
    claimed: int | None

    @property
    def micros(self) -> int | None:
        """The smallest epsilon that is true, in micros; None if none is."""
        return None if self.worst is None else epsilon_of(self.worst)

    @property
    def holds(self) -> bool:
        """True if the claim is true: worst <= exp(claimed), compared exactly."""
        if self.claimed is None:
            return True
        return self.worst is not None and within(self.worst, self.claimed)

    @property
    def tight(self) -> bool:
        """True if the claim is the smallest true epsilon in micros."""
        return self.micros == self.claimed

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return f"claimed {self.claimed} micros, true {self.micros} micros: {verdict}"


def prove_epsilon(channel: Channel[Given, Output], micros: int | None) -> Proof:
    """Return the proof, or the refutation, of an epsilon claimed for an exact channel."""
    return Proof(worst_ratio(channel), micros)
