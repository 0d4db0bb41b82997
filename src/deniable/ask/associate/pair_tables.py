"""The table of two fields out of a table of more."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from deniable.associate import Joint
from deniable.associate.covariance import CellErrors, errors_around, grain_of_sums
from deniable.mechanisms.base import Floats

Places = np.ndarray[tuple[int, int], np.dtype[np.intp]]


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
    middle = centre.ravel()[groups].sum(axis=1)
    x = joint.probability.ravel()[groups].sum(axis=1)
    found = _errors(joint, groups, x, middle)
    return replace(
        joint,
        names=names,
        labels=tuple(joint.labels[axis] for axis in axes),
        probability=x.reshape(shape),
        std_error=found.std_error.reshape(shape),
        low=found.low.reshape(shape),
        high=found.high.reshape(shape),
        covariance=found.covariance,
        unbounded=middle.reshape(shape),
        unbounded_covariance=found.unbounded_covariance,
        placement=None,
        grain=found.grain,
    )


def _errors(joint: Joint, groups: Places, x: Floats, middle: Floats) -> CellErrors:
    """Return the errors of sums of cells, as those of cells are made."""
    free, active = (
        _summed(covariance, groups) for covariance in (joint.unbounded_covariance, joint.covariance)
    )
    if free is None or active is None:
        unknown = np.full(len(x), np.nan)
        return CellErrors(unknown, unknown, unknown, None, middle, None)
    grain = None
    if joint.grain is not None and joint.unbounded_covariance is not None:
        third = joint.grain * joint.unbounded_covariance.diagonal()
        grain = grain_of_sums(third[groups].sum(axis=1), free)
    return errors_around(x, middle, free, active, joint.level, joint.people, grain)


def pairs_of(joint: Joint) -> list[Joint]:
    """Return the tables of all pairs of variables."""
    return [marginal(joint, names) for names in combinations(joint.names, 2)]


def _summed(covariance: Floats | None, groups: Places) -> Floats | None:
    if covariance is None:
        return None
    # M C M': sums over the rows, then over the columns, of each group of cells.
    rows = covariance[groups].sum(axis=1)
    return np.asarray(rows[:, groups].sum(axis=2))
