"""Statistical checks of sampled reports against the exact channel.

The public part of a report must be drawn as declared. Given the public part, the rest must have the
exact probabilities of the answer: by kind of rest the own bits and the others, the symbol relative
to the answer's own, the support. Where few different reports are possible, all of them are counted.
Together the checks cover every probability that the mechanism has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import prod

import numpy as np

from deniable._distributions import binomial_pmf
from deniable.audit.hypotheses import Check, goodness_of_fit, proportion, spread
from deniable.audit.reading import Bools, Report, Said, Whole, kept_chance, said, support_of
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, Parameters
from deniable.protocol.channel import (
    Bits,
    Blocks,
    Channel,
    Points,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
    whole,
)

MOST_CELLS = 4_096
BINS = 64
FEWEST = 100
"""The fewest reports with one law that are tested."""
ROOM = 10
"""The fewest expected ones, and zeros, of a place whose share is tested."""

Side = tuple[Answer, Sequence[Report]]
"""An answer, and reports of devices that hold it."""


def channel_checks(parameters: Parameters, sides: Sequence[Side]) -> list[Check]:
    """Return the checks of reports of some answers, each report from another device."""
    channel = parameters.channel
    checks = list(_public(channel, [report for _, reports in sides for report in reports]))
    together: dict[tuple[int, object], Said] = {}
    for answer, reports in sides:
        checks += _every_report(channel, answer, reports)
        for group in said(channel, answer, reports):
            both = together.setdefault((group.part, group.rest), group)
            if both is not group:
                both.owns.extend(group.owns)
                both.values.extend(group.values)
    for group in together.values():
        if len(group.values) >= FEWEST:
            checks += _rest_checks(group)
    return checks


def _public(channel: Channel, reports: Sequence[Report]) -> Iterator[Check]:
    """Check that the public parts of reports are drawn as declared."""
    for place, number in enumerate(channel.numbers):
        if number.blocks and sum(count for count, _ in number.blocks) > 1:
            yield as_declared(np.array([public[place] for public, _ in reports]), number.blocks)


def as_declared(values: Whole, blocks: Blocks) -> Check:
    """Test that numbers are drawn by blocks of equal probability, each in up to 64 ranges."""
    edges, chances, first = [0], [], 0
    for count, chance in blocks:
        bins = min(count, BINS)
        ends = [count * i // bins for i in range(bins + 1)]
        edges += [first + end for end in ends[1:]]
        chances += [float(chance * Fraction(b - a, count)) for a, b in pairwise(ends)]
        first += count
    counts = np.histogram(values, bins=edges)[0]
    counts[-1] += int((values >= first).sum())
    return goodness_of_fit(counts, np.array(chances))


def _every_report(channel: Channel, answer: Answer, reports: Sequence[Report]) -> Iterator[Check]:
    """Check the counts of all possible reports, where they are few."""
    if prod(channel.sizes) * min(rest.count for rest in channel.rests) > MOST_CELLS:
        return
    law: dict[Report, float] = {}
    for public, drawn in channel.publics():
        rest, own = channel.rest(public), channel.own(answer, public)
        if len(law) + rest.count > MOST_CELLS:
            return
        law.update({(public, v): float(drawn * rest.chance(own, v)) for v in rest.values()})
    seen = Counter(reports)
    if any(report not in law for report in seen):
        yield Check("only possible reports are sent", 1.0, 0.0)
        return
    yield goodness_of_fit([seen[report] for report in law], list(law.values()))


def _rest_checks(group: Said) -> Iterator[Check]:
    """Check what reports say, by their kind of rest."""
    match group.rest:
        case Bits():
            yield from _bits(group, group.rest)
        case Symbol():
            yield _symbols(group, group.rest)
        case Sign() | Subset() | Points():
            yield from _supports(group)
        case _:
            raise unknown_kind("check of sampled reports", group.rest)


def _bits(group: Said, rest: Bits) -> Iterator[Check]:
    """Check bits: those of the answer, all others, each place, and the numbers of ones."""
    shown, held = group.tables()
    one, zero = float(rest.one), float(rest.zero)
    for mask, chance in ((held, one), (~held, zero)):
        if mask.any():
            yield proportion(int((shown & mask).sum()), int(mask.sum()), chance)
            yield from _ones(shown & mask, mask, chance)
    chances = np.where(held, one, zero)
    variance = (chances * (1 - chances)).sum(axis=0)
    busy = variance > ROOM
    if busy.any():
        yield spread((shown - chances).sum(axis=0)[busy], variance[busy])


def _ones(shown: Bools, among: Bools, chance: float) -> Iterator[Check]:
    """Check the number of ones among the bits with one chance.

    It has another law where coins are not independent. Only rows with the most frequent number of
    such bits count; the others are left out.
    """
    counts = among.sum(axis=1)
    usual = int(np.bincount(counts).argmax())
    rows = counts == usual
    if usual < 2 or int(rows.sum()) < FEWEST:
        return
    law: Floats = binomial_pmf(np.arange(usual + 1), usual, chance)
    ones = np.bincount(shown[rows].sum(axis=1), minlength=usual + 1)
    yield goodness_of_fit(ones, law / law.sum())


def _symbols(group: Said, rest: Symbol) -> Check:
    """Check the symbol relative to the answer's own; many symbols are counted in ranges."""
    pairs = zip(group.values, group.owns, strict=True)
    offsets = np.array([(whole(v) - whole(o)) % rest.size for v, o in pairs], dtype=np.int64)
    bins = min(rest.size - 1, BINS)
    edges = [1 + (rest.size - 1) * i // bins for i in range(bins + 1)]
    counts = np.histogram(offsets, bins=[0, *edges[:-1], rest.size])[0]
    keep = float(rest.keep)
    moved = np.diff(edges) / (rest.size - 1) * (1 - keep)
    return goodness_of_fit(counts, np.array([keep, *moved]))


def _supports(group: Said) -> Iterator[Check]:
    """Check the share of reports that support their answer, by its chance."""
    supports, chance_of = support_of(group.rest), cache(lambda own: kept_chance(group.rest, own))
    trials: Counter[float] = Counter()
    kept: Counter[float] = Counter()
    for own, value in zip(group.owns, group.values, strict=True):
        chance = chance_of(own)
        trials[chance] += 1
        kept[chance] += supports(own, value)
    for chance, count in trials.items():
        if count >= FEWEST:
            yield proportion(kept[chance], count, chance)


def permanence_checks(
    parameters: Parameters, answer: Answer, devices: Sequence[Sequence[Report]]
) -> Iterator[Check]:
    """Check several reports of each device: they must come from one permanent response.

    Of n reports of a device, a bit is 1 in c of them with probability

        a B(c; n, q) + (1 - a) B(c; n, p),

    B the binomial probability and a = P(permanent 1); a response that is drawn anew for every
    report would have B(c; n, q*) instead. Of symbols the answer's own is counted.
    """
    n = len(devices[0])
    for group in said(parameters.channel, answer, [r for reports in devices for r in reports]):
        match group.rest, group.rest.stages:
            case Bits(), (Bits() as first, Bits() as then):
                shape = (len(devices), n, first.width)
                shown, held = (table.reshape(shape) for table in group.tables())
                ones = shown.sum(axis=1)
                for mask, chance in ((held[:, 0], first.one), (~held[:, 0], first.zero)):
                    if mask.any():
                        yield _mixture(ones[mask], n, chance, then.one, then.zero)
            case Symbol(), (Symbol() as first, Symbol() as then):
                own = [o == v for o, v in zip(group.owns, group.values, strict=True)]
                counts = np.array(own).reshape(len(devices), n).sum(axis=1)
                yield _mixture(counts, n, first.keep, then.keep, then.move)
            case rest, _:
                raise unknown_kind("check of a permanent response", rest)


def _mixture(counts: Whole, n: int, first: Fraction, one: Fraction, zero: Fraction) -> Check:
    a, q, p = (float(chance) for chance in (first, one, zero))
    places = np.arange(n + 1)
    law = a * binomial_pmf(places, n, q) + (1 - a) * binomial_pmf(places, n, p)
    return goodness_of_fit(np.bincount(counts, minlength=n + 1), law / law.sum())
