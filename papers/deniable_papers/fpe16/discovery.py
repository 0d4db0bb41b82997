"""Crowds whose strings nobody listed, and how well they are learned [FPE16, section 5].

strings and shares -> reports -> discovery -> Hellinger distance, learned share, false ones
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.decode import Decoded, decode
from deniable.discover import Discovery
from deniable.discover.ngrams.discovery import Search, discover_ngrams
from deniable.mechanisms import NGrams, Rappor
from deniable.mechanisms.base import Floats, Reports
from deniable.protocol import Strings
from deniable_papers.common.crowd import Totals, design_for, drawn, reported

LOWER = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Crowd:
    """People and their strings.

    Attributes:
        domain: the possible strings.
        strings: those that people hold.
        totals: how many hold each.
    """

    domain: Strings
    strings: list[str]
    totals: Totals

    @classmethod
    def of(
        cls,
        domain: Strings,
        strings: Sequence[str],
        shares: Floats,
        people: int,
        rng: np.random.Generator,
    ) -> Crowd:
        """Return a number of people, each with a string drawn by these shares."""
        return cls(domain, list(strings), drawn(shares, people, rng))

    @property
    def truth(self) -> dict[str, float]:
        """The share of the people who hold each string, of those that somebody holds."""
        shares = (self.totals / self.totals.sum()).tolist()
        return {s: share for s, share in zip(self.strings, shares, strict=True) if share > 0}

    def reports(self, mechanism: NGrams, rng: np.random.Generator) -> Reports:
        """Return a report per person, in random order."""
        codes = np.repeat(np.arange(len(self.strings)), self.totals)
        return mechanism.simulate(rng.permutation(codes), rng, self.strings)


def random_strings(count: int, length: int, rng: np.random.Generator) -> list[str]:
    """Return distinct random strings of lower-case letters."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(list(LOWER), size=length))] = None
    return list(found)


def power_law(count: int) -> Floats:
    """Return shares proportional to (1 + i/10)^-5, i = 0, 1, ...: a power law of exponent -5.

    The paper does not say how it is made discrete. i^-5 would give the first string 96% and the
    seventh 0.006%, far below what its figure 8 shows as learned.
    """
    weights = (1 + np.arange(count) / 10) ** -5.0
    return np.asarray(weights / weights.sum())


def geometric(count: int, ratio: float) -> Floats:
    """Return shares proportional to ratio^i, i = 0, 1, ..."""
    weights = ratio ** np.arange(count, dtype=np.float64)
    return np.asarray(weights / weights.sum())


def hellinger(truth: Mapping[str, float], found: Mapping[str, float]) -> float:
    """Return sqrt(sum (sqrt P - sqrt Q)^2 / 2) of two distributions over strings.

    Shares that were found are cut off at 0, and scaled down where they sum to more than 1. What is
    missing of 1 is nobody's, so that a dictionary with gaps is not flattered.
    """
    clipped = {string: max(0.0, share) for string, share in found.items()}
    scale = max(1.0, sum(clipped.values()))
    every = {*truth, *clipped}
    squares = (
        (np.sqrt(truth.get(s, 0.0)) - np.sqrt(clipped.get(s, 0.0) / scale)) ** 2 for s in every
    )
    return float(np.sqrt(sum(squares) / 2))


def scored(found: Mapping[str, float], crowd: Crowd) -> dict[str, float]:
    """Return how many were found, how many of these are false, and how far the shares are off."""
    truth = crowd.truth
    right = sum(string in truth for string in found)
    return {
        "found": float(right),
        "false": float(len(found) - right),
        "learned": right / len(crowd.strings),
        "hellinger": hellinger(truth, found),
    }


def discoveries(discovery: Discovery) -> dict[str, float]:
    """Return the strings that pass Holm's test, with their estimated shares."""
    return {row.value: row.frequency for row in discovery.found}


def detections(decoded: Decoded) -> dict[str, float]:
    """Return the listed strings that pass Holm's test, with their estimated shares."""
    places = np.flatnonzero(decoded.holm)
    return {decoded.candidates[i]: float(decoded.frequency[i]) for i in places}


def by_ngrams(
    mechanism: NGrams, crowd: Crowd, rng: np.random.Generator, search: Search | None = None
) -> tuple[Discovery, dict[str, float]]:
    """Return what n-grams find of a crowd, and how good it is.

    `seconds` is the time from the reports to the result.
    """
    reports = crowd.reports(mechanism, rng)
    start = time.perf_counter()
    found = discover_ngrams(mechanism, reports, crowd.domain, search=search)
    seconds = time.perf_counter() - start
    numbers = scored(discoveries(found), crowd)
    return found, {**numbers, "candidates": float(len(found.rows)), "seconds": seconds}


def by_dictionary(mechanism: Rappor, crowd: Crowd, rng: np.random.Generator) -> dict[str, float]:
    """Return what is detected where all strings are listed: shares by string."""
    counts = reported(mechanism, design_for(mechanism, crowd.strings), crowd.totals, rng)
    return detections(decode(mechanism, counts, crowd.strings))
