"""Detection of crafted reports: tests of properties that all honest reports have.

Three looks at the reports of one question and epoch, each from another device:

- the public part: each number is drawn by its law, whatever people answer. Crafted
  reports about many attributes gain most if all are about one of them, which this look detects;
- the number of ones of a row of bits: the sum of a binomial number among the bits that an answer
  sets and one among the others, averaged over the number of different bits that h hash functions
  hit; where an answer may set any bits, between that of none and of all;
- equal records: at most as many pairs as if all people gave one answer.

An attacker who draws the rest of a record as honest clients do passes all of them. So silence
proves nothing; the bound that holds against everybody is leverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable._distributions import binomial_pmf, binomial_sf, poisson_sf
from deniable.audit.channel_checks import as_declared
from deniable.audit.findings import ALPHA, Finding
from deniable.audit.hypotheses import goodness_of_fit
from deniable.audit.reading import Whole, parts_of, public_columns
from deniable.mechanisms.base import Floats
from deniable.privacy.average_case import stirling
from deniable.protocol import Parameters, Question
from deniable.protocol.channel import (
    Bits,
    Channel,
    Points,
    Product,
    Rest,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
)

FEWEST = 1_000
"""The fewest reports that are looked at; fewer say too little."""
FEWEST_ROWS = 100
"""The fewest reports with one number of bits that are looked at."""

MOST_PAIRS = 0.1
"""Equal records are looked at only where honest people make at most 0.1 pairs per report."""


@dataclass(frozen=True)
class Advice:
    """The result of one look.

    Attributes:
        look: its name.
        p_value: the probability that honest reports look as strange, or stranger.
    """

    look: str
    p_value: float


def field_records(question: Question, records: bytes) -> list[NDArray[Any]]:
    """Return whole records of a question as one structured array per field."""
    table = np.frombuffer(records, dtype=np.uint8).reshape(-1, question.record_size)
    arrays, start = [], 0
    for field in question.fields:
        layout = field.parameters.layout
        part = np.ascontiguousarray(table[:, start : start + layout.size])
        arrays.append(part.view(np.dtype(layout.descr)).ravel())
        start += layout.size
    return arrays


def advise(parameters: Parameters, reports: NDArray[Any]) -> list[Advice]:
    """Return the result of each look at the reports of one epoch; none below 1,000 reports.

    Cost: linear in the reports, and a sort.

    Args:
        parameters: of the mechanism.
        reports: a structured array of its records.
    """
    if len(reports) < FEWEST:
        return []
    channel = parameters.channel
    columns = public_columns(channel, reports)
    looks = [
        Advice(f"the {number.name}", as_declared(column, number.blocks).p_value)
        for number, column in zip(channel.numbers, columns, strict=True)
        if number.blocks and sum(count for count, _ in number.blocks) > 1
    ]
    for rest, rows in _by_rest(channel, columns, len(reports)):
        items = [name for name in reports.dtype.names or () if name not in channel.names]
        for item, part in zip(items, parts_of(rest), strict=True):
            looks += _rest_looks(part, reports[item][rows])
    return [*looks, *_equal(parameters, reports)]


def advice_finding(
    about: str, advice: Sequence[Advice], reports: int, alpha: float = ALPHA
) -> Finding:
    """Return one finding for all looks at a field; it is advice, so that it always holds.

    Guarantees: honest reports of independent devices are called strange with probability at most
    alpha, the false-alarm rate.
    """
    name = "advice on crafted reports"
    if not advice:
        return Finding(about, name, True, "nothing to look at: few reports, or no hold", {})
    worst = min(advice, key=lambda one: one.p_value)
    p_value = min(1.0, worst.p_value * len(advice))
    strange = p_value < alpha
    words = f"{len(advice)} looks at {reports:,} reports, nothing strange"
    if strange:
        words = f"STRANGE: {worst.look} of {reports:,} reports"
    numbers = {"strange": strange, "p_value": p_value, "false_alarm": alpha, "reports": reports}
    return Finding(about, name, True, f"{words}, corrected p-value {p_value:.3g}", numbers)


def _by_rest(
    channel: Channel, columns: Sequence[Whole], count: int
) -> Iterator[tuple[Rest, NDArray[np.bool_]]]:
    """Yield every kind of rest that occurs, and the reports that have it."""
    if not channel.examples:
        yield channel.typical, np.ones(count, dtype=bool)
        return
    kinds: dict[Rest, list[int]] = {}
    for first in np.unique(columns[0]).tolist():
        kinds.setdefault(channel.rest((first, *channel.examples[0][1:])), []).append(first)
    for rest, firsts in kinds.items():
        yield rest, np.isin(columns[0], firsts)


def _rest_looks(rest: Rest, sent: NDArray[Any]) -> Iterator[Advice]:
    """Yield the looks at the rests of reports; only rows of bits have a law of their own.

    Any symbol, sign, set or point may be an honest one, whatever the others are.
    """
    match rest:
        case Bits():
            ones = np.unpackbits(sent, axis=1).sum(axis=1, dtype=np.int64)
            if rest.drawn and len(ones) >= FEWEST_ROWS:
                counts = np.bincount(ones, minlength=rest.width + 1)
                p_value = goodness_of_fit(counts, ones_law(rest)).p_value
                yield Advice(f"the number of ones among {rest.width:,}", p_value)
            elif rest.most == rest.width > 1:
                yield _ones_between(rest, ones)
            # Sets of a few members, and a single bit, have no known law.
        case Symbol() | Sign() | Subset() | Points():
            return
        case _:
            raise unknown_kind("detection of crafted reports", rest)


def ones_law(rest: Bits) -> Floats:
    """Return the probability of 0, 1, ... k ones in a report, over all hash functions.

    d different bits are hit by h functions with probability C(k, d) d! S(h, d) / k^h, S the
    Stirling numbers of the second kind; the ones are then Bin(d, q*) + Bin(k - d, p*).

    Accuracy: exact for one bit per answer. With several hash functions it is the mean over them:
    where most people hold one string and cohorts are few, that string's own collisions differ
    from the mean, which a million reports could show.
    """
    k, h = rest.width, rest.drawn
    q, p = float(rest.one), float(rest.zero)
    law = np.zeros(k + 1)
    for d in range(1, h + 1):
        chance = prod(range(k - d + 1, k + 1)) * stirling(h, d) / k**h
        own = binomial_pmf(np.arange(d + 1), d, q)
        others = binomial_pmf(np.arange(k - d + 1), k - d, p)
        law += chance * np.convolve(own, others)
    return np.asarray(law / law.sum())


def _ones_between(rest: Bits, ones: Whole) -> Advice:
    """Compare the numbers of reports with many ones, or few, with the most any answers explain.

    Where an answer may set any bits, ones are at most those of an answer that sets all, and at
    least those of one that sets none, in distribution.
    """
    width, worst = rest.width, 1.0
    for count in range(width + 1):
        above = float(binomial_sf(count - 1, width, float(rest.one)))
        below = float(binomial_sf(count - 1, width, float(1 - rest.zero)))
        many, few = int((ones >= count).sum()), int((ones <= width - count).sum())
        for found, chance in ((many, above), (few, below)):
            worst = min(worst, float(binomial_sf(found - 1, len(ones), chance)))
    return Advice("the number of ones", min(1.0, 2 * (width + 1) * worst))


def _equal(parameters: Parameters, reports: NDArray[Any]) -> Iterator[Advice]:
    n = len(reports)
    pairs = n * (n - 1) / 2
    expected = pairs * most_equal(parameters)
    if expected > MOST_PAIRS * n:
        return  # few different records are possible: equal ones say nothing
    raw = reports.view(np.dtype((np.void, reports.dtype.itemsize)))
    _, counts = np.unique(raw, return_counts=True)
    found = float((counts * (counts - 1) / 2).sum())
    yield Advice("the number of equal records", float(poisson_sf(found - 1, expected)))


def most_equal(parameters: Parameters) -> float:
    """Return a bound on the probability that two devices send the same record.

    Two devices must have the same public part: at most the likeliest one's chance. Then the rest is
    the same with at most the chance of its likeliest value; with bits, that of two devices with one
    answer.
    """
    channel = parameters.channel
    drawn = [max(c / n for n, c in number.blocks or ((1, 1),)) for number in channel.numbers]
    return float(prod(drawn)) * max(likeliest(rest) for rest in channel.rests)


def likeliest(rest: Rest) -> float:
    """Return a bound on the probability that two devices' rests are the same."""
    match rest:
        case Bits():
            one, zero = (float(c * c + (1 - c) ** 2) for c in (rest.one, rest.zero))
            held = (1 if rest.drawn else 0, rest.most)
            return max(float(one**h * zero ** (rest.width - h)) for h in held)
        case Product():
            return prod(likeliest(part) for part in rest.parts)
        case Symbol():
            return float(max(rest.keep, rest.move))
        case Sign():
            return float(rest.keep)
        case Subset():
            return float(rest.include / comb(rest.of - 1, rest.take - 1))
        case Points():
            return float(rest.inside / rest.inner)
    raise unknown_kind("chance of equal records", rest)
