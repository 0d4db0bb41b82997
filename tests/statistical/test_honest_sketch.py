"""A sketch whose hash functions everybody shares calls nobody's answer held.

The negative control is what stood here before: collisions as a normal variance over hash functions.
"""

from __future__ import annotations

import numpy as np

from _honesty import shares
from _honesty.grid import Cell
from deniable.decode.reading import Reading, read
from deniable.decode.significance import holm
from deniable.mechanisms import HCMS, Counts, Estimate
from deniable.mechanisms.base import Candidates
from deniable.mechanisms.chances import Chances
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9
MISS = 1e-9
CELL = Cell("shares", "hcms closed", 20_000, 3.0, "two", 12)


def errs(family: int, runs: int) -> object:
    """The hypothesis that the family-wise error lies in 0..5%."""
    return proportion(family, runs, 0.025, tolerance=0.025)


def before(mechanism: HCMS, counts: Counts, names: Candidates) -> Estimate:
    """Return shares as if all other answers were spread evenly over the buckets."""
    labels, words = mechanism._asked(names)
    rows = mechanism.rows(counts, words)
    share = 0.5 + (2 * mechanism.pure.p - 1) / 2 * rows.observed
    collisions = max(0.0, rows.squares) / (rows.width - 1)
    errors = np.sqrt(mechanism.pure.variance_observed(share, counts.n) + collisions)
    chances = Chances.of(mechanism.pure, len(labels), collisions)
    frequency = mechanism.pure.frequency(share)
    return Estimate(labels, frequency, errors, None, counts.n, chances=chances)


def false_runs(
    mechanism: HCMS, runs: int, rng: np.random.Generator, epochs: int
) -> tuple[int, int]:
    """Return in how many runs an absent answer is called held: now, and before."""
    absent, now, then = np.arange(20) >= 2, 0, 0
    for _ in range(runs):
        names = [rng.bytes(6).hex() for _ in range(20)] if mechanism.hashed else None
        codes = np.tile(rng.integers(0, 2, CELL.people), epochs)
        counts = mechanism.accumulate(mechanism.simulate(codes, rng, names))
        found, old = mechanism.estimate(counts, names), before(mechanism, counts, names)
        now += bool(holm(read(found, Reading(people=float(epochs))).p_values, 0.05)[absent].any())
        then += bool(holm(read(old, Reading(people=float(epochs))).p_values, 0.05)[absent].any())
    return now, then


def test_a_closed_domain(rng: np.random.Generator) -> None:
    """Code 9 shares one of 32 buckets with code 1, which half of the people hold, for good."""
    mechanism = shares.mechanism_of(CELL.mechanism, CELL.epsilon, CELL.people)
    assert isinstance(mechanism, HCMS)
    now, then = false_runs(mechanism, 60, rng, CELL.epochs)
    accept(errs(now, 60), ALPHA)
    reject(errs(then, 60), ALPHA, miss=MISS)


def test_listed_strings(rng: np.random.Generator) -> None:
    """Strings of their own in every run: of 18 absent ones, some share a bucket with a held one."""
    mechanism = HCMS(epsilon=3.0, rows=8, width=256)
    now, then = false_runs(mechanism, 100, rng, epochs=1)
    accept(errs(now, 100), ALPHA)
    reject(errs(then, 100), ALPHA, miss=MISS)
