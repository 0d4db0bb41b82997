"""A small crowd whose strings are grown in a moment."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from deniable.discover import Discovery, discover, simulated_counts, train
from deniable.mechanisms import Counts, Prefixes
from deniable.protocol import Strings

DOMAIN = Strings("abcdefgh", 8)
STRINGS = ["abc", "abcdefgh", "abcdefgg", "hg", "", "dad", "faded", "bead"]
SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.08, 0.05, 0.02])
TRAINED = ["dad", "abcde", "faced", "cafe", "bed", "bad", "feed", "head", "abc", "deaf"]


@lru_cache
def mechanism(coded: bool = False) -> Prefixes:
    model = train(TRAINED, DOMAIN).to_bytes() if coded else None
    lengths = [8, 13, 18, 23] if coded else [3, 5, 8]
    return Prefixes(
        epsilon=4.0,
        alphabet=DOMAIN.alphabet,
        length=8,
        model=model,
        lengths=lengths,
        cohorts=4,
        points=1_000,
    )


@lru_cache
def counts(coded: bool = False, people: int = 30_000) -> Counts:
    rng = np.random.default_rng(3)
    return simulated_counts(mechanism(coded), STRINGS, SHARES, people, rng)[0]


@lru_cache
def discovery(coded: bool = False) -> Discovery:
    return discover(mechanism(coded), counts(coded), DOMAIN, beam=40)
