"""The choice of `mechanism = "auto"` in the place of O-RR and O-RAPPOR, and its losses.

The shipped mechanism runs as it is: every person's report is simulated and accumulated; hashed
geometries do so a cohort at a time, which is the same and faster. The unbiased estimate is then
projected on the simplex.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from deniable.authoring.auto import choices
from deniable.decode.simplex import project
from deniable.mechanisms import PGR, Counts, Mechanism, mechanism_for
from deniable.mechanisms.base import Floats
from deniable.mechanisms.candidates import answers_asked
from deniable.protocol import Categories, Domain, Strings
from deniable_papers.common import crowd
from deniable_papers.common.populations import numbered
from deniable_papers.kbr16.grid_search import Setting
from deniable_papers.kbr16.shapes import geometric

_PEOPLE = 2**20
_THREADS = 2


def chosen(setting: Setting, epsilon: float) -> Mechanism:
    """Return the mechanism that a survey with `mechanism = "auto"` would be published with."""
    domain: Domain = Categories(tuple(numbered(setting.answers))) if setting.closed else Strings()
    listed = 0 if setting.closed else setting.answers
    best = choices(domain, False, {"epsilon": epsilon}, setting.people, listed)[0]
    return mechanism_for(best.parameters)


def losses(
    setting: Setting, mechanism: Mechanism, generators: Sequence[np.random.Generator]
) -> Floats:
    """Return the l1 loss of each run against the sample's frequencies.

    Cost: linear in people; the reports of a million people at once.
    """

    def one_run(rng: np.random.Generator) -> float:
        # New names in every run, so that every run has other collisions.
        candidates = None if setting.closed else numbered(setting.answers, rng)
        totals = crowd.drawn(geometric(setting.answers), setting.people, rng)
        counts = _counts(mechanism, totals, candidates, rng)
        found = project(mechanism.estimate(counts, candidates).frequency)
        return float(np.abs(found - totals / setting.people).sum())

    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        return np.array(list(pool.map(one_run, generators)))


def _counts(
    mechanism: Mechanism,
    totals: crowd.Totals,
    candidates: list[str] | None,
    rng: np.random.Generator,
) -> Counts:
    """Return the counts of people who hold these answers."""
    if isinstance(mechanism, PGR) and candidates is not None:
        return _hashed_counts(mechanism, totals, candidates, rng)
    counts, ends = mechanism.zero(), np.cumsum(totals)
    for start in range(0, int(ends[-1]), _PEOPLE):
        inside = np.clip(ends, start, start + _PEOPLE)
        codes = np.repeat(np.arange(totals.size), np.diff(inside, prepend=start))
        reports = mechanism.simulate(codes, rng, candidates)
        counts = counts.merge(mechanism.accumulate(reports))
    return counts


def _hashed_counts(
    mechanism: PGR, totals: crowd.Totals, candidates: list[str], rng: np.random.Generator
) -> Counts:
    """Return the counts of a hashed geometry, whose people are in uniform cohorts."""
    counts, words = mechanism.zero(), answers_asked(0, candidates)[1]
    cohorts, points = counts.table.shape
    held = rng.multinomial(totals, np.full(cohorts, 1 / cohorts))
    for cohort in range(cohorts):
        own = np.repeat(mechanism.places(cohort, words), held[:, cohort])
        counts.table[cohort] = np.bincount(mechanism.reported(own, rng), minlength=points)
    counts.reports[:] = held.sum(axis=0)
    return counts
