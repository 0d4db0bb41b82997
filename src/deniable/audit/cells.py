"""Statistical checks of sampled records against the exact channel.

Each check compares what one answer's records show with its exact probabilities: the symbol
relative to the answer's own, the support, the bits, the number of bits, and all that must be
uniform. Together they see every probability that the mechanism has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
from scipy import stats

from deniable.audit.reading import (
    Bools,
    Record,
    Whole,
    bit_table,
    held_table,
    inside,
    number,
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
    SubsetParameters,
)
from deniable.protocol.thresholds import as_fraction
from deniable.protocol.unary import UnaryParameters
from deniable.testing.statistics import Check, goodness_of_fit, proportion, spread

MOST_CELLS = 4_096
BINS = 64
_BOUNDS = {
    "cohort": ("cohorts",),
    "seed": ("seeds",),
    "row": ("rows",),
    "coefficient": ("size", "width"),
}


def channel_checks(
    parameters: Parameters, answer: Answer, records: Sequence[Record]
) -> list[Check]:
    """Return the checks of records of one answer, each of another device."""
    checks = list(_uniform(parameters, records))
    if isinstance(parameters, UnaryParameters):
        return [*checks, *_bits(parameters, answer, records)]
    if isinstance(parameters, KRRParameters | ORRParameters | OLHParameters):
        return [*checks, _symbols(parameters, symbols_of(parameters, answer, records))]
    supported = int(supports(parameters, answer, records).sum())
    checks.append(proportion(supported, len(records), float(parameters.support[0])))
    if isinstance(parameters, PGRParameters) and parameters.answers:
        checks += _points(parameters, answer, records)
    if isinstance(parameters, SubsetParameters):
        checks += _subsets(parameters, answer, records)
    return checks


def _uniform(parameters: Parameters, records: Sequence[Record]) -> Iterator[Check]:
    """Check that what does not depend on the answer is uniform, in up to 64 ranges."""
    for item, names in _BOUNDS.items():
        if item not in records[0]:
            continue
        bound = next(getattr(parameters, name) for name in names if hasattr(parameters, name))
        if bound > 1:
            yield uniformity(np.array([number(record, item) for record in records]), bound)


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


def _bits(
    parameters: UnaryParameters, answer: Answer, records: Sequence[Record]
) -> Iterator[Check]:
    shown, held = bit_table(parameters, records), held_table(parameters, answer, records)
    q, p = float(parameters.q_star), float(parameters.p_star)
    for mask, chance in ((held, q), (~held, p)):
        if mask.any():
            yield proportion(int((shown & mask).sum()), int(mask.sum()), chance)
    chances = np.where(held, q, p)
    variance = (chances * (1 - chances)).sum(axis=0)
    yield spread((shown.astype(np.float64) - chances).sum(axis=0), variance)
    yield from _numbers(shown, held, p)


def _numbers(shown: Bools, held: Bools, p: float) -> Iterator[Check]:
    """Check how many of the bits that nobody set are 1: wrong where coins are not independent."""
    free = (~held).sum(axis=1)
    usual = int(np.bincount(free).argmax())
    rows = free == usual
    if usual < 2 or int(rows.sum()) < 100:
        return
    ones = (shown & ~held)[rows].sum(axis=1)
    chances: Floats = stats.binom.pmf(np.arange(usual + 1), usual, p)
    yield goodness_of_fit(np.bincount(ones, minlength=usual + 1), chances / chances.sum())


def permanence_checks(
    parameters: Parameters, answer: Answer, pairs: Sequence[tuple[Record, Record]]
) -> Iterator[Check]:
    """Check pairs of reports of one device and answer: their permanent response is the same.

    With b = P(permanent 1) of a bit that the answer does not set, both reports show it with
    probability b q^2 + (1 - b) p^2. Of k-RR the probability of equal symbols is compared.
    """
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    if isinstance(parameters, UnaryParameters):
        free = ~held_table(parameters, answer, first)
        if not free.any():
            return
        b, q = (
            float(as_fraction(parameters.permanent_zero)),
            float(as_fraction(parameters.report_one)),
        )
        p = float(as_fraction(parameters.report_zero))
        both = bit_table(parameters, first) & bit_table(parameters, second) & free
        yield proportion(int(both.sum()), int(free.sum()), b * q**2 + (1 - b) * p**2)
    elif isinstance(parameters, KRRParameters):
        k, keep = parameters.categories, float(as_fraction(parameters.report_keep))
        equal = sum(one == two for one, two in pairs)
        yield proportion(equal, len(pairs), keep**2 + (1 - keep) ** 2 / (k - 1))
