"""The last step: test the strings that were grown on people who took no part in growing them.

The verification group reports whole strings. Its reports had no influence on which strings are
tested, so that the tests are ordinary ones: of M strings, each with the null hypothesis that nobody
holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable._distributions import binomial_sf, normal_sf
from deniable.decode.reading import READING, Counted, Reading
from deniable.decode.significance import holm, holm_adjusted, selected_level, storey
from deniable.discover.group_estimates import Table
from deniable.mechanisms import Estimate
from deniable.mechanisms.base import Floats
from deniable.mechanisms.chances import Chances
from deniable.protocol.prefixes import chained

ALPHA = 0.05


@dataclass(frozen=True)
class Found:
    """One string that was tested.

    Attributes:
        value: the string.
        frequency: unbiased share of the people, may be below 0.
        std_error: one standard deviation of it.
        interval: 95%, by itself, within 0..1.
        selected_interval: of discoveries, honest though they were selected; else None.
        p_value: of the hypothesis that nobody holds the string.
        corrected: the smallest level at which Holm's procedure would call it a discovery.
        holm: a discovery: P(any false one) <= 5%.
        storey: a discovery: at most 5% of these are false, on average.
    """

    value: str
    frequency: float
    std_error: float
    interval: tuple[float, float]
    selected_interval: tuple[float, float] | None
    p_value: float
    corrected: float
    holm: bool
    storey: bool


def verify(
    strings: Sequence[str], table: Table, people: int, reading: Reading = READING
) -> list[Found]:
    """Return every string with its estimate and test, the most frequent first.

    Guarantees: P(any false discovery by Holm) <= 5%, whatever was grown, because the group's
    reports were not used before.

    Cost: linear in the strings.

    Args:
        strings: distinct.
        table: of the verification group; it is peeled.
        people: how many reports there are in all groups.
        reading: what the intervals are of.
    """
    if not strings or table.n == 0:
        return []
    words = np.array([chained([ord(x) for x in s]) for s in strings], dtype=np.uint64)
    frequency = table.peel(words.reshape(-1, 2), table.estimate(words.reshape(-1, 2)))
    p_values = null_p_values(frequency, table)
    shares = _shares(strings, frequency, table, people, reading)
    errors = shares.std_error
    by_holm, by_storey = holm(p_values, ALPHA), storey(p_values, ALPHA).decisions
    corrected = holm_adjusted(p_values)
    chosen = by_holm | by_storey
    # Intervals of R discoveries among M tests have the level 1 - alpha R / M [BY05].
    level = selected_level(int(chosen.sum()), len(strings), ALPHA)
    narrow, wide = (list(zip(*shares.interval(a), strict=True)) for a in (ALPHA, 1 - level))
    found = []
    for i in np.lexsort((np.arange(len(strings)), -frequency)):
        f, e = float(frequency[i]), float(errors[i])
        found.append(
            Found(
                strings[i],
                f,
                e,
                (float(narrow[i][0]), float(narrow[i][1])),
                (float(wide[i][0]), float(wide[i][1])) if chosen[i] else None,
                float(p_values[i]),
                float(corrected[i]),
                bool(by_holm[i]),
                bool(by_storey[i]),
            )
        )
    return found


def null_p_values(frequency: Floats, table: Table) -> Floats:
    """Return p-values: P(an estimate at least as high | nobody holds the string).

    The larger of two tails: the normal one, whose variance includes collisions, and the binomial
    one of the support, which is skewed where q is small.
    """
    p, q, n = table.pure.p, table.pure.q, table.n
    # The number of supporting reports behind the estimate, C = n (q + f (p - q)), is binomial
    # with q where nobody holds the string; 1e-6 undoes rounding before the floor.
    support = np.floor(n * (q + frequency * (p - q)) + 1e-6)
    skewed = binomial_sf(support - 1, n, q)
    return np.asarray(np.maximum(normal_sf(frequency / table.noise), skewed))


def _shares(
    strings: Sequence[str], frequency: Floats, table: Table, people: int, reading: Reading
) -> Counted:
    """Return the strings' shares: noise, collisions, and the drawing of people and of the group.

    Of the reporters, the group is drawn without replacement: f (1 - f)/N (1 - N/n).
    """
    if reading.of == "reporters":
        drawn = 1 - table.n / max(people, table.n)
        reading = replace(reading, of="population", people=drawn)
    chances = Chances.of(table.pure, len(strings), table.collisions)
    error = np.sqrt(table.variance(np.clip(frequency, 0.0, 1.0)))
    found = Estimate(tuple(strings), frequency, error, None, table.n, chances=chances)
    return Counted(found, reading, chances)
