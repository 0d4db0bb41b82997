"""Statistical checks of sampled records against the exact channel.

Each check compares the records of one answer with their exact probabilities: the symbol relative to
the answer's own, the support, the bits, the number of bits, and the items that must be uniform.
Together the checks cover every probability that the mechanism has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np

from deniable._distributions import binomial_pmf
from deniable.audit.hypotheses import Check, goodness_of_fit, proportion, spread
from deniable.audit.reading import (
    Bools,
    Record,
    Whole,
    bit_table,
    held_table,
    inside,
    number,
    public_bounds,
    supports,
    symbol_count,
    symbols_of,
)
from deniable.mechanisms.base import Floats
from deniable.protocol import (
    Answer,
    KRRParameters,
    OLHParameters,
    ORRParameters,
    Parameters,
    PGRParameters,
    PrefixesParameters,
    SubsetParameters,
)
from deniable.protocol.thresholds import ONE, as_fraction
from deniable.protocol.unary import UnaryParameters

MOST_CELLS = 4_096
BINS = 64


def channel_checks(
    parameters: Parameters, answer: Answer, records: Sequence[Record]
) -> list[Check]:
    """Return the checks of records of one answer, each record from another device."""
    checks = list(public_checks(parameters, records))
    if isinstance(parameters, PrefixesParameters):
        checks.append(groups_as_weighted(parameters, [number(r, "group") for r in records]))
    if isinstance(parameters, UnaryParameters):
        return [*checks, *bit_checks(parameters, answer, records)]
    if isinstance(parameters, KRRParameters | ORRParameters | OLHParameters):
        return [*checks, _symbols(parameters, symbols_of(parameters, answer, records))]
    supported = int(supports(parameters, answer, records).sum())
    checks.append(proportion(supported, len(records), float(parameters.support[0])))
    if isinstance(parameters, PGRParameters) and parameters.answers:
        checks += _points(parameters, answer, records)
    if isinstance(parameters, SubsetParameters):
        checks += _subsets(parameters, answer, records)
    return checks


def public_checks(parameters: Parameters, records: Sequence[Record]) -> Iterator[Check]:
    """Check that the items that do not depend on the answer are uniform, in up to 64 ranges."""
    for item, bound in public_bounds(parameters).items():
        if bound > 1:
            yield uniformity(np.array([number(record, item) for record in records]), bound)


def groups_as_weighted(parameters: PrefixesParameters, groups: Sequence[int] | Whole) -> Check:
    """Test that groups are drawn by their weights."""
    counts = np.bincount(np.asarray(groups, dtype=np.int64), minlength=parameters.groups)
    chances = np.array(parameters.weights) / parameters.total_weight
    return goodness_of_fit(counts, chances / chances.sum())


def uniformity(values: Whole, bound: int) -> Check:
    """Test that numbers below a bound are uniform, by counting them in up to 64 ranges."""
    bins = min(bound, BINS)
    edges = [bound * i // bins for i in range(bins + 1)]
    counts = np.histogram(values, bins=[*edges[:-1], bound])[0]
    return goodness_of_fit(counts, np.diff(edges) / bound)


def _symbols(parameters: Parameters, offsets: Whole) -> Check:
    """Check the symbol relative to the answer's own; many symbols are counted in ranges."""
    count, keep = symbol_count(parameters), float(parameters.support[0])
    bins = min(count - 1, BINS)
    edges = [1 + (count - 1) * i // bins for i in range(bins + 1)]
    counts = np.histogram(offsets, bins=[0, *edges[:-1], count])[0]
    moved = np.diff(edges) / (count - 1) * (1 - keep)
    return goodness_of_fit(counts, np.array([keep, *moved]))


def _points(
    parameters: PGRParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[Check]:
    if parameters.points > MOST_CELLS:
        return
    own = np.array(
        [inside(parameters, answer, {"point": point}) for point in range(parameters.points)]
    )
    within = float(as_fraction(parameters.inside))
    chances = np.where(own, within / parameters.inner, (1 - within) / parameters.outer)
    points = np.array([number(record, "point") for record in records])
    yield goodness_of_fit(np.bincount(points, minlength=parameters.points), chances)


def _subsets(
    parameters: SubsetParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[Check]:
    k, size = parameters.categories, parameters.size
    if comb(k, size) > MOST_CELLS:
        return
    p = float(parameters.support[0])
    with_it, without = p / comb(k - 1, size - 1), (1 - p) / comb(k - 1, size)
    cells = {sum(1 << i for i in chosen): chosen for chosen in combinations(range(k), size)}
    places = {packed: place for place, packed in enumerate(cells)}
    counts = np.zeros(len(cells))
    for record in records:
        bits = record["bits"]
        counts[places[int.from_bytes(bits if isinstance(bits, bytes) else b"", "little")]] += 1
    chances = [with_it if answer.code in chosen else without for chosen in cells.values()]
    yield goodness_of_fit(counts, np.array(chances))


def bit_checks(
    parameters: UnaryParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[Check]:
    """Check bits: those of the answer, all others, each place, and the number of ones."""
    shown, held = bit_table(parameters, records), held_table(parameters, answer, records)
    q, p = float(parameters.q_star), float(parameters.p_star)
    for mask, chance in ((held, q), (~held, p)):
        if mask.any():
            yield proportion(int((shown & mask).sum()), int(mask.sum()), chance)
    chances = np.where(held, q, p)
    variance = (chances * (1 - chances)).sum(axis=0)
    yield spread((shown.astype(np.float64) - chances).sum(axis=0), variance)
    yield from free_ones(shown & ~held, ~held, p)


def free_ones(shown: Bools, free: Bools, p: float) -> Iterator[Check]:
    """Check the number of ones among the bits that the answer does not set.

    It has another law where coins are not independent. Only rows with the most frequent number of
    such bits count; the others are left out.
    """
    counts = free.sum(axis=1)
    usual = int(np.bincount(counts).argmax())
    rows = counts == usual
    if usual < 2 or int(rows.sum()) < 100:
        return
    ones = shown[rows].sum(axis=1)
    chances: Floats = binomial_pmf(np.arange(usual + 1), usual, p)
    yield goodness_of_fit(np.bincount(ones, minlength=usual + 1), chances / chances.sum())


def own_support(
    parameters: Parameters, answer: Answer, records: Sequence[Record]
) -> tuple[int, int]:
    """Return the number of outcomes that support the answer, and the number of all outcomes.

    An outcome is a record; with bits, one of the bits that the answer sets.
    """
    if not isinstance(parameters, UnaryParameters):
        return int(supports(parameters, answer, records).sum()), len(records)
    held = held_table(parameters, answer, records)
    return int((bit_table(parameters, records) & held).sum()), int(held.sum())


def pooled_check(
    parameters: Parameters, sides: Sequence[tuple[Answer, Sequence[Record]]]
) -> Iterator[Check]:
    """Check the probability of support on both answers together, which has the most power."""
    counts = [own_support(parameters, answer, records) for answer, records in sides]
    successes, trials = (sum(column) for column in zip(*counts, strict=True))
    if trials:
        yield proportion(successes, trials, float(parameters.support[0]))


def permanence_checks(
    parameters: Parameters, answer: Answer, devices: Sequence[Sequence[Record]]
) -> Iterator[Check]:
    """Check several reports of each device: they must come from one permanent response.

    Of n reports of a device, a bit is 1 in c of them with probability

        a B(c; n, q) + (1 - a) B(c; n, p),

    B the binomial probability and a = P(permanent 1); a response that is drawn anew for every
    report would have B(c; n, q*) instead. With k-RR the answer's own symbol is counted.
    """
    n = len(devices[0])
    flat = [record for reports in devices for record in reports]
    if isinstance(parameters, UnaryParameters):
        shape = (len(devices), n, parameters.bits)
        ones = bit_table(parameters, flat).reshape(shape).sum(axis=1)
        held = held_table(parameters, answer, flat).reshape(shape)[:, 0]
        stages = (parameters.report_one, parameters.report_zero)
        for mask, first in (
            (held, parameters.permanent_one),
            (~held, parameters.permanent_zero),
        ):
            if mask.any():
                yield _mixture(ones[mask], n, first, *stages)
    elif isinstance(parameters, KRRParameters):
        own = np.array([number(record, "symbol") == answer.code for record in flat])
        keep = parameters.report_keep
        move = (ONE - keep) // (parameters.categories - 1)
        counts = own.reshape(len(devices), n).sum(axis=1)
        yield _mixture(counts, n, parameters.permanent_keep, keep, move)


def _mixture(counts: Whole, n: int, first: int, one: int, zero: int) -> Check:
    a, q, p = (float(as_fraction(threshold)) for threshold in (first, one, zero))
    places = np.arange(n + 1)
    law = a * binomial_pmf(places, n, q) + (1 - a) * binomial_pmf(places, n, p)
    return goodness_of_fit(np.bincount(counts, minlength=n + 1), law / law.sum())
