"""Made-up people with many attributes; neighbours in the survey depend on each other."""

from __future__ import annotations

import numpy as np

from deniable.mechanisms.base import Codes, Floats
from deniable.protocol import Domain, Profile
from deniable.protocol.profile_domain import Perhaps

_STRENGTH = 0.6
"""The correlation of neighbouring attributes' hidden scores."""
MISSING = 0.1
"""The share of people who lack an attribute that may be unknown."""


def draw_profiles(profile: Profile, people: int, rng: np.random.Generator) -> Codes:
    """Return a row of codes per person.

    Model: a hidden score per attribute, standard normal, correlated with the one before it
    (z_1, z_2 = s z_1 + sqrt(1 - s^2) e, ...). The score's rank falls into an answer; the shares of
    answers are a bell over bins of numbers, else Zipf's law.
    """
    codes = np.empty((people, len(profile.names)), dtype=np.int64)
    score = rng.standard_normal(people)
    for i, (_, domain) in enumerate(profile.attributes):
        if i:
            fresh = rng.standard_normal(people)
            score = _STRENGTH * score + np.sqrt(1 - _STRENGTH**2) * fresh
        ends = np.cumsum(_shares_of(domain))[:-1]
        place = np.argsort(np.argsort(score, kind="stable"), kind="stable")
        codes[:, i] = np.searchsorted(ends, (place + 0.5) / people, side="right")
    return codes


def _shares_of(domain: Domain) -> Floats:
    """Return plausible shares of an attribute's answers."""
    if isinstance(domain, Perhaps):
        return np.append((1 - MISSING) * _shares_of(domain.known), MISSING)
    rank = np.arange(domain.size or 0, dtype=np.float64)
    if domain.kind == "numbers":
        middle, width = (rank.size - 1) / 2, max(1.0, rank.size / 5)
        weights = np.exp(-(((rank - middle) / width) ** 2) / 2)
    else:
        weights = 1 / (rank + 1)
    return np.asarray(weights / weights.sum())


def profile_truth(profile: Profile, codes: Codes) -> dict[str, float]:
    """Return the true share of every answer of every attribute, by "attribute=answer"."""
    found: dict[str, float] = {}
    for i, (name, domain) in enumerate(profile.attributes):
        counts = np.bincount(codes[:, i], minlength=domain.size or 0) / max(1, len(codes))
        found |= {f"{name}={label}": float(counts[j]) for j, label in enumerate(domain.labels)}
    return found
