"""Mechanisms that hash: intervals cover over people, noise and hash functions.

Truth is the people's own frequencies. ALPHA is the false-failure probability of each check; the
controls are intervals of 60% of the width, which cover 76%, and a bias of half a standard error.
"""

from __future__ import annotations

import numpy as np
import pytest

from deniable.mechanisms import HCMS, ORR, PGR, Mechanism, Rappor
from deniable.testing.power import miss_mean, miss_proportion
from deniable.testing.statistics import accept, mean, proportion, reject

ALPHA = 1e-9
Z95 = 1.959964
PEOPLE = 3_000

STRINGS: dict[str, tuple[Mechanism, int, int]] = {
    "orr, all listed": (ORR(epsilon=2.0, symbols=8, cohorts=32), 20, 20),
    "orr, half unlisted": (ORR(epsilon=2.0, symbols=8, cohorts=32), 20, 10),
    "pgr": (PGR(epsilon=2.0, cohorts=4, points=1_000), 20, 5),
    "pgr with collisions": (PGR(epsilon=4.0, cohorts=2, points=30), 20, 5),
    "hcms": (HCMS(epsilon=2.0, rows=4, width=1_024), 20, 5),
    "hcms with collisions": (HCMS(epsilon=4.0, rows=2, width=32), 20, 5),
}
"""A mechanism, how many strings people hold, and how many of them are candidates."""


def deviation(
    mechanism: Mechanism, held: int, listed: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the error of one estimate of a string drawn at random, newly hashed, and its z."""
    name = rng.bytes(8).hex()
    texts = [f"{name} {i}" for i in range(held)]
    weights = 1 / np.arange(1, held + 1)
    codes = rng.choice(held, PEOPLE, p=weights / weights.sum())
    counts = mechanism.accumulate(mechanism.simulate(codes, rng, texts))
    chosen = rng.permutation(held)[:listed]
    estimate = mechanism.estimate(counts, [texts[i] for i in chosen])
    error = float(estimate.frequency[0]) - float((codes == chosen[0]).mean())
    return error, error / float(estimate.std_error[0])


def check(errors: np.ndarray, z: np.ndarray, tolerance: float) -> None:
    """Accept coverage and the lack of bias; reject those of narrow and of shifted ones."""
    inside, narrow = (int((np.abs(z) < width * Z95).sum()) for width in (1, 0.6))
    accept(proportion(inside, z.size, 0.955, tolerance), ALPHA)
    miss = miss_proportion(0.8, 0.955 - tolerance, z.size, ALPHA / 2)
    assert miss < 1e-9
    reject(proportion(narrow, z.size, 0.955, tolerance), ALPHA, miss=miss)
    spread = float(errors.std())
    accept(mean(float(errors.mean()), 0.0, spread / z.size**0.5), ALPHA)
    shifted = mean(float(errors.mean()), 0.5 * spread, spread / z.size**0.5)
    reject(shifted, ALPHA, miss=miss_mean(0.5 * z.size**0.5, ALPHA))


@pytest.mark.parametrize("name", STRINGS)
def test_strings(name: str, rng: np.random.Generator) -> None:
    mechanism, held, listed = STRINGS[name]
    runs = np.array([deviation(mechanism, held, listed, rng) for _ in range(1_000)])
    # Strings that share all buckets of two rows cannot be told apart, whatever people hold.
    known = np.isfinite(runs[:, 0])
    assert known.sum() > 950
    errors, z = runs[known].T
    check(errors, z, 0.025)


CLOSED: dict[str, tuple[Mechanism, int]] = {
    "orr": (ORR(12, epsilon=2.0, symbols=4, cohorts=16), 12),
    "pgr": (PGR(12, epsilon=2.0), 12),
    "hcms": (HCMS(12, epsilon=2.0, rows=16, width=1_024), 12),
    "permuted rappor": (Rappor.permuted(12, bits=6, cohorts=16, epsilon=2.0), 12),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_domains(name: str, rng: np.random.Generator) -> None:
    mechanism, answers = CLOSED[name]
    weights = 1 / np.arange(1, answers + 1)
    runs = []
    for _ in range(1_000):
        codes = rng.choice(answers, PEOPLE, p=weights / weights.sum())
        found = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
        pick = int(rng.integers(answers))
        error = float(found.frequency[pick]) - float((codes == pick).mean())
        runs.append((error, error / float(found.std_error[pick])))
    errors, z = np.array(runs).T
    check(errors, z, 0.025)
