"""Strings that nobody listed: false ones among those found, and coverage of their intervals.

What intervals of strings promise that were chosen because they were found is the false coverage
rate [BY05]: of all runs, also of those that find nothing, the mean share of a run's intervals that
miss. No interval can promise more: where a string is found only if noise lifted it, every
interval given that it was found misses. How often such a run's intervals hold is shown beside it.

Reference: [BY05] Benjamini and Yekutieli, False discovery rate-adjusted multiple confidence
intervals for selected parameters, JASA 100, 2005, section 2 and theorem 1.
"""

from __future__ import annotations

import numpy as np

from _honesty.grid import Cell, Measured, over_runs, share, shares_of
from deniable.decode.reading import Reading
from deniable.discover import discover
from deniable.discover.ngrams.discovery import discover_ngrams
from deniable.discover.verify import Found
from deniable.mechanisms import NGrams, Prefixes
from deniable.protocol import Strings

LETTERS, LENGTH, HELD, UNLISTED = "abcdefgh", 4, 8, 100
DOMAIN = Strings(LETTERS, LENGTH)
NAMES = ("prefixes", "ngrams")


def simulated(cell: Cell, runs: int) -> list[Measured]:
    """Return the family-wise error, the false share, and the coverage of found strings."""
    rng, shares = cell.rng, shares_of(cell.population, HELD)
    reading = Reading(people=float(cell.epochs))
    family, false, covered, given, found = [], [], [], [], []
    for _ in range(runs):
        letters = rng.choice(list(LETTERS), size=(HELD + UNLISTED, LENGTH))
        names = list(dict.fromkeys("".join(row) for row in letters))
        codes = rng.choice(HELD + 1, size=cell.people, p=[*shares, max(0.0, 1 - shares.sum())])
        values = np.where(codes < HELD, codes, rng.integers(HELD, len(names), cell.people))
        left = max(0.0, 1 - float(shares.sum()))
        each = [*shares, *[left / (len(names) - HELD)] * (len(names) - HELD)]
        truth = {name: one for name, one in zip(names, each, strict=True) if one > 0}
        rows = _rows(cell, np.concatenate([values] * cell.epochs), names, reading, rng)
        holm = [row for row in rows if row.holm]
        chosen = [row for row in rows if row.holm or row.storey]
        family.append(float(any(row.value not in truth for row in holm)))
        wrong = sum(row.value not in truth for row in chosen)
        false.append(wrong / max(1, len(chosen)))
        found.append(float(len(holm)))
        ends = [(row.selected_interval, truth.get(row.value, 0.0)) for row in chosen]
        inside = np.array([low <= t <= high for (low, high), t in ends])
        covered.append(share(inside) if ends else 1.0)
        given.append(share(inside))
    return [
        *over_runs("family-wise error", family),
        *over_runs("false share", false),
        *over_runs("coverage of found strings", covered),
        *over_runs("share covered in runs that find any", given),
        *over_runs("strings found", found),
    ]


def _rows(
    cell: Cell,
    values: np.ndarray,
    names: list[str],
    reading: Reading,
    rng: np.random.Generator,
) -> tuple[Found, ...]:
    if cell.mechanism == "prefixes":
        grown = Prefixes(epsilon=cell.epsilon, alphabet=LETTERS, length=LENGTH, people=cell.people)
        counts = grown.accumulate(grown.simulate(values, rng, names))
        return discover(grown, counts, DOMAIN, reading=reading).rows
    put = NGrams(alphabet=LETTERS, length=LENGTH, epsilon=cell.epsilon, bits=64, cohorts=8)
    reports = put.simulate(values, rng, names)
    return discover_ngrams(put, reports, DOMAIN, reading=reading).rows
