"""Thresholds of telling the truth: the largest ratio of probabilities that one allows.

Model: a report lies on the true side with probability t and is otherwise uniform on the other
side, which is `odds` times as large. The largest ratio of probabilities is odds * t / (1 - t):
k-RR has odds k - 1, a coin has odds 1, a set of c among K reports has odds (K - c) / c.
"""

from __future__ import annotations

from fractions import Fraction

from deniable._validate import near
from deniable.errors import InvalidParameter
from deniable.protocol.thresholds import ONE, as_fraction


def truth_ratio(odds: Fraction | int, truth: int) -> Fraction:
    """Return odds * t / (1 - t), the largest ratio of the probabilities of one report."""
    return odds * Fraction(truth, ONE - truth)


def check_truth(name: str, owner: str, truth: int, odds: Fraction | int) -> None:
    """Raise InvalidParameter unless a report says something, but nothing for certain."""
    if truth == ONE:
        raise InvalidParameter(
            f"{owner} would report nothing but the truth.", "Use a smaller 'epsilon'."
        )
    if not truth_ratio(odds, truth) > 1:
        raise InvalidParameter(
            f"The '{name}' threshold of {owner} must be above {near(Fraction(1, 1 + odds))} "
            f"(got {near(as_fraction(truth))}): at or below it a report says nothing.",
            "Raise 'epsilon'.",
        )
