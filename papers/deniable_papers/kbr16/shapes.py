"""[KBR16] section 4.4: the distributions from which people's values are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy import stats

from deniable.mechanisms.base import Floats
from deniable_papers.common.populations import zipf

Shape = Callable[[int, int, np.random.Generator], Floats]
"""(answers, rows, rng) -> one distribution per row; only the Dirichlet's rows differ."""


def geometric(answers: int) -> Floats:
    """Return the geometric distribution on 0, 1, ..., answers - 1 with mean answers / 5.

    Model: p_i proportional to r^i. The untruncated law with mean a = answers / 5 has
    r = a / (1 + a); cutting it off at the last answer lowers its mean by a few percent, as it
    must in the paper, which does not say how it was cut.
    """
    mean = answers / 5
    weights = (mean / (1 + mean)) ** np.arange(answers)
    return np.asarray(weights / weights.sum())


def binomial(answers: int, probability: float) -> Floats:
    """Return the binomial distribution on 0, 1, ..., answers - 1."""
    return np.asarray(stats.binom.pmf(np.arange(answers), answers - 1, probability))


def dirichlet(answers: int, rows: int, rng: np.random.Generator) -> Floats:
    """Return distributions drawn uniformly from all distributions."""
    weights = rng.standard_exponential((rows, answers))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _fixed(law: Callable[[int], Floats]) -> Shape:
    def rows_of(answers: int, rows: int, rng: np.random.Generator) -> Floats:
        del rng  # the same distribution in every row
        return np.broadcast_to(law(answers), (rows, answers))

    return rows_of


def _binomial(probability: float) -> Shape:
    return _fixed(lambda answers: binomial(answers, probability))


def _zipf(exponent: float) -> Shape:
    return _fixed(lambda answers: zipf(answers, exponent))


SHAPES: Mapping[str, Shape] = {
    "geometric": _fixed(geometric),
    **{f"binomial {p / 10:g}": _binomial(p / 10) for p in range(1, 6)},
    **{f"zipf {s}": _zipf(s) for s in range(1, 6)},
    "dirichlet": dirichlet,
}
"""The paper's distributions by name."""
