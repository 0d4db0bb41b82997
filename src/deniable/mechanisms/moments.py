"""Moments of contrasts: the one form in which every method states its estimates of profiles.

Model: attribute i with r answers has r - 1 *contrasts*, functions of the answer with values in
[-1, 1] that sum to 0 over the answers (protocol/contrasts.py; of a yes/no attribute +1 and -1). The
moment of a set of attributes, with one contrast each, is the mean over the people of the product
of the contrasts. With the 1 of the empty set, the moments of all subsets of a set are its table:
cells = (F_1 x ... x F_k)^-1 moments, where F_i has the rows 1 and the contrasts of attribute i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from deniable.mechanisms.base import Floats

Subset = tuple[int, ...]
"""Attributes by number, rising."""


@dataclass(frozen=True)
class Moment:
    """The moments of one set of attributes.

    Attributes:
        theta: unbiased, an axis of r - 1 contrasts per attribute.
        variance: of each entry, sampling of the people included; infinite where nobody
            reported on it.
        reports: the number of reports that say something about it.
    """

    theta: Floats
    variance: Floats
    reports: float


@dataclass(frozen=True)
class Moments:
    """The moments that a mechanism measured, set by set.

    Attributes:
        answers: of every attribute.
        measured: from a set of attributes to its moments.
        n: the number of reports.
    """

    answers: tuple[int, ...]
    measured: Mapping[Subset, Moment]
    n: int


def subsets_of(attributes: Sequence[int]) -> list[Subset]:
    """Return the non-empty subsets, the smallest first."""
    sizes = range(1, len(attributes) + 1)
    return [chosen for size in sizes for chosen in combinations(sorted(attributes), size)]


def along_axes(tensor: Floats, matrices: Sequence[Floats]) -> Floats:
    """Return a tensor with a matrix applied along each of its last axes.

    Axes before them are kept, so that a whole stack of tables is transformed at once.
    """
    first = tensor.ndim - len(matrices)
    for axis, matrix in enumerate(matrices, start=first):
        tensor = np.moveaxis(np.moveaxis(tensor, axis, -1) @ matrix.T, -1, axis)
    return tensor


def design(matrices: Sequence[Floats]) -> Floats:
    """Return the matrix that maps cells in C order to moments in C order: F_1 x ... x F_k."""
    result: Floats = np.ones((1, 1))
    for matrix in matrices:
        result = np.asarray(np.kron(result, matrix), dtype=np.float64)
    return result
