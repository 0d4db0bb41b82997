"""An imagined crowd through prefix growth: the odds that a beginning needs to be kept.

Model: N strings of share f each, and beginnings that nobody holds, whose estimates are noise. The
evidence of every beginning is weighed as in a real discovery (`evidence.py`), level by level; of M
extensions that nobody holds only those that look best matter, and these are drawn directly: the
largest of M standard normal numbers are Phi^-1(1 - U / M) for the points U of a Poisson process.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable._distributions import normal_isf
from deniable.discover.prefixes.chance_of_finding import Group, Hurdle
from deniable.discover.prefixes.evidence import Beliefs, Places
from deniable.mechanisms.base import Floats

_LOOKED_AT = 20
"""Extensions of the first level that are weighed, times the beam."""
_OF_REAL = 60
_OF_OTHERS = 8
"""Extensions that are weighed of a beginning that somebody holds, and of one that nobody does."""


def imagined_levels(
    groups: Sequence[Group],
    extensions: Sequence[int],
    frequency: float,
    beam: int,
    rng: np.random.Generator,
) -> list[Hurdle]:
    """Return the hurdles of every level for one of 1 / f strings of share f.

    Cost: the evidence of about 20 times the beam, per level: hundredths of a second.

    Args:
        groups: of the levels.
        extensions: of one beginning, per level.
        frequency: f.
        beam: how many beginnings are kept.
        rng: the only source of randomness.
    """
    beliefs, real = Beliefs.first(groups[0].noise), np.array([-1])
    hurdles = []
    for level, (group, count) in enumerate(zip(groups, extensions, strict=True)):
        strings = np.arange(max(1, int(1 / frequency))) if level == 0 else real[real >= 0]
        parents = (
            np.zeros(len(strings), dtype=np.int64) if level == 0 else np.flatnonzero(real >= 0)
        )
        held = frequency + group.deviation(frequency) * rng.standard_normal(len(strings))
        others, noise = _others(real, count, beam, level, rng)
        rows = np.concatenate([parents, others])
        estimates = np.concatenate([held, noise * group.noise])
        odds, after = beliefs.update(rows, np.full(len(rows), count), estimates, group)
        order = np.argsort(-odds, kind="stable")[:beam]
        full = len(real) * count > beam
        hurdles.append(Hurdle(group, count, float(odds[order[-1]]) if full else -np.inf))
        real = np.concatenate([strings, np.full(len(others), -1)])[order]
        beliefs = after.rows(order)
    return hurdles


def _others(
    real: Places, count: int, beam: int, level: int, rng: np.random.Generator
) -> tuple[Places, Floats]:
    """Return extensions that nobody holds: their parents and their noise."""
    most = np.where(real >= 0, _OF_REAL, _LOOKED_AT * beam if level == 0 else _OF_OTHERS)
    weighed = np.minimum(most, count)
    # Poisson(w) uniform points on 0..w are a Poisson process of rate 1: the ranks of the largest.
    sizes = np.minimum(rng.poisson(weighed), count)
    parents = np.repeat(np.arange(len(real)), sizes)
    tails = rng.random(len(parents)) * np.repeat(weighed, sizes) / count
    return parents, np.asarray(normal_isf(tails))
