"""Fingerprints of profiles, for the methods that hash the whole profile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.mechanisms.base import Codes
from deniable.mechanisms.hashing import Words, fingerprints
from deniable.protocol.profile_domain import profile_key


def profile_words(answers: Sequence[int]) -> Words:
    """Return the fingerprint of every possible profile, the last attribute's answer fastest.

    Cost: one SHA-256 per profile.
    """
    rows = np.indices(tuple(answers)).reshape(len(answers), -1).T.tolist()
    return fingerprints(profile_key(tuple(row)) for row in rows)


def profile_numbers(answers: Sequence[int], codes: Codes) -> Codes:
    """Return the numbers of profiles in that order."""
    return np.asarray(np.ravel_multi_index(tuple(codes.T), tuple(answers)), dtype=np.int64)
