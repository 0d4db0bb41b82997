"""What `mechanism = "auto"` would run in the place of O-RR and O-RAPPOR, and its losses.

The shipped mechanism runs as it is: every person's report is simulated and accumulated, the
unbiased estimate is projected on the simplex.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from deniable.decode.simplex import project
from deniable.mechanisms import Mechanism, mechanism_for
from deniable.mechanisms.base import Floats
from deniable.papers.kbr16_grid_search import Setting
from deniable.papers.kbr16_shapes import geometric
from deniable.papers.populations import numbered
from deniable.protocol import Categories, Domain, Strings
from deniable.protocol.auto import choices

_PEOPLE = 2**17
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

    Cost: linear in people; the reports of 131,072 people at once.
    """

    def one_run(rng: np.random.Generator) -> float:
        # New names in every run, so that every run has other collisions.
        candidates = None if setting.closed else numbered(setting.answers, rng)
        totals = rng.multinomial(setting.people, geometric(setting.answers))
        counts = mechanism.zero()
        ends = np.cumsum(totals)
        for start in range(0, setting.people, _PEOPLE):
            inside = np.clip(ends, start, start + _PEOPLE)
            codes = np.repeat(np.arange(setting.answers), np.diff(inside, prepend=start))
            reports = mechanism.simulate(codes, rng, candidates)
            counts = counts.merge(mechanism.accumulate(reports))
        found = project(mechanism.estimate(counts, candidates).frequency)
        return float(np.abs(found - totals / setting.people).sum())

    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        return np.array(list(pool.map(one_run, generators)))
