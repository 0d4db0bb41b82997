"""[FPE16] appendix A: many tests of independence of variables that do or do not depend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.associate import Variable, estimate_joint, hellinger, independence
from deniable.mechanisms.base import Floats
from deniable.papers.fpe16_accuracy import Setting
from deniable.papers.fpe16_pairs import as_reports, channel, draw_pairs
from deniable.papers.fpe16_tables import simplex, with_diagonal

ALPHA = 0.05
METHODS = {"default": "default test", "wald": "maximum-likelihood Wald test"}
FITTED = 2
"""Of the runs of a setting so many are also fitted, for their distance to the truth."""


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
) -> Tested:
    """Test crowds whose variables depend on each other by so much mass on the diagonal.

    Args:
        setting: mechanisms, answers, epsilon of each variable and people.
        mass: 0 for independent variables.
        runs: crowds, each with marginals of its own.
        seed: of everything random.
        method: of `deniable.associate.independence`.
    """
    one, other = (channel(setting.kind, size, setting.epsilon) for size in setting.shape)
    p_values = np.empty(runs)
    distances = []
    for place, child in enumerate(seed.spawn(runs)):
        rng = np.random.default_rng(child)
        table = np.outer(*(simplex(size, rng) for size in setting.shape))
        truth = with_diagonal(table, mass)
        pairs = draw_pairs(truth, one, other, setting.people, rng)
        reports = as_reports(pairs, one, other)
        variables = [
            Variable(name, part.mechanism, part_reports)
            for name, part, part_reports in zip("xy", (one, other), reports, strict=True)
        ]
        p_values[place] = independence(variables, method=method).p_value
        if place < FITTED:
            distances.append(hellinger(estimate_joint(variables).probability, truth))
    return Tested(p_values, float(np.mean(distances)))
