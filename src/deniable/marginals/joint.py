"""The distribution of whole records, where they have few cells: all tables are its margins.

Tables that are smoothed one by one know nothing of each other but their margins. Where all cells of
the record can be listed, one distribution p over them is fitted to all moments x_S at once:

    minimise KL(p | r) + sum_S t_S^2 (E_p[phi_S] - x_S)^2 / (2 V_S)

(marginals/relaxed.py), where phi_S is the product of one contrast of each attribute of the set S,
and V_S the noise of x_S. That every cell of the whole record is at least 0 is then used for every
table, which helps most where attributes are rare or follow from each other.

The reference r has the shares of single attributes and nothing else, or what common causes explain
besides (marginals/factors.py). KL is the prior: for one small interaction, divided by the standard
deviations of its contrasts, the two sums together act as a normal prior of variance t^2. That is
what empirical Bayes says: for each pair its own, so that large ones are left alone; for three
attributes and more one for all sets of that many; 1 for single attributes, which says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import NamedTuple

import numpy as np

from deniable.marginals.interactions import Interactions, Shape
from deniable.marginals.relaxed import relaxed_entropy
from deniable.marginals.shrinkage import LARGEST, SMALLEST_SPREAD, fit_spread
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import Moments, Subset, design

MOST_CELLS = 1_024
MOST_MOMENTS = 512
"""Records of more cells or moments than these are smoothed table by table."""
RAREST = 1e-4
"""The least share of a level in the reference: what one attribute says is 0 may be not quite."""
CERTAIN = 1e-9
"""The least variance of a moment."""


class Step(NamedTuple):
    """The interactions of all sets of one number of attributes.

    Attributes:
        groups: the sets of every shape.
        interactions: of every shape; none where none was measured.
    """

    groups: Mapping[Shape, Sequence[Subset]]
    interactions: Mapping[Shape, Interactions]


class _Means(NamedTuple):
    """Measured means: their functions of the cells, noise, prior variance and prior mean."""

    functions: Floats
    values: Floats
    noise: Floats
    spread: Floats
    centre: Floats


def has_few_cells(moments: Moments) -> bool:
    """Return whether the whole record can be fitted, and more than single attributes are known."""
    several = any(len(s) > 1 for s in moments.measured)
    count = sum(moment.theta.size for moment in moments.measured.values())
    return several and prod(moments.levels) <= MOST_CELLS and count <= MOST_MOMENTS


def joint_distribution(
    moments: Moments, tables: Mapping[Subset, Floats], steps: Sequence[Step]
) -> Floats:
    """Return the distribution of whole records, an axis per attribute.

    Guarantees: cells are at least 0 and sum to 1. What nobody measured has no interaction.

    Cost: O(cells moments^2) for each of ten or twenty steps.

    Args:
        moments: what was measured.
        tables: of every single attribute, smoothed.
        steps: the interactions of pairs, of three attributes, and so on.
    """
    singles = [tables[(i,)] for i in range(len(moments.levels))]
    reference = reduce(np.multiply.outer, [_never_zero(shares) for shares in singles]).reshape(-1)
    parts = [_single(moments, i, shares) for i, shares in enumerate(singles)]
    for number, step in enumerate(steps):
        parts += _several(moments, step)
        explained = any(one.centre.any() for one in step.interactions.values())
        if number == 0 and explained:
            known = _together(parts)
            reference = relaxed_entropy(reference, known.functions, known.centre, known.noise)
    known = _together(parts)
    slack = known.noise / known.spread
    cells = relaxed_entropy(reference, known.functions, known.values, slack)
    return cells.reshape(moments.levels)


def _never_zero(shares: Floats) -> Floats:
    raised = np.maximum(shares, RAREST)
    return np.asarray(raised / raised.sum())


def _functions(levels: Sequence[int], attributes: Subset) -> Floats:
    """Return the products of one contrast of each attribute, over all cells of the record."""
    parts = [
        contrast_matrix(count)[1:] if i in attributes else np.ones((1, count))
        for i, count in enumerate(levels)
    ]
    return design(parts)


def _single(moments: Moments, attribute: int, shares: Floats) -> _Means:
    moment = moments.measured[(attribute,)]
    centre = contrast_matrix(len(shares))[1:] @ shares
    functions, spread = _functions(moments.levels, (attribute,)), np.full(centre.size, LARGEST**2)
    return _Means(functions, moment.theta, moment.variance, spread, centre)


def _several(moments: Moments, step: Step) -> list[_Means]:
    """Return the means of all sets of one number of attributes."""
    spreads, result = _spreads(step), []
    for shape, one in step.interactions.items():
        for row, attributes in enumerate(step.groups[shape]):
            moment = moments.measured.get(attributes)
            if moment is None:
                continue
            values, noise = moment.theta.reshape(-1), moment.variance.reshape(-1)
            centre = values - (one.value[row] - one.centre[row]).reshape(-1)
            spread = spreads[shape][row].reshape(-1)
            functions = _functions(moments.levels, attributes)
            result.append(_Means(functions, values, noise, spread, centre))
    return result


def _spreads(step: Step) -> dict[Shape, Floats]:
    """Return the prior variances of all standardised interactions."""
    noise = {shape: one.variance / one.scale**2 for shape, one in step.interactions.items()}
    if all(len(shape) > 2 for shape in noise):
        flat = [(one.value / one.scale).reshape(-1) for one in step.interactions.values()]
        if not flat:
            return {}
        variances = np.concatenate([one.reshape(-1) for one in noise.values()])
        common = fit_spread(np.concatenate(flat), variances)
        return {shape: np.full(one.shape, common) for shape, one in noise.items()}
    # A share kept = t^2/(t^2 + noise) is what the prior variance t^2 keeps.
    result = {}
    for shape, one in step.interactions.items():
        lost = np.maximum(1 - one.kept, SMALLEST_SPREAD)
        with np.errstate(invalid="ignore"):
            spread = np.where(np.isfinite(noise[shape]), noise[shape] * one.kept / lost, 0.0)
        result[shape] = np.clip(spread, SMALLEST_SPREAD, LARGEST**2)
    return result


def _together(parts: Sequence[_Means]) -> _Means:
    """Return the means of all parts that somebody reported on."""
    joined = _Means(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    known = np.isfinite(joined.noise)
    kept = _Means(*(column[known] for column in joined))
    return kept._replace(noise=np.maximum(kept.noise, CERTAIN))
