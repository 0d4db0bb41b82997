"""The last step: test the strings that were grown on people who took no part in growing them.

The verification group reports whole strings. Its reports had no influence on which strings are
tested, so that the tests are ordinary ones: of M strings, each with the null hypothesis that nobody
holds it. What such a string would show is known exactly, collisions included: `random_points.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable._distributions import binomial_sf, normal_sf
from deniable.decode.decoded import Decoded, DecodedRow, decided
from deniable.decode.reading import READING, Counted, Reading
from deniable.decode.significance import holm_adjusted
from deniable.discover.group_estimates import Table
from deniable.discover.random_points import p_values
from deniable.mechanisms import Estimate
from deniable.mechanisms.base import Floats
from deniable.mechanisms.chances import Chances
from deniable.protocol import Strings
from deniable.protocol.prefixes import chained

ALPHA = 0.05


@dataclass(frozen=True)
class Found(DecodedRow):
    """One string that was tested.

    Attributes:
        corrected: the smallest level at which Holm's procedure would call it a discovery.
    """

    corrected: float


def verify(
    strings: Sequence[str],
    table: Table,
    people: int,
    reading: Reading = READING,
    accepts: Callable[[str], bool] | None = None,
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
        accepts: which strings are tested; all by default. The others are taken out of the group
            like all that were grown: a frequent one lifts whatever shares a hash with it.
    """
    if not strings or table.n == 0:
        return []
    from deniable.kernels.prefix_support import points_of

    words = np.array([chained([ord(x) for x in s]) for s in strings], dtype=np.uint64)
    points = points_of(words, len(table.worth), table.worth.shape[1], table.first)
    left, by_chance = p_values(points, table)
    frequency = table.peel(words, table.estimate(words))
    if accepts is not None:
        places = [place for place, text in enumerate(strings) if accepts(text)]
        strings, frequency = [strings[place] for place in places], frequency[places]
        left, by_chance = left[places], by_chance[places]
        if not strings:
            return []
    shares = _shares(strings, frequency, table, people, reading)
    tests = np.maximum(by_chance, null_p_values(left, table))
    decoded = decided(tuple(strings), table.n, shares, ALPHA, method="verified", tests=tests)
    return list(rows_of(decoded, len(strings)))


def rows_of(decoded: Decoded, strings: int) -> Iterator[Found]:
    """Yield the decoded row of every string that was tested, the most frequent first.

    Args:
        decoded: the candidates.
        strings: how many of them, the first, are strings; one more is no answer.
    """
    known = ~np.isnan(decoded.p_value)
    corrected = np.ones(len(decoded))
    corrected[known] = holm_adjusted(decoded.p_value[known])
    for i in np.argsort(-np.where(known, decoded.frequency, -np.inf), kind="stable"):
        if known[i] and i < strings:
            yield Found(**vars(decoded.row(int(i))), corrected=float(corrected[i]))


def cut_note(domain: Strings) -> str:
    """Return the caveat of every discovery: devices change strings that do not fit the domain."""
    cut = f"Strings are cut off after {domain.length} characters"
    if domain.outside == "escape":
        cut += " and characters outside of the alphabet are replaced"
    return f"{cut} on the device: how often that happens cannot be known from reports."


def null_p_values(frequency: Floats, table: Table) -> Floats:
    """Return p-values: P(an estimate at least as high | nobody holds the string).

    The larger of two tails: the normal one, whose variance includes collisions, and the binomial
    one of the support, which is skewed where q is small. With few cohorts collisions are far from
    normal, and this alone is too small (`random_points.p_values`).
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
