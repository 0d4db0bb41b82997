"""The verdict on a table: coverage of 95% intervals, errors of 5% tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from _honesty.kept import Line, summary
from deniable._distributions import binomial_isf, binomial_sf, normal_isf, normal_sf

MEAN, LEAST, RATE = 0.94, 0.915, 0.05
"""The least mean coverage of a cell, the least coverage of an exact share, the level of tests."""
FAR, TOO_FAR = 2.0, 4.5
"""Standard errors beyond which few cells may lie, and none."""
ALPHA = 0.001
"""P(more cells beyond two standard errors than are allowed | every cell keeps its promise)."""
RATES = ("false share", "type I error of pairs")
ONCE = ("family-wise error", "type I error")
"""Errors that a run makes or not: their numbers are binomial, and read as such."""


def distance(line: Line) -> float | None:
    """Return by how many standard errors a number breaks its promise; None if it makes none."""
    if line.runs == 0 or not line.std_error:
        return None
    if line.measure in ONCE:
        # Two errors in two runs are no six standard errors: their chance at 5% is 1 in 400.
        by_chance = binomial_sf(round(line.value * line.runs) - 1, line.runs, RATE)
        return float(normal_isf(by_chance)) if by_chance < 1 else -math.inf
    if line.measure.startswith("coverage"):
        return (MEAN - line.value) / line.std_error
    return (line.value - RATE) / line.std_error if line.measure in RATES else None


@dataclass(frozen=True)
class Verdict:
    """The verdict on one measure of one kind of answer.

    Attributes:
        kind, measure: of which numbers.
        cells: how many there are.
        mean: of the values.
        worst: the line that is farthest off.
        far: how many lie beyond two standard errors.
        allowed: how many chance allows.
        broken: the lines that nothing excuses.
    """

    kind: str
    measure: str
    cells: int
    mean: float
    worst: Line
    far: int
    allowed: int
    broken: tuple[Line, ...]

    @property
    def kept(self) -> bool:
        """Whether all promises are kept."""
        return not self.broken and self.far <= self.allowed


def verdicts(lines: Iterable[Line]) -> list[Verdict]:
    """Return a verdict for every kind and measure that makes a promise."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.kind, line.measure), []).append(line)
    return [
        found
        for (kind, measure), group in sorted(groups.items())
        if (found := _judged(kind, measure, group)) is not None
    ]


def _judged(kind: str, measure: str, group: Sequence[Line]) -> Verdict | None:
    mean = sum(line.value for line in group) / len(group)
    if measure in ("exact coverage", "least exact coverage"):
        if measure == "exact coverage":  # over the answers of all populations
            group = summary(group)
        least = MEAN if measure == "exact coverage" else LEAST
        broken = tuple(line for line in group if line.value < least)
        worst = min(group, key=lambda line: line.value)
        return Verdict(kind, measure, len(group), mean, worst, 0, 0, broken)
    far = [(away, line) for line in group if (away := distance(line)) is not None]
    if not far:
        return None
    allowed = binomial_isf(ALPHA, len(far), float(normal_sf(FAR)))
    return Verdict(
        kind,
        measure,
        len(far),
        mean,
        max(far, key=lambda pair: pair[0])[1],
        sum(away > FAR for away, _ in far),
        allowed,
        tuple(line for away, line in far if away > TOO_FAR),
    )
