"""A made-up crowd through the whole of prefix growth: for figures, benchmarks and planning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.authoring.mechanisms.prefixes_plan import BEAM
from deniable.discover.prefixes.discovery import Discovery, discover
from deniable.discover.prefixes.growth import Progress
from deniable.mechanisms import Counts, Prefixes
from deniable.mechanisms.base import Floats
from deniable.protocol import Strings


@dataclass(frozen=True)
class Run:
    """One simulated discovery, compared with the truth.

    Attributes:
        discovery: what was found.
        found: how many discoveries are strings that somebody holds.
        false: how many are not.
        shares: the true shares among the simulated people.
    """

    discovery: Discovery
    found: int
    false: int
    shares: dict[str, float]


def simulated_counts(
    mechanism: Prefixes,
    strings: Sequence[str],
    shares: Floats,
    people: int,
    rng: np.random.Generator,
) -> tuple[Counts, dict[str, float]]:
    """Return the counts of a simulated crowd, and the shares it really had.

    Cost: about a second for a million people; the memory of the counts and a chunk of reports.
    """
    total, held = mechanism.zero(), np.zeros(len(strings))
    for start in range(0, people, 2**18):
        size = min(2**18, people - start)
        codes = rng.choice(len(strings), size=size, p=shares)
        held += np.bincount(codes, minlength=len(strings))
        total = total.merge(mechanism.accumulate(mechanism.simulate(codes, rng, strings)))
    return total, dict(zip(strings, (held / max(1, people)).tolist(), strict=True))


def simulate(
    mechanism: Prefixes,
    domain: Strings,
    strings: Sequence[str],
    shares: Floats,
    people: int,
    rng: np.random.Generator,
    *,
    beam: int = BEAM,
    progress: Progress | None = None,
) -> Run:
    """Return one run: people drawn, reports made, strings grown and tested."""
    counts, truth = simulated_counts(mechanism, strings, shares, people, rng)
    result = discover(mechanism, counts, domain, beam=beam, progress=progress)
    good = [row.value for row in result.found if truth.get(row.value, 0.0) > 0]
    return Run(result, len(good), len(result.found) - len(good), truth)
