"""[FPE16] appendix A: many tests of independence of variables that do or do not depend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.associate import hellinger
from deniable.associate.independence import independence_of_patterns
from deniable.associate.joint import joint_of_patterns
from deniable.mechanisms.base import Floats
from deniable_papers.fpe16.accuracy import Setting
from deniable_papers.fpe16.pairs import (
    Channel,
    Pairs,
    channel,
    draw_pairs,
    margins_of_pairs,
    patterns_of_pairs,
    variables_of_pairs,
)
from deniable_papers.fpe16.tables import simplex, with_diagonal

ALPHA = 0.05
METHODS = {"default": "default test", "wald": "maximum-likelihood Wald test"}
FITTED = 2
"""The number of a setting's runs that are also fitted, for their distance to the truth."""


@dataclass(frozen=True)
class Tested:
    """The tests of one setting.

    Attributes:
        p_values: one per run.
        hellinger: the mean distance of the estimated tables of the first runs to the truth.
    """

    p_values: Floats
    hellinger: float


def many_tests(
    setting: Setting,
    mass: float,
    runs: int,
    seed: np.random.SeedSequence,
    *,
    method: str = "default",
    equal: bool = False,
) -> Tested:
    """Test crowds whose variables depend on each other by so much mass on the diagonal.

    Args:
        setting: mechanisms, answers, epsilon of each variable and people.
        mass: 0 for independent variables.
        runs: crowds, each with marginals of its own.
        seed: of everything random.
        method: of `deniable.associate.independence`, without the bootstrap.
        equal: whether all answers are equally frequent, instead of drawn from the simplex.
    """
    one, other = (channel(setting.kind, size, setting.epsilon) for size in setting.shape)
    p_values = np.empty(runs)
    distances = []
    for place, child in enumerate(seed.spawn(runs)):
        rng = np.random.default_rng(child)
        margins = [np.full(k, 1 / k) if equal else simplex(k, rng) for k in setting.shape]
        table = np.outer(*margins)
        truth = with_diagonal(table, mass)
        pairs = draw_pairs(truth, one, other, setting.people, rng)
        p_values[place] = p_value_of_pairs(pairs, one, other, method)
        if place < FITTED:
            patterns = patterns_of_pairs(pairs, one, other)
            joint = joint_of_patterns(variables_of_pairs(one, other), patterns)
            distances.append(hellinger(joint.probability, truth))
    return Tested(p_values, float(np.mean(distances)))


def p_value_of_pairs(pairs: Pairs, one: Channel, other: Channel, method: str = "default") -> float:
    """Return the p-value that `associate.independence` gives to these reports.

    The margins of the score test come from the counts of each variable's patterns, which are few:
    the same maximum in a fraction of the time.
    """
    patterns = patterns_of_pairs(pairs, one, other)
    margins = margins_of_pairs(pairs, one, other)
    variables = variables_of_pairs(one, other)
    return independence_of_patterns(variables, patterns, method=method, margins=margins).p_value
