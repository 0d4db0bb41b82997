"""[FPE16] section 3.5: two variables of strings by RAPPOR; the analyst knows a few strings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.associate import Joint, Variable, estimate_joint
from deniable.decode import decode
from deniable.mechanisms import Rappor
from deniable.mechanisms.base import Floats, Reports
from deniable_papers.common.populations import numbered

BITS, HASHES, COHORTS = 128, 2, 16


def client(epsilon: float) -> Rappor:
    """Return one-time RAPPOR with Bloom filters that spends so much on one variable."""
    return Rappor(bits=BITS, hashes=HASHES, cohorts=COHORTS, epsilon=epsilon)


@dataclass(frozen=True)
class Crowd:
    """People with two strings each: their reports, and the names of all strings.

    Attributes:
        mechanism: of both variables.
        names: of the strings of each variable, in the order of the joint table.
        reports: of each variable, the same people in the same order.
    """

    mechanism: Rappor
    names: tuple[list[str], list[str]]
    reports: tuple[Reports, Reports]


def crowd(joint: Floats, mechanism: Rappor, people: int, rng: np.random.Generator) -> Crowd:
    """Return a crowd drawn from a joint distribution; the strings' names are new in every crowd."""
    held = rng.multinomial(people, joint.ravel() / joint.sum())
    x, y = np.divmod(np.repeat(np.arange(joint.size), held), joint.shape[1])
    names = numbered(joint.shape[0], rng), numbered(joint.shape[1], rng)
    reports = mechanism.simulate(x, rng, names[0]), mechanism.simulate(y, rng, names[1])
    return Crowd(mechanism, names, reports)


def top(people: Crowd, which: int, count: int) -> list[int]:
    """Return the places of the most frequent strings of a variable, by its own estimate."""
    counts = people.mechanism.accumulate(people.reports[which])
    decoded = decode(people.mechanism, counts, people.names[which])
    return [int(place) for place in np.argsort(-decoded.frequency)[:count]]


def fitted(people: Crowd, rows: list[int], columns: list[int], *, other: bool) -> Joint:
    """Return the joint distribution of these strings, with or without "Other"."""
    variables = [
        Variable(
            name,
            people.mechanism,
            people.reports[which],
            tuple(people.names[which][place] for place in places),
            other=other,
        )
        for which, (name, places) in enumerate((("x", rows), ("y", columns)))
    ]
    return estimate_joint(variables)
