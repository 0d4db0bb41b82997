"""An attacker who sees a report of one person [EPK14, section 6], beside simulated people.

The formulas stand in `privacy/posteriors.py`.
"""

from __future__ import annotations

import numpy as np

from deniable.mechanisms import Rappor
from deniable.mechanisms.base import Codes, Floats
from deniable.privacy import posteriors
from deniable.protocol.domain import string_key
from deniable.protocol.hashing import bloom_bits, fingerprint


def posterior(mechanism: Rappor, frequency: Floats, ones: int) -> Floats:
    """Return the probability that a person holds v, given how many of its bits are at 1."""
    return posteriors.posterior(mechanism.parameters, frequency, ones)


def false_discovery_rate(mechanism: Rappor, frequency: Floats) -> Floats:
    """Return the share of wrongly targeted people among those with all of v's bits at 1."""
    return posteriors.false_discovery_rate(mechanism.parameters, frequency)


def observed_posterior(
    mechanism: Rappor, frequency: float, people: int, rng: np.random.Generator
) -> list[float | None]:
    """Return the share of holders of v among simulated reports with 0, 1, ... h of its bits at 1.

    Everybody else holds one of a thousand other strings. Reports in which two hash functions meet
    in one bit of v are left out, as the model has h distinct bits. None where no report is left.
    """
    strings = [f"string{i}" for i in range(1001)]
    holds = rng.random(people) < frequency
    values = np.where(holds, 0, rng.integers(1, 1001, size=people))
    reports = mechanism.simulate(values, rng, strings)
    shape = mechanism.parameters
    bits = np.unpackbits(reports["bits"], axis=1, count=shape.bits, bitorder="little")
    places = bits_of(mechanism, strings[0])[reports["cohort"]]
    distinct = np.array([len(set(row)) == shape.hashes for row in places.tolist()])
    ones = np.take_along_axis(bits, places, axis=1).sum(axis=1)
    groups = [holds[distinct & (ones == seen)] for seen in range(shape.hashes + 1)]
    return [float(group.mean()) if group.size else None for group in groups]


def bits_of(mechanism: Rappor, string: str) -> Codes:
    """Return the bits of a string in every cohort, a row each."""
    shape = mechanism.parameters
    words = fingerprint(string_key(string))
    rows = [bloom_bits(words, j, shape.hashes, shape.bits) for j in range(shape.cohorts)]
    return np.array(rows, dtype=np.int64)
