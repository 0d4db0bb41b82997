"""The distribution of whole profiles, where they have few cells: all tables are its margins.

Tables that are smoothed one by one know nothing of each other but their margins. Where all cells of
the profile can be listed, one distribution p over them is fitted to all moments x_S at once:

    minimise KL(p | r) + sum_S t_S^2 (E_p[phi_S] - x_S)^2 / (2 V_S)

(marginals/maxent_of_noisy_means.py), where phi_S is the product of one contrast of each attribute
of the set S, and V_S the noise of x_S. That every cell of the whole profile is at least 0 is then
used for every table, which helps most where attributes are rare or follow from each other.

The reference r has the shares of single attributes and nothing else, or what common causes explain
besides (marginals/factors.py). KL is the prior: for one small interaction, divided by the standard
deviations of its contrasts, the two sums together act as a normal prior of variance t^2. That is
what empirical Bayes says, for each interaction its own, so that large ones are left alone; 1 for
single attributes, which says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import NamedTuple

import numpy as np

from deniable.marginals.interactions import Interactions, Shape
from deniable.marginals.maxent_of_noisy_means import relaxed_entropy
from deniable.marginals.shrinkage import LARGEST, SMALLEST_SPREAD, fit_spread
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import Moments, Subset, design

MOST_CELLS = 1_024
MOST_MOMENTS = 512
"""Profiles of more cells or moments than these are smoothed table by table."""
PRECISE = 0.004
"""So are pairs whose moments have a smaller standard error in the middle: there is nothing to win,
and that the prior is about interactions with all other attributes held fixed begins to show."""
RAREST = 1e-4
"""The least share of an answer in the reference: an estimated 0 may be not quite 0."""
CERTAIN = 1e-9
"""The least variance of a moment."""
NOBODY = 1e-9
"""Cells of a smaller share are 0: an attribute that hardly anybody has counts as constant."""
FAR = 2.0
"""The standard errors by which a fit may miss a mean; beyond, the prior held it back too much."""
ROUNDS = 3


class Step(NamedTuple):
    """The interactions of all sets of one number of attributes.

    Attributes:
        groups: the sets of every shape.
        interactions: of every shape; none where none was measured.
    """

    groups: Mapping[Shape, Sequence[Subset]]
    interactions: Mapping[Shape, Interactions]


class _Means(NamedTuple):
    """Measured means: functions of the cells, noise, prior mean and variance, deviation."""

    functions: Floats
    values: Floats
    noise: Floats
    centre: Floats
    spread: Floats
    scale: Floats


def is_fitted_whole(moments: Moments) -> bool:
    """Tell whether the profile has few cells and moments, and noise that is worth taking off."""
    pairs = [moment.variance.reshape(-1) for s, moment in moments.measured.items() if len(s) == 2]
    if not pairs or prod(moments.answers) > MOST_CELLS:
        return False
    count = sum(moment.theta.size for moment in moments.measured.values())
    return count <= MOST_MOMENTS and float(np.median(np.concatenate(pairs))) > PRECISE**2


def joint_distribution(
    moments: Moments, tables: Mapping[Subset, Floats], steps: Sequence[Step]
) -> Floats:
    """Return the distribution of whole profiles, an axis per attribute.

    Guarantees: cells are at least 0 and sum to 1. What nobody measured has no interaction.

    Cost: O(cells moments^2) for each of ten or twenty steps.

    Args:
        moments: the measured ones.
        tables: of every single attribute, smoothed.
        steps: the interactions of pairs, of three attributes, and so on.
    """
    singles = [tables[(i,)] for i in range(len(moments.answers))]
    reference = reduce(np.multiply.outer, [_never_zero(shares) for shares in singles]).reshape(-1)
    parts = [_single(moments, i, shares) for i, shares in enumerate(singles)]
    for number, step in enumerate(steps):
        parts += _several(moments, step)
        explained = any(one.centre.any() for one in step.interactions.values())
        if number == 0 and explained:
            known = _together(parts)
            fit = relaxed_entropy(reference, known.functions, known.centre, known.noise)
            reference = fit.cells
    cells = _fitted(reference, _together(parts)).reshape(moments.answers)
    some = np.where(cells < NOBODY, 0.0, cells)
    return np.asarray(some / some.sum())


def _fitted(reference: Floats, known: _Means) -> Floats:
    """Return the distribution that fits all means, none of them held back far from its value.

    The prior variance comes from interactions of the set by itself. A pair may have none by itself
    and a large one beside other attributes, which shows in eta: then its prior is made wider.
    """
    spread, eta = known.spread, None
    for _ in range(ROUNDS):
        slack = known.noise / spread
        # t^2 (E - x)^2/(2 V) is a quadratic term with slack q = V / t^2.
        cells, eta = relaxed_entropy(reference, known.functions, known.values, slack, eta)
        missed = np.abs(known.values - known.functions @ cells)
        wider = np.minimum(np.maximum(spread, (eta * known.scale) ** 2), LARGEST**2)
        far = (missed > FAR * np.sqrt(known.noise)) & (wider > spread)
        if not far.any():
            return cells
        spread = np.where(far, wider, spread)
    slack = known.noise / spread
    return relaxed_entropy(reference, known.functions, known.values, slack, eta).cells


def _never_zero(shares: Floats) -> Floats:
    raised = np.maximum(shares, RAREST)
    return np.asarray(raised / raised.sum())


def _functions(answers: Sequence[int], attributes: Subset) -> Floats:
    """Return the products of one contrast of each attribute, over all cells of the profile."""
    parts = [
        contrast_matrix(count)[1:] if i in attributes else np.ones((1, count))
        for i, count in enumerate(answers)
    ]
    return design(parts)


def _single(moments: Moments, attribute: int, shares: Floats) -> _Means:
    moment = moments.measured[(attribute,)]
    centre = contrast_matrix(len(shares))[1:] @ shares
    functions, one = _functions(moments.answers, (attribute,)), np.ones(centre.size)
    return _Means(functions, moment.theta, moment.variance, centre, LARGEST**2 * one, one)


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
            spread, scale = spreads[shape][row].reshape(-1), one.scale[row].reshape(-1)
            functions = _functions(moments.answers, attributes)
            result.append(_Means(functions, values, noise, centre, spread, scale))
    return result


def _spreads(step: Step) -> dict[Shape, Floats]:
    """Return the prior variances of the standardised interactions of all sets of one size.

    Those of a pair are its own. Among the many of more attributes luck looks like an effect: theirs
    are at most that of one normal distribution for all of them.
    """
    most = LARGEST**2
    if any(len(shape) > 2 for shape in step.interactions):
        found = list(step.interactions.values())
        values = np.concatenate([(one.value / one.scale).reshape(-1) for one in found])
        noise = np.concatenate([(one.variance / one.scale**2).reshape(-1) for one in found])
        most = fit_spread(values, noise)
    return {shape: _own_spread(one, most) for shape, one in step.interactions.items()}


def _own_spread(one: Interactions, most: float) -> Floats:
    """Return the prior variance t^2 of the kept shares: kept = t^2/(t^2 + noise)."""
    noise = np.where(np.isfinite(one.variance), one.variance / one.scale**2, 0.0)
    lost = np.maximum(1 - one.kept, SMALLEST_SPREAD)
    # kept = t^2/(t^2 + V) solved for t^2 = V kept/(1 - kept).
    return np.clip(noise * one.kept / lost, SMALLEST_SPREAD, most)


def _together(parts: Sequence[_Means]) -> _Means:
    """Return the means of all parts that somebody reported on."""
    joined = _Means(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    known = np.isfinite(joined.noise)
    kept = _Means(*(column[known] for column in joined))
    return kept._replace(noise=np.maximum(kept.noise, CERTAIN))
