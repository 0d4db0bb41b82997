"""Crafted signs of a profile's coefficients: those that push one cell of some attributes most.

Model: the share of a cell is a sum over the coefficients of its attributes, each with a weight and
a share of the honest reports. Liars spread over the coefficients so that the sum shifts most
(`privacy/leverage/tables.py`), and give each the sign that it has in the cell, or the other one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix, walsh_matrix
from deniable.mechanisms.moments import subsets_of
from deniable.mechanisms.profile_numbering import CoefficientNumbers
from deniable.privacy.leverage.tables import best_spread, shares_of_one
from deniable.protocol import CoefficientsParameters, InpHTParameters

Codes = tuple[int, ...]
Items = dict[str, int | bytes]

ATTACKERS = 0.01
"""The share of liars for which their spread over the coefficients is the best."""


def coefficients_of(
    parameters: InpHTParameters | CoefficientsParameters,
    attributes: Codes,
    said: Codes,
    rng: np.random.Generator,
    down: bool,
) -> Callable[[], Items]:
    """Return a function that makes the items of one record: a coefficient and its sign.

    Args:
        parameters: of the mechanism.
        attributes: of the cell, by number.
        said: a profile with the cell's levels.
        rng: draws the coefficient.
        down: push the cell down instead of up.
    """
    numbering = CoefficientNumbers(parameters.selection, parameters.order)
    numbers, values, weights, about = [], [], [], []
    for subset in subsets_of(attributes):
        parts = [_functions(parameters, i, said[i]) for i in subset]
        own, squares = (
            reduce(np.multiply.outer, one).reshape(-1) for one in zip(*parts, strict=True)
        )
        numbers.append(numbering.numbers(subset).reshape(-1))
        values.append(own)
        weights.append(np.abs(own) / squares)
        about.append(np.full(own.size, shares_of_one(parameters)[len(subset) - 1]))
    number, value, worth, share = map(np.concatenate, (numbers, values, weights, about))
    chances = best_spread(worth, share, ATTACKERS) / ATTACKERS

    def sign() -> Items:
        chosen = int(rng.choice(len(number), p=chances))
        return {"symbol": 2 * int(number[chosen]) + (bool(value[chosen] < 0) ^ down)}

    return sign


def _functions(
    parameters: InpHTParameters | CoefficientsParameters, attribute: int, level: int
) -> tuple[Floats, Floats]:
    """Return the functions of an attribute at a level, and their mean squares over levels."""
    if isinstance(parameters, CoefficientsParameters) and parameters.basis == "contrasts":
        matrix = contrast_matrix(parameters.levels[attribute])[1:]
    else:
        matrix = walsh_matrix(1 << parameters.bits[attribute])[1:]
    return matrix[:, level], np.asarray(np.square(matrix).mean(axis=1))
