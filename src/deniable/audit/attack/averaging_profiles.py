"""The averaging attack on reports about profiles: which of two profiles does a device hold?

Model: two profiles differ as much as two can, and the attacker adds up the logarithms of the
likelihood ratios of n reports. Given its public part, a report is one profile's own, the other's
own, or neutral, so that its ratio has few values. A row of bits has the sum over the bits in which
the two profiles differ.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache

import numpy as np

from deniable.audit.answers import worst_profiles
from deniable.audit.profile_reading import (
    BITS,
    Public,
    bit_chances,
    own_rest,
    public_blocks,
    rest_chance,
    room,
)
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, MargHTParameters, ProfileParameters

MOST_THINGS = 4_096
"""The largest number of public parts to enumerate, about; a sample stands for more."""

Law = tuple[tuple[float, float], ...]
"""The logarithm of a report's likelihood ratio, and its probability."""


def profile_evidence(
    parameters: ProfileParameters, n: int, devices: int, rng: np.random.Generator
) -> Floats:
    """Return the log likelihood ratio of the profile that each device holds, after n reports."""
    first = devices // 2
    sides = [
        sign * _sums(law, n, count, rng)
        for law, sign, count in zip(
            ratio_laws(parameters), (1, -1), (first, devices - first), strict=True
        )
    ]
    return np.asarray(np.concatenate(sides).round(9))


def _sums(law: Law, n: int, devices: int, rng: np.random.Generator) -> Floats:
    values, chances = (np.array(column) for column in zip(*law, strict=True))
    return np.asarray(rng.multinomial(n, chances / chances.sum(), size=devices) @ values)


@lru_cache(maxsize=64)
def ratio_laws(parameters: ProfileParameters) -> tuple[Law, Law]:
    """Return the law of a report's ratio where the first profile is true, and where the second is.

    Accuracy: exact where reports are about at most 4,096 things.
    """
    pair = worst_profiles(parameters)
    laws: list[dict[float, float]] = [defaultdict(float), defaultdict(float)]
    for public, share in _things(parameters):
        for ratio, *chances in _outcomes(parameters, *pair, public):
            for law, chance in zip(laws, chances, strict=True):
                law[round(ratio, 9)] += share * chance
    one, other = (tuple(sorted(law.items())) for law in laws)
    return one, other


def _things(parameters: ProfileParameters) -> list[tuple[Public, float]]:
    """Return the public parts that reports can have, with probabilities: all, or a sample."""
    if isinstance(parameters, MargHTParameters):
        return _coefficients_of_tables(parameters)
    found: list[tuple[Public, float]] = [((), 1.0)]
    rng = np.random.default_rng(0)
    for blocks in public_blocks(parameters).values():
        numbers, first = [], 0
        for count, chance in blocks:
            chosen, most = list(range(count)), max(16, MOST_THINGS // len(found))
            if count > most:
                chosen = sorted(rng.choice(count, size=most, replace=False).tolist())
            each = float(chance) / len(chosen)
            numbers += [(first + number, each) for number in chosen]
            first += count
        found = [((*at, number), share * each) for at, share in found for number, each in numbers]
    return found


def _coefficients_of_tables(parameters: MargHTParameters) -> list[tuple[Public, float]]:
    tables = range(parameters.marginals)
    if len(tables) > MOST_THINGS // 16:
        tables = range(0, len(tables), len(tables) // (MOST_THINGS // 16))
    return [
        ((table, alpha), 1 / len(tables) / (parameters.cells(table) - 1))
        for table in tables
        for alpha in range(1, parameters.cells(table))
    ]


def _outcomes(
    parameters: ProfileParameters, one: Answer, other: Answer, public: Public
) -> list[tuple[float, float, float]]:
    """Return (log ratio, P under the first, P under the second profile), given the public part."""
    own = [own_rest(parameters, answer, public) for answer in (one, other)]
    if isinstance(parameters, BITS):
        return _of_bits(parameters, own, room(parameters, public))
    found, left = [], [1.0, 1.0]
    for rest in sorted(set(own) if room(parameters, public) > 2 else {0, 1}):
        mine, theirs = (float(rest_chance(parameters, a, public, rest)) for a in (one, other))
        found.append((math.log(mine / theirs), mine, theirs))
        left = [left[0] - mine, left[1] - theirs]
    return [*found, (0.0, max(left[0], 0.0), max(left[1], 0.0))]


def _of_bits(
    parameters: ProfileParameters, own: list[int], width: int
) -> list[tuple[float, float, float]]:
    laws = [bit_chances(parameters, cell, width) for cell in own]
    found = {0.0: (1.0, 1.0)}
    for mine, theirs in zip(*laws, strict=True):
        if mine == theirs:
            continue
        grown: dict[float, tuple[float, float]] = {}
        for ratio, (p, q) in found.items():
            for a, b in ((float(mine), float(theirs)), (float(1 - mine), float(1 - theirs))):
                key = round(ratio + math.log(a / b), 9)
                before = grown.get(key, (0.0, 0.0))
                grown[key] = (before[0] + p * a, before[1] + q * b)
        found = grown
    return [(ratio, p, q) for ratio, (p, q) in found.items()]
