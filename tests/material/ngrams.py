"""A small crowd that reports n-grams of its words."""

from __future__ import annotations

import numpy as np

from deniable.mechanisms import NGrams
from deniable.mechanisms.base import Reports
from deniable.protocol import Strings

LETTERS = "abehimrt"
DOMAIN = Strings(LETTERS, 6)
WORDS = ["rabbit", "hermit", "bat", ""]
SHARES = [0.4, 0.3, 0.2, 0.1]


def mechanism(epsilon: float = 6.0, **changes: int) -> NGrams:
    return NGrams(alphabet=LETTERS, length=6, epsilon=epsilon, cohorts=16, **changes)


def crowd(ngrams: NGrams, people: int = 30_000, seed: int = 3) -> Reports:
    rng = np.random.default_rng(seed)
    codes = rng.choice(len(WORDS), size=people, p=SHARES)
    return ngrams.simulate(codes, rng, WORDS)
