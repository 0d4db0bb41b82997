"""No number of reports is too small for an answer: one, two, five or twenty, with every mechanism.

A count of 0, a margin of 0 or a variance of 0 is the rule there. What cannot be told is NaN or "no
information"; nothing fails, and no warning of NumPy is passed over (the run makes them errors).
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from _honesty import shares
from _honesty.grid import EPSILONS, POPULATIONS, Cell
from deniable.decode import decode
from deniable.decode.binomial import limits
from deniable.decode.distribution_estimates import Support, likely_distribution, support_of
from deniable.decode.reading import Reading, read
from deniable.errors import InvalidParameter
from deniable.marginals.raw import raw_table
from deniable.mechanisms import Counts, MargPS, Rappor

PEOPLE = (1, 2, 5, 20)


@pytest.mark.parametrize("name", shares.MECHANISMS)
@pytest.mark.parametrize("epochs", [1, 12])
def test_shares_of_few_reports(name: str, epochs: int) -> None:
    asked = 0
    for people, epsilon, population in itertools.product(PEOPLE, EPSILONS, POPULATIONS):
        cell = Cell("shares", name, people, epsilon, population, epochs)
        try:
            mechanism = shares.mechanism_of(name, epsilon, people)
        except InvalidParameter:
            continue  # no form at that epsilon
        counts, listed = shares.crowd(mechanism, cell, cell.rng)
        found = decode(mechanism, counts, listed, reading=Reading(people=float(epochs)))
        known = np.isfinite(found.low)
        assert (found.low[known] <= found.high[known]).all()
        assert (found.low[known] >= 0).all()
        assert (found.high[known] <= 1).all()
        assert not (found.p_value < 0).any()
        asked += 1
    assert asked >= len(PEOPLE) * len(POPULATIONS)


def log_likelihood(support: Support, f: np.ndarray) -> float:
    r = support.oracle.q + support.oracle.gap * f
    return float(support.counts @ np.log(r) + (support.n - support.counts) @ np.log(1 - r))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_count_of_few_unary_reports_has_its_likeliest_distribution(
    n: int, epsilon: float
) -> None:
    """All tables of counts there are, and all distributions of a lattice beside the one found."""
    mechanism = Rappor.basic(3, epsilon=epsilon)
    steps = np.array([s for s in itertools.product(range(21), repeat=3) if sum(s) == 20]) / 20
    for table in itertools.product(range(n + 1), repeat=3):
        support = support_of(mechanism, Counts(np.array([n]), np.array([table])))
        found = likely_distribution(support)
        assert found.sum() == pytest.approx(1)
        assert found.min() >= 0
        best = max(log_likelihood(support, step) for step in steps)
        assert log_likelihood(support, found) >= best - 1e-9


def test_a_share_is_that_of_the_people_who_told_about_its_attribute(
    rng: np.random.Generator,
) -> None:
    """Of 60 people some 20 drew each attribute: nobody of 20 people says less than of 60."""
    mechanism = MargPS(attributes=3, order=1, epsilon=12.0)
    counts = mechanism.accumulate(mechanism.simulate(np.zeros((60, 3), dtype=np.int64), rng))
    found = mechanism.estimate(counts)
    assert found.told is not None
    assert found.told[::2].sum() == 60
    _, high = read(found).interval(0.05)
    for attribute, told in enumerate(found.told[::2]):
        table = raw_table(mechanism, counts, [attribute])
        assert table.told == told
        assert high[2 * attribute + 1] >= limits(0, told)[1]
    # Taken for all 60, the people who told are too many.
    assert (high > read(replace(found, told=None)).interval(0.05)[1])[1::2].all()
