"""Of strings that nobody listed, ngrams find half at the share that a plan says.

Reports of whole crowds are simulated and decoded, 1 / s strings of share s each. ALPHA is the
false-failure probability of each check; each has a control that is rejected.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.discover.ngrams.discovery import discover_ngrams
from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Floats
from deniable.plan.unlisted_strings import smallest_found
from deniable.protocol import Strings
from deniable.testing.statistics import Check, accept, mean, proportion, reject

ALPHA = 1e-10
RUNS, CONTROLS = 6, 3
RARE = 500
TOLERANCE = 0.08
"""The chance rises with the share s as Phi(4 ln(s / smallest)) or steeper, about: 5% of the share
are 0.08 of the chance, and at twice or half the share it is 0.99 or 0.01."""
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def found(
    mechanism: NGrams, domain: Strings, share: float, people: int, rng: np.random.Generator
) -> tuple[int, int, float]:
    """Return how many strings of a share were found, how many there are, and what was learnable."""
    count = int(1 / share)
    names: dict[str, None] = {}
    while len(names) < count + RARE:
        names["".join(rng.choice(list(domain.letters), size=domain.length))] = None
    law: Floats = np.repeat([share, (1 - count * share) / RARE], [count, RARE])
    codes = rng.choice(len(names), size=people, p=law)
    reports = mechanism.simulate(codes, rng, list(names))
    result = discover_ngrams(mechanism, reports, domain)
    seen = {row.value for row in result.found}
    return len(seen & set(list(names)[:count])), count, result.learnable


def near(learnable: float, share: float, runs: int) -> Check:
    """Tell whether what discoveries call learnable is within 5% of a share, on average.

    That of one discovery has a standard deviation of 2%, at most 3% of the share.
    """
    allowed = min(max(learnable, 0.95 * share), 1.05 * share)
    return mean(learnable, allowed, 0.03 * share / math.sqrt(runs))


@pytest.mark.parametrize(
    ("letters", "length", "n", "epsilon", "people"),
    [(8, 6, 2, 5.0, 30_000), (26, 4, 2, 3.0, 40_000), (26, 6, 3, 4.0, 40_000)],
    ids=["pairs decide", "the test decides", "a large dictionary"],
)
def test_half_of_the_strings_of_the_smallest_share_are_found(
    letters: int, length: int, n: int, epsilon: float, people: int, rng: np.random.Generator
) -> None:
    domain = Strings(ALPHABET[:letters], length)
    mechanism = NGrams(alphabet=domain.alphabet, length=length, n=n, epsilon=epsilon)
    smallest = smallest_found(mechanism.parameters, domain, people)
    for factor, runs in ((1.0, RUNS), (2.0, CONTROLS), (0.5, CONTROLS)):
        crowds = [found(mechanism, domain, factor * smallest, people, rng) for _ in range(runs)]
        hits, trials, learnable = (sum(part) for part in zip(*crowds, strict=True))
        check = proportion(hits, trials, 0.5, TOLERANCE)
        if factor == 1.0:
            accept(check, ALPHA)
            accept(near(learnable / runs, smallest, runs), ALPHA)
            reject(near(learnable / runs, 1.25 * smallest, runs), ALPHA, miss=1e-9)
        else:
            reject(check, 1e-3, miss=1e-9)
