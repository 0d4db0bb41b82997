"""Pairs of reports without a person: the table of all possible pairs is drawn as a whole.

Model: a report of k-RR is one of k symbols, one of basic RAPPOR one of 2^k rows of bits. With
A[i, x] = P(pattern i | value x) for one variable, B for the other and J the joint distribution of
the values, a pair of reports is (i, j) with probability (A J B')[i, j]. So the numbers of all pairs
among N people are one multinomial draw,

    W ~ Multinomial(N, A J B'),

which is the distribution of simulating N people, in time that does not depend on N: a test
compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.associate import Variable
from deniable.decode.mixture import fit_rows
from deniable.decode.mixture.rows import Product, Table
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Mechanism, Rappor
from deniable.mechanisms.base import Floats, Reports

Pairs = NDArray[np.int64]
"""How often each pair of patterns was reported: a row per pattern of the first variable."""

MOST_BITS = 12
SMALL_SHARE = 1e-4
"""No first guess of a share is smaller: a fit that begins at 0 must find its way back."""
KINDS = {"rappor": "basic RAPPOR", "krr": "k-RR"}


@dataclass(frozen=True, eq=False)
class Channel:
    """A mechanism with few possible reports.

    Attributes:
        mechanism: k-RR or basic RAPPOR.
        reports: every possible report, once.
        likelihood: P(report | value), a row per report.
        inverse: from shares of reports to unbiased shares of values; a first guess of a fit.
    """

    mechanism: Mechanism
    reports: Reports
    likelihood: Floats
    inverse: Floats


@lru_cache(maxsize=64)
def channel(kind: str, categories: int, epsilon: float) -> Channel:
    """Return all possible reports of one of KINDS.

    Raises:
        InvalidParameter: if there would be more than 2^12 of them.
    """
    mechanism = mechanism_for(kind, categories, epsilon)
    if kind == "krr":
        reports = np.zeros(categories, mechanism.dtype)
        reports["symbol"] = np.arange(categories)
    else:
        reports = _every_row_of_bits(mechanism, categories)
    likelihood = mechanism.likelihood(reports)
    # Least squares, a report's share weighed by its variance where all values are equally frequent.
    scale = 1 / np.sqrt(likelihood.mean(axis=1))
    inverse = np.linalg.pinv(likelihood * scale[:, None]) * scale
    return Channel(mechanism, reports, likelihood, inverse)


def mechanism_for(kind: str, categories: int, epsilon: float) -> Mechanism:
    """Return k-RR or basic RAPPOR with a number of answers."""
    if kind == "krr":
        return KRR(categories, epsilon=epsilon)
    return Rappor.basic(categories, epsilon=epsilon)


def _every_row_of_bits(mechanism: Mechanism, bits: int) -> Reports:
    if bits > MOST_BITS:
        raise InvalidParameter(f"Only up to {MOST_BITS} bits are listed pattern by pattern.")
    numbers = np.arange(2**bits)
    ones = (numbers[:, None] >> np.arange(bits)) & 1
    reports = np.zeros(len(numbers), mechanism.dtype)
    reports["bits"] = np.packbits(ones.astype(np.uint8), axis=1, bitorder="little")
    return reports


def draw_pairs(
    joint: Floats, one: Channel, other: Channel, people: int, rng: np.random.Generator
) -> Pairs:
    """Return how often each pair of reports is seen among a number of people."""
    law = one.likelihood @ joint @ other.likelihood.T
    flat = law.ravel() / law.sum()  # sums to 1 up to rounding: multinomial wants it exactly
    return np.asarray(rng.multinomial(people, flat).reshape(law.shape), dtype=np.int64)


def as_reports(pairs: Pairs, one: Channel, other: Channel) -> tuple[Reports, Reports]:
    """Return the reports themselves, pair by pair."""
    first, second = np.nonzero(pairs)
    times = pairs[first, second]
    return one.reports[np.repeat(first, times)], other.reports[np.repeat(second, times)]


def patterns_of_pairs(pairs: Pairs, one: Channel, other: Channel) -> Product:
    """Return the likelihoods of the pairs that were seen, as `associate.patterns_of` would.

    So a test or a fit begins at the counts, and takes as long for a million people as for few.
    """
    first, second = np.nonzero(pairs)
    factors = one.likelihood[first], other.likelihood[second]
    return Product.of(factors, pairs[first, second].astype(np.float64))


def margins_of_pairs(pairs: Pairs, one: Channel, other: Channel) -> list[Floats]:
    """Return each variable's own maximum-likelihood distribution."""
    margins = []
    for part, counts in ((one, pairs.sum(axis=1)), (other, pairs.sum(axis=0))):
        guess = np.maximum(part.inverse @ (counts / counts.sum()), SMALL_SHARE)
        rows = Table.of(part.likelihood, counts.astype(np.float64))
        margins.append(fit_rows(rows, start=guess / guess.sum()).weights)
    return margins


@lru_cache(maxsize=64)
def variables_of_pairs(one: Channel, other: Channel) -> tuple[Variable, Variable]:
    """Return the two variables, for their names and answers; their reports are not the crowd's."""
    return (
        Variable("x", one.mechanism, one.reports),
        Variable("y", other.mechanism, other.reports),
    )
