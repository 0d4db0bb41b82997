"""Knowing a device again by its reports, and seeing that its value has changed.

Model: a permanent response of k bits, each 1 with probability b, is reported n times before and m
times after. The attacker counts the ones of each bit, c before and d after:

    P(c, d) = b B(c; n, q) B(d; m, q) + (1 - b) B(c; n, p) B(d; m, p)      the same response
    P(c) P(d)                                                             two different ones

with B the binomial probability. The likelihood ratio of all bits is the best score. "The same" is
one device that kept its value, "different" is another device of the same cohort, or the same device
after its value has changed: a new value has a response of its own. `area` is the probability that
the score of a same pair is above that of a different pair: 1/2 is blind, 1 is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from deniable._distributions import binomial_pmf
from deniable.mechanisms.base import Floats
from deniable.protocol import Parameters, Question
from deniable.protocol.channel import (
    Bits,
    Points,
    Product,
    Rest,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
)


@dataclass(frozen=True)
class Linked:
    """The success of linking pairs of reports.

    Attributes:
        area: under the ROC curve, as above.
        alike: the share of different pairs whose score is at least the median score of same pairs.
            Times the people of a cohort it is the crowd in which a device hides.
    """

    area: float
    alike: float


def linkable(
    question: Question, parameters: Parameters, n: int, pairs: int, rng: np.random.Generator
) -> Linked:
    """Return the success of deciding from n reports before and n after if the response is the same.

    Guarantees: exact laws, simulated pairs.

    Edge cases: a question that is asked once leaves nothing to link. Where every report draws
    afresh, given the cohort nothing links either. Permanent reports are equal, so that only
    chance makes different ones look the same.

    Args:
        question: for its `repeat`.
        parameters: of the field.
        n: reports on each side.
        pairs: simulated, of each kind.
        rng: the only source of randomness.
    """
    if question.repeat == "once":
        return Linked(0.5, 1.0)
    if question.repeat == "permanent":
        equal = chance_equal(parameters)
        return Linked(1 - equal / 2, equal)
    if not parameters.memoised:
        return Linked(0.5, 1.0)
    rest = parameters.channel.typical
    match rest, rest.stages:
        case Bits(), (Bits() as first, Bits() as then):
            return _compared(*_bits(first, then, n, pairs, rng))
        case Symbol(), (_, Symbol() as then):
            return _compared(*_symbols(then, n, pairs, rng))
    raise unknown_kind("linking of permanent responses", rest)


def chance_equal(parameters: Parameters) -> float:
    """Return the probability that two devices of one cohort send the same record, about.

    Numbers that are drawn afresh must be the same, too: at most the likeliest one's chance. All
    rests but bits are taken as equally likely, which they nearly are.
    """
    channel = parameters.channel
    drawn = (
        max(chance / count for count, chance in number.blocks or ((1, Fraction(1)),))
        for number in channel.numbers
        if not number.permanent
    )
    return float(prod(drawn)) * max(_equal(rest) for rest in channel.rests)


def _equal(rest: Rest) -> float:
    match rest:
        case Bits():
            p = float(rest.zero)
            return float((p * p + (1 - p) ** 2) ** rest.width)
        case Product():
            return prod(_equal(part) for part in rest.parts)
        case Symbol() | Sign() | Subset() | Points():
            return 1 / rest.count
    raise unknown_kind("chance of equal records", rest)


def _compared(same: Floats, different: Floats) -> Linked:
    # Mann and Whitney's count of the pairs in which the first is larger; ties count a half.
    ordered = np.sort(different)
    below = [np.searchsorted(ordered, same, side=side).sum() for side in ("left", "right")]
    above = sum(map(float, below)) / 2
    alike = float((different >= np.median(same)).mean())
    return Linked(float(above / (len(same) * len(different))), alike)


def _bits(
    first: Bits, then: Bits, n: int, pairs: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the scores of pairs of the same response and of different ones."""
    b, q, p = (float(chance) for chance in (first.zero, then.one, then.zero))
    high, low = (binomial_pmf(np.arange(n + 1), n, chance) for chance in (q, p))
    same = b * np.outer(high, high) + (1 - b) * np.outer(low, low)
    single = b * high + (1 - b) * low
    apart = np.outer(single, single)
    possible = (same > 0) & (apart > 0)
    score = np.zeros_like(same)
    score[possible] = np.log(same[possible] / apart[possible])
    score[(same == 0) & (apart > 0)] = -1e6  # cannot be the same response
    scores = score.ravel()
    return (
        rng.multinomial(first.width, _normal(same), size=pairs) @ scores,
        rng.multinomial(first.width, _normal(apart), size=pairs) @ scores,
    )


def _normal(chances: Floats) -> Floats:
    flat = chances.ravel()
    return np.asarray(flat / flat.sum())


def _symbols(then: Symbol, n: int, pairs: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the numbers of common symbols of pairs of the same response and of different ones.

    The permanent responses are drawn uniformly.
    """
    k, report = then.size, float(then.keep)

    def reported(kept: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
        moved = (kept[:, None] + rng.integers(1, k, size=(pairs, n))) % k
        return np.where(rng.random((pairs, n)) < report, kept[:, None], moved).astype(np.float64)

    one, other = (rng.integers(0, k, size=pairs) for _ in range(2))

    def common(first: Floats, second: Floats) -> Floats:
        return np.asarray((first[:, :, None] == second[:, None, :]).sum(axis=(1, 2)) * 1.0)

    return common(reported(one), reported(one)), common(reported(one), reported(other))
