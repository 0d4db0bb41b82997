"""Interactions of sets of attributes: measured moments less expected ones, shrunken.

Model: x_S is the measured moment of set S (one contrast of each attribute), e_S the one of the
table of largest entropy with the margins known so far; for a pair the product of the two moments.
The interaction x_S - e_S, divided by the standard deviations of the contrasts, is a correlation (of
a pair) or its like for more attributes. Its noise has the variance of x_S, and for a pair also that
of the product: V_ij + theta_j^2 V_i + theta_i^2 V_j.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.marginals.factors import LEAST, common_causes
from deniable.marginals.shrinkage import fit_prior
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import Moments, Subset, along_axes

Shape = tuple[int, ...]

SMALLEST = 1e-3
"""The least standard deviation of a contrast: an attribute that is all but constant has none."""
PREFERRED = 2.0
"""The gain in log-likelihood from which common causes are believed."""


@dataclass(frozen=True)
class Interactions:
    """The interactions of sets of one shape: a row per set, an axis of contrasts per attribute.

    Attributes:
        value: measured, less what smaller tables expect; 0 where nothing was measured.
        variance: of its noise; infinite where nothing was measured.
        scale: the product of the contrasts' standard deviations; values over it are correlations.
        centre: what common causes explain, else 0.
        kept: the share of `value - centre` that is believed.
    """

    value: Floats
    variance: Floats
    scale: Floats
    centre: Floats
    kept: Floats

    @property
    def shrunken(self) -> Floats:
        """The interactions that are believed."""
        return self.centre + self.kept * (self.value - self.centre)


def interactions_of(
    moments: Moments,
    groups: Mapping[Shape, Sequence[Subset]],
    expected: Mapping[Shape, Floats],
    tables: Mapping[Subset, Floats],
) -> dict[Shape, Interactions]:
    """Return the interactions of the sets of every shape; none where none was measured.

    Args:
        moments: the measured ones.
        groups: the sets of each shape.
        expected: their tables of largest entropy.
        tables: of single attributes at least.
    """
    measured = {
        shape: _measured(moments, group, expected[shape], tables)
        for shape, group in groups.items()
        if any(s in moments.measured for s in group)
    }
    if not measured:
        return {}
    value = np.concatenate([(m.value / m.scale).reshape(-1) for m in measured.values()])
    variance = np.concatenate([(m.variance / m.scale**2).reshape(-1) for m in measured.values()])
    prior, centre = fit_prior(value, variance), np.zeros(value.size)
    pairs = len(next(iter(measured))) == 2
    if pairs and len(moments.answers) >= LEAST:
        fitted, left_out = _explained(moments, groups, measured)
        other = fit_prior(value - left_out, variance)
        if other.log_likelihood > prior.log_likelihood + PREFERRED:
            prior, centre = other, fitted
    kept = prior.kept(value - centre, variance)
    if pairs:
        kept = _trusted(kept, variance)
    return _believed(measured, centre, kept)


def _trusted(kept: Floats, variance: Floats) -> Floats:
    """Return the kept shares of m effects, with (m - 2)/m of the shrinkage of a known prior.

    A prior that m effects must tell themselves is worth less than a known one: James and Stein's
    estimator shrinks by (m - 2)/m of it ["Estimation with quadratic loss", 1961], and one or two
    effects are not shrunk at all. This is for pairs, whose interactions are often large;
    interactions of more attributes are mostly nothing, few or many.
    """
    known = np.isfinite(variance)
    effects = int(known.sum())
    share = max(0, effects - 2) / max(1, effects)
    return np.where(known, 1 - share * (1 - kept), kept)


def _believed(
    measured: Mapping[Shape, Interactions], centre: Floats, kept: Floats
) -> dict[Shape, Interactions]:
    """Return interactions with centres (standardised) and shares, given for all shapes in a row."""
    result, start = {}, 0
    for shape, m in measured.items():
        part = slice(start, start + m.value.size)
        own = centre[part].reshape(m.value.shape) * m.scale
        result[shape] = replace(m, centre=own, kept=kept[part].reshape(m.value.shape))
        start += m.value.size
    return result


def _measured(
    moments: Moments, group: Sequence[Subset], expected: Floats, tables: Mapping[Subset, Floats]
) -> Interactions:
    """Return measured interactions with their noise; infinite where nothing was measured."""
    shape = expected.shape[1:]
    functions = [contrast_matrix(count)[1:] for count in shape]
    inner = tuple(count - 1 for count in shape)
    nothing = (np.zeros(inner), np.full(inner, np.inf))
    found = [
        (m.theta, m.variance) if (m := moments.measured.get(s)) is not None else nothing
        for s in group
    ]
    value = np.array([theta for theta, _ in found]) - along_axes(expected, functions)
    variance = np.array([noise for _, noise in found])
    if len(shape) == 2:
        # Var(x_ij - theta_i theta_j) by the delta method (docs/mathematics.md, section 5).
        variance = variance + _product_noise(moments, group)
    scale = np.ones(value.shape)
    for axis in range(len(shape)):
        deviations = np.array([_deviation(tables[(s[axis],)]) for s in group])
        place = [len(group), *(inner[axis] if a == axis else 1 for a in range(len(shape)))]
        scale = scale * deviations.reshape(place)
    value = np.where(np.isfinite(variance), value, 0.0)
    nowhere = np.zeros(value.shape)
    return Interactions(value, variance, scale, centre=nowhere, kept=nowhere)


def _product_noise(moments: Moments, group: Sequence[Subset]) -> Floats:
    """Return theta_j^2 V_i + theta_i^2 V_j of each pair.

    A moment that nobody reported on lies in -1..1: its variance counts as 1, not as infinite.
    """
    first, second = ([moments.measured[(s[a],)] for s in group] for a in (0, 1))
    theta, noise = (
        ([np.clip(m.theta, -1, 1) ** 2 for m in part] for part in (first, second)),
        ([np.minimum(m.variance, 1.0) for m in part] for part in (first, second)),
    )
    (one, two), (v_one, v_two) = theta, noise
    left = np.array(v_one)[:, :, None] * np.array(two)[:, None, :]
    return np.asarray(left + np.array(one)[:, :, None] * np.array(v_two)[:, None, :])


def _deviation(shares: Floats) -> Floats:
    """Return the standard deviation of each contrast of an attribute."""
    functions = contrast_matrix(len(shares))[1:]
    # Var phi = E[phi^2] - E[phi]^2 over the answers.
    squares = (functions**2) @ shares - (functions @ shares) ** 2
    return np.sqrt(np.maximum(squares, SMALLEST**2))


def _explained(
    moments: Moments,
    groups: Mapping[Shape, Sequence[Subset]],
    measured: Mapping[Shape, Interactions],
) -> tuple[Floats, Floats]:
    """Return the fit of common causes to standardised interactions, with and without itself."""
    starts = np.concatenate([[0], np.cumsum([count - 1 for count in moments.answers])])
    size = int(starts[-1])
    matrix, variance = np.zeros((size, size)), np.full((size, size), np.inf)
    places: list[tuple[Floats, Floats]] = []
    for shape, m in measured.items():
        pairs = np.array(groups[shape])
        rows = starts[pairs[:, 0]][:, None, None] + np.arange(shape[0] - 1)[:, None]
        columns = starts[pairs[:, 1]][:, None, None] + np.arange(shape[1] - 1)
        rows, columns = np.broadcast_arrays(rows, columns)
        for a, b in ((rows, columns), (columns, rows)):
            matrix[a, b], variance[a, b] = m.value, m.variance
        places.append((rows, columns))
    structure = common_causes(matrix, variance, np.isfinite(variance))
    scales = np.concatenate([m.scale.reshape(-1) for m in measured.values()])
    fitted, left_out = (
        np.concatenate([part[at].reshape(-1) for at in places]) / scales for part in structure
    )
    return np.clip(fitted, -1, 1), np.clip(left_out, -1, 1)
