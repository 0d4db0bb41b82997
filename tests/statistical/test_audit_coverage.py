"""The audits' own error statements: bounds that are not exceeded, p-values that are uniform."""

from __future__ import annotations

import math

import numpy as np

from deniable.audit.sample.epsilon_bound import lower_bound
from deniable.audit.store.arrival_order import order_checks
from deniable.testing.statistics import accept, goodness_of_fit, proportion, reject

RUNS = 400


def test_the_lower_bound_is_exceeded_no_more_often_than_said(rng: np.random.Generator) -> None:
    """At a level of 20% at most 20% of the bounds lie above the truth; usually far fewer."""
    p = math.e / (1 + math.e)
    above = 0
    for _ in range(RUNS):
        one, other = (np.where(rng.random(1_000) < x, 1.0, -1.0) for x in (p, 1 - p))
        above += lower_bound(one, other, 0.2) > 1
    accept(proportion(above, RUNS, 0.1, 0.1), 1e-9)


def test_a_promise_that_is_too_small_is_exceeded(rng: np.random.Generator) -> None:
    """The negative control: epsilon 1 runs where 0.5 was promised."""
    p = math.e / (1 + math.e)
    above = 0
    for _ in range(RUNS):
        one, other = (np.where(rng.random(1_000) < x, 1.0, -1.0) for x in (p, 1 - p))
        above += lower_bound(one, other, 0.2) > 0.5
    reject(proportion(above, RUNS, 0.1, 0.1), 1e-9, miss=1e-12)


def test_p_values_of_random_orders_are_uniform(rng: np.random.Generator) -> None:
    """Of the two that are continuous; the third counts successors, of which there are few."""
    found = np.array(
        [
            [check.p_value for check in order_checks([rng.permutation(500).tolist()])[:2]]
            for _ in range(RUNS)
        ]
    )
    for column in found.T:
        counts = np.histogram(column, bins=5, range=(0, 1))[0]
        accept(goodness_of_fit(counts, np.full(5, 0.2)), 1e-9)
