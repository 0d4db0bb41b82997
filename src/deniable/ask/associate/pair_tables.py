"""The table of two fields out of a table of more."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from deniable.associate import Joint
from deniable.associate.covariance import half_width
from deniable.mechanisms.base import Floats


def marginal(joint: Joint, names: tuple[str, str]) -> Joint:
    """Return the joint distribution of two of the variables, the others summed out.

    Model: the table is M p, with M a matrix of zeros and ones, and its covariance M C M'.

    Its covariances hold what `placement` says of the whole table's, in one with all else.

    Edge cases: a table too large to have a covariance gives no errors (NaN). Of a table of two
    variables it is the table itself, or its transpose.
    """
    axes = tuple(joint.names.index(name) for name in names)
    if joint.names == names:
        return joint
    whole = np.arange(joint.probability.size).reshape(joint.probability.shape)
    rest = [axis for axis in range(whole.ndim) if axis not in axes]
    shape = tuple(joint.probability.shape[axis] for axis in axes)
    groups = np.transpose(whole, (*axes, *rest)).reshape(int(np.prod(shape)), -1)
    centre = joint.unbounded if joint.unbounded.size else joint.probability
    middle = centre.ravel()[groups].sum(axis=1).reshape(shape)
    free = _summed(joint.unbounded_covariance, groups)
    error = np.full(shape, np.nan)
    if free is not None:
        error = np.sqrt(np.maximum(0, np.diagonal(free))).reshape(shape)
    wide = half_width(joint.level) * error
    return replace(
        joint,
        names=names,
        labels=tuple(joint.labels[axis] for axis in axes),
        probability=joint.probability.ravel()[groups].sum(axis=1).reshape(shape),
        std_error=error,
        low=middle - wide,
        high=middle + wide,
        covariance=_summed(joint.covariance, groups),
        unbounded=middle,
        unbounded_covariance=free,
        placement=None,
    )


def pairs_of(joint: Joint) -> list[Joint]:
    """Return the tables of all pairs of variables."""
    return [marginal(joint, names) for names in combinations(joint.names, 2)]


def _summed(
    covariance: Floats | None, groups: np.ndarray[tuple[int, int], np.dtype[np.intp]]
) -> Floats | None:
    if covariance is None:
        return None
    # M C M': sums over the rows, then over the columns, of each group of cells.
    rows = covariance[groups].sum(axis=1)
    return np.asarray(rows[:, groups].sum(axis=2))
