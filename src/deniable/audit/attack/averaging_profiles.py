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
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, ProfileParameters
from deniable.protocol.channel import (
    Bits,
    Blocks,
    Channel,
    Own,
    Public,
    Sign,
    Symbol,
    unknown_kind,
    whole,
)

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
    channel, pair = parameters.channel, worst_profiles(parameters, parameters.answers)
    laws: list[dict[float, float]] = [defaultdict(float), defaultdict(float)]
    for public, share in _things(channel):
        for ratio, *chances in _outcomes(channel, *pair, public):
            for law, chance in zip(laws, chances, strict=True):
                law[round(ratio, 9)] += share * chance
    one, other = (tuple(sorted(law.items())) for law in laws)
    return one, other


def _things(channel: Channel) -> list[tuple[Public, float]]:
    """Return the public parts that reports can have, with probabilities: all, or a sample."""
    found: list[tuple[Public, float]] = [((), 1.0)]
    rng = np.random.default_rng(0)
    for number in channel.numbers:
        most = max(16, MOST_THINGS // len(found))
        shared = _numbers(number.blocks, most, rng) if number.blocks else None
        found = [
            ((*at, value), share * each)
            for at, share in found
            for value, each in shared or _numbers(number.given(at), most, rng)
        ]
    return found


def _numbers(blocks: Blocks, most: int, rng: np.random.Generator) -> list[tuple[int, float]]:
    """Return the numbers of a law with their probabilities; at most `most` of each block."""
    numbers, first = [], 0
    for count, chance in blocks:
        chosen = list(range(count))
        if count > most:
            chosen = sorted(rng.choice(count, size=most, replace=False).tolist())
        if chance:
            numbers += [(first + value, float(chance) / len(chosen)) for value in chosen]
        first += count
    return numbers


def _outcomes(
    channel: Channel, one: Answer, other: Answer, public: Public
) -> list[tuple[float, float, float]]:
    """Return (log ratio, P under the first, P under the second profile), given the public part."""
    rest = channel.rest(public)
    mine, theirs = (channel.own(answer, public) for answer in (one, other))
    match rest:
        case Bits():
            return _of_bits(rest, whole(mine), whole(theirs))
        case Symbol() | Sign():
            return _of_symbols(rest, mine, theirs)
    raise unknown_kind("averaging attack on profiles", rest)


def _of_symbols(rest: Symbol | Sign, mine: Own, theirs: Own) -> list[tuple[float, float, float]]:
    found, left = [], [1.0, 1.0]
    for value in (0, 1) if rest.count == 2 else sorted({whole(mine), whole(theirs)}):
        p, q = (float(rest.chance(own, value)) for own in (mine, theirs))
        found.append((math.log(p / q), p, q))
        left = [left[0] - p, left[1] - q]
    return [*found, (0.0, max(left[0], 0.0), max(left[1], 0.0))]


def _of_bits(rest: Bits, mine: int, theirs: int) -> list[tuple[float, float, float]]:
    found = {0.0: (1.0, 1.0)}
    for place in range(rest.width):
        if not (mine ^ theirs) >> place & 1:
            continue
        held = rest.one if mine >> place & 1 else rest.zero
        others = rest.zero if mine >> place & 1 else rest.one
        grown: dict[float, tuple[float, float]] = {}
        for ratio, (p, q) in found.items():
            for a, b in ((float(held), float(others)), (float(1 - held), float(1 - others))):
                key = round(ratio + math.log(a / b), 9)
                before = grown.get(key, (0.0, 0.0))
                grown[key] = (before[0] + p * a, before[1] + q * b)
        found = grown
    return [(ratio, p, q) for ratio, (p, q) in found.items()]
