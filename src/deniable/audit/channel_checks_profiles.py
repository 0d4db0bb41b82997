"""Statistical checks of sampled reports about profiles against the exact channel.

The public part of a report must be drawn as declared. Given the public part, the rest must have the
profile's exact probabilities. Where few different reports are possible, all of them are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from deniable._distributions import binomial_pmf
from deniable.audit.channel_checks import BINS, MOST_CELLS, free_ones
from deniable.audit.hypotheses import Check, goodness_of_fit, proportion, spread
from deniable.audit.profile_reading import (
    BITS,
    Blocks,
    Public,
    bit_chances,
    items_of,
    kept_chance,
    own_rest,
    public_blocks,
    rest_chance,
    room,
    shown_by,
)
from deniable.audit.reading import Bools, Record, Whole
from deniable.mechanisms.base import Floats
from deniable.protocol import Answer, InpEMParameters, ProfileParameters

Side = tuple[Answer, Sequence[Record]]
"""A profile, and reports of devices that hold it."""

FEWEST = 100
"""The fewest reports with one probability that are tested."""


def profile_checks(parameters: ProfileParameters, sides: Sequence[Side]) -> list[Check]:
    """Return the checks of reports of some profiles, each report from another device."""
    checks = list(_about(parameters, [record for _, records in sides for record in records]))
    if isinstance(parameters, BITS):
        return [*checks, *_bits(parameters, sides)]
    for answer, records in sides:
        checks += _all_reports(parameters, answer, records)
        checks += _moved(parameters, answer, records)
    return checks + list(_kept(parameters, sides))


def log_ratios(
    parameters: ProfileParameters, one: Answer, other: Answer, records: Sequence[Record]
) -> Floats:
    """Return ln P(report | one profile) - ln P(report | other profile), report by report."""

    @cache
    def symbol(public: Public, rest: int) -> float:
        mine, theirs = (rest_chance(parameters, who, public, rest) for who in (one, other))
        return math.log(mine / theirs)

    @cache
    def places(public: Public) -> list[tuple[int, float, float]]:
        """Return the bits that tell both profiles apart, with the log ratios of a 1 and a 0."""
        count = room(parameters, public)
        laws = [
            bit_chances(parameters, own_rest(parameters, a, public), count) for a in (one, other)
        ]
        return [
            (place, math.log(a / b), math.log((1 - a) / (1 - b)))
            for place, (a, b) in enumerate(zip(*laws, strict=True))
            if a != b
        ]

    found = []
    for record in records:
        public, rest = shown_by(parameters, record)
        if isinstance(parameters, BITS):
            says = (up if rest >> place & 1 else down for place, up, down in places(public))
            found.append(math.fsum(says))
        else:
            found.append(symbol(public, rest))
    ratios: Floats = np.array(found, dtype=np.float64)
    return np.asarray(ratios.round(9))


def _about(parameters: ProfileParameters, records: Sequence[Record]) -> Iterator[Check]:
    """Check that the public parts of reports are drawn as declared."""
    names = items_of(parameters)
    shown = np.array([shown_by(parameters, record)[0] for record in records], dtype=np.int64)
    for name, blocks in public_blocks(parameters).items():
        if sum(count for count, _ in blocks) > 1:
            yield as_declared(shown[:, names.index(name)], blocks)


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


def _all_reports(
    parameters: ProfileParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[Check]:
    """Check the counts of all possible reports where they are few, for mechanisms of one symbol."""
    seen = Counter(shown_by(parameters, record) for record in records)
    blocks = public_blocks(parameters)
    if len(blocks) > 1 or list(items_of(parameters)) != list(blocks):
        return
    ((_, drawn),) = blocks.items() if blocks else (("", [(1, Fraction(1))]),)
    law: dict[tuple[Public, int], float] = {}
    first = 0
    for count, chance in drawn:
        for number in range(first, first + count):
            public = (number,) if blocks else ()
            size = room(parameters, public)
            if len(law) + size > MOST_CELLS:
                return
            for rest in range(size):
                given = rest_chance(parameters, answer, public, rest)
                law[public, rest] = float(given * chance / count)
        first += count
    if sum(seen.values()) > sum(seen[outcome] for outcome in law):
        yield Check("only possible reports are sent", 1.0, 0.0)
        return
    yield goodness_of_fit([seen[outcome] for outcome in law], list(law.values()))


def _kept(parameters: ProfileParameters, sides: Sequence[Side]) -> Iterator[Check]:
    """Check the share of the profile's own cell, symbol or sign, over all reports together."""
    trials: Counter[Fraction] = Counter()
    kept: Counter[Fraction] = Counter()
    for answer, records in sides:
        known = cache(
            lambda public, answer=answer: (
                own_rest(parameters, answer, public),
                kept_chance(parameters, answer, public),
            )
        )
        for record in records:
            public, rest = shown_by(parameters, record)
            own, chance = known(public)
            trials[chance] += 1
            kept[chance] += rest == own
    for chance, count in trials.items():
        if count >= FEWEST:
            yield proportion(kept[chance], count, float(chance))


def _moved(
    parameters: ProfileParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[Check]:
    """Check that a rest that is not the profile's own is uniform on the others, by table size."""
    offsets: dict[int, list[int]] = {}
    for record in records:
        public, rest = shown_by(parameters, record)
        size = room(parameters, public)
        offset = (rest - own_rest(parameters, answer, public)) % size
        if offset:
            offsets.setdefault(size, []).append(offset - 1)
    for size, found in offsets.items():
        if size > 2 and len(found) >= FEWEST:
            yield as_declared(np.array(found, dtype=np.int64), [(size - 1, Fraction(1))])


def _bits(parameters: ProfileParameters, sides: Sequence[Side]) -> Iterator[Check]:
    """Check bits: the profile's own, all others, each place, and the number of ones."""
    tables = [bit_tables(parameters, *side) for side in sides]
    shown, held = (np.concatenate(parts) for parts in zip(*tables, strict=True))
    records = [record for _, side in sides for record in side]
    if isinstance(parameters, InpEMParameters):
        keep = float(parameters.support[0])
        right, count = shown == held, parameters.width
        yield proportion(int(right.sum()), right.size, keep)
        yield spread(right.sum(axis=0) - len(right) * keep, len(right) * keep * (1 - keep))
        law = binomial_pmf(np.arange(count + 1), count, keep)
        ones = np.bincount(right.sum(axis=1), minlength=count + 1)
        yield goodness_of_fit(ones, law / law.sum())
        return
    one, zero = (float(chance) for chance in parameters.support)
    sizes = np.array([room(parameters, shown_by(parameters, record)[0]) for record in records])
    others = (np.arange(shown.shape[1]) < sizes[:, None]) & ~held
    yield proportion(int((shown & held).sum()), len(records), one)
    yield proportion(int((shown & others).sum()), int(others.sum()), zero)
    trials = others.sum(axis=0)
    busy = trials * zero * (1 - zero) > 10
    if busy.any():
        away = (shown & others).sum(axis=0) - trials * zero
        yield spread(away[busy], (trials * zero * (1 - zero))[busy])
    yield from free_ones(shown & others, others, zero)


def bit_tables(
    parameters: ProfileParameters, answer: Answer, records: Sequence[Record]
) -> tuple[Bools, Bools]:
    """Return the reported bits, and those that are 1 for the profile, a row per report."""
    packed = b"".join(bits for record in records if isinstance(bits := record["bits"], bytes))
    table = np.frombuffer(packed, dtype=np.uint8).reshape(len(records), -1)
    shown = np.unpackbits(table, axis=1, bitorder="little").astype(bool)
    if isinstance(parameters, InpEMParameters):
        shown = shown[:, : parameters.width]
    held = np.zeros_like(shown)
    own = cache(lambda public: own_rest(parameters, answer, public))
    for row, record in zip(held, records, strict=True):
        cell = own(shown_by(parameters, record)[0])
        if isinstance(parameters, InpEMParameters):
            row[:] = [cell >> place & 1 for place in range(parameters.width)]
        else:
            row[cell] = True
    return shown, held
