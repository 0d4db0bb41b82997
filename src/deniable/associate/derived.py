"""What follows from a joint table: conditional probabilities, odds ratios, distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.associate.joint import Joint
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class Derived:
    """Numbers computed from a joint table, with delta-method errors.

    Attributes:
        names: of the axes.
        labels: of each axis.
        value: the numbers.
        std_error: one standard deviation (of the logarithm, for odds ratios).
        low: of each interval.
        high: of each interval.
        notes: what a reader must know.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    value: Floats
    std_error: Floats
    low: Floats
    high: Floats
    notes: tuple[str, ...] = ()


def conditional(joint: Joint, of: str, given: str | Sequence[str]) -> Derived:
    """Return P(of | given): axes in the order given..., of; rows sum to 1 over `of`."""
    raise NotImplementedError


def odds_ratios(joint: Joint) -> Derived:
    """Return p_ij (1 - p_i. - p_.j + p_ij) / ((p_i. - p_ij)(p_.j - p_ij)), cell against rest."""
    raise NotImplementedError


def hellinger(p: Floats, q: Floats) -> float:
    """Return the Hellinger distance of two distributions: 0 if equal, 1 if disjoint."""
    raise NotImplementedError
