"""What reports of profiles would be on average, exactly: a slow twin for tables of every method."""

from __future__ import annotations

from itertools import product

import numpy as np

from deniable.authoring import resolve
from deniable.errors import InvalidReport
from deniable.mechanisms import PROFILE_MECHANISMS, Counts, ProfileMechanism
from deniable.mechanisms.base import Codes, Floats, Reports
from deniable.mechanisms.profile_base import unnamed_profile

SCALE = 2.0**40


def made(
    name: str, answers: tuple[int, ...], order: int = 2, epsilon: float = 1.5, **wanted: object
) -> ProfileMechanism:
    kind, profile = PROFILE_MECHANISMS[name], unnamed_profile(answers)
    asked = {"epsilon": epsilon, "order": order, **wanted}
    return kind.of(resolve(kind.parameters_type, asked, profile, False), profile)


def every_report(mechanism: ProfileMechanism) -> Reports:
    """Return every record that the collector admits, of at most two bytes."""
    found = []
    for code in product(range(256), repeat=mechanism.dtype.itemsize):
        try:
            mechanism.parameters.check_record(bytes(code))
        except InvalidReport:
            continue
        found.append(bytes(code))
    return np.frombuffer(b"".join(found), dtype=mechanism.dtype)


def expected_counts(mechanism: ProfileMechanism, shares: Floats) -> Counts:
    """Return the average counts of 2^40 people, with shares of every profile in `every_profile`."""
    reports = every_report(mechanism)
    weights = np.rint(mechanism.likelihood(reports) @ shares.reshape(-1) * SCALE).astype(np.int64)
    singles = [mechanism.accumulate(reports[i : i + 1]) for i in range(reports.size)]
    table = sum(w * one.table for w, one in zip(weights, singles, strict=True))
    numbers = sum(w * one.reports for w, one in zip(weights, singles, strict=True))
    return Counts(np.asarray(numbers), np.asarray(table))


def shares_of(mechanism: ProfileMechanism, rng: np.random.Generator) -> Floats:
    """Return a distribution of profiles, an axis per attribute."""
    return rng.dirichlet(np.ones(mechanism.profile.cells)).reshape(mechanism.answers)


def table_of(shares: Floats, attributes: tuple[int, ...]) -> Floats:
    """Return the true table of rising attributes."""
    others = tuple(i for i in range(shares.ndim) if i not in attributes)
    return np.asarray(shares.sum(axis=others))


def people_of(mechanism: ProfileMechanism, n: int, rng: np.random.Generator) -> Codes:
    """Return n people whose attributes depend on each other."""
    codes = np.stack([rng.integers(0, answers, size=n) for answers in mechanism.answers], axis=1)
    codes[:, -1] = np.minimum(codes[:, -1], codes[:, 0])
    return codes
