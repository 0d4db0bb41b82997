"""Of strings that nobody listed, ngrams find half at the share that a plan says.

Reports of whole crowds are simulated and decoded, 1 / s strings of share s each. ALPHA is the
false-failure probability of each check; each has a control that is rejected.
"""

from __future__ import annotations

import numpy as np
import pytest

from deniable.discover.ngrams import discover_ngrams
from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Floats
from deniable.plan.discovered import smallest_found
from deniable.protocol import Strings
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-10
RUNS, CONTROLS = 10, 3
RARE = 500
TOLERANCE = 0.12
"""The chance rises with the share s as Phi(6 ln(s / smallest)), about: 5% of the share are 0.12."""
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
    for factor, runs in ((1.0, RUNS), (1.5, CONTROLS), (1 / 1.5, CONTROLS)):
        crowds = [found(mechanism, domain, factor * smallest, people, rng) for _ in range(runs)]
        hits, trials, learnable = (sum(part) for part in zip(*crowds, strict=True))
        check = proportion(hits, trials, 0.5, TOLERANCE)
        if factor == 1.0:
            accept(check, ALPHA)
            assert learnable / runs == pytest.approx(smallest, rel=0.07)
        else:
            reject(check, 1e-3, miss=1e-9)
