"""Derived quantities of a joint table: conditional probabilities, odds ratios, distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.associate.covariance import grain_of_sums, half_width, widened
from deniable.associate.joint import Joint
from deniable.decode.binomial import few_people
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

Bools = NDArray[np.bool_]

EMPTY_CONDITION = "Some conditions have probability 0: nothing can be said given them."
NO_ODDS = "Some cells or their complements are 0: their odds ratios have no error."


@dataclass(frozen=True)
class Derived:
    """Numbers computed from a joint table, with delta-method errors.

    Attributes:
        names: of the axes.
        labels: of each axis.
        value: the numbers.
        std_error: one standard deviation (of the logarithm, for odds ratios).
        low: of each interval.
        high: of each interval.
        notes: caveats for the reader.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    value: Floats
    std_error: Floats
    low: Floats
    high: Floats
    notes: tuple[str, ...] = ()


def conditional(joint: Joint, of: str, given: str | Sequence[str]) -> Derived:
    """Return P(of | given): axes in the order given..., of; rows sum to 1 over `of`.

    Model: c_ga = x_ga / x_g, whose derivative by x_gb is (1[a = b] - c_ga) / x_g. Variables that
    are named on neither side are summed out.

    Accuracy: intervals have their centre at the unbounded table's ratio, as those of the cells,
        are cut to 0..1 and contain the value.

    Edge cases: NaN where a condition has probability 0, with a note; errors are NaN where the joint
        table has none. A condition that may be nobody's has intervals from 0 to 1.

    Raises:
        InvalidParameter: if a name is no variable of the table, or stands twice.

    Example:
        >>> import numpy as np
        >>> from deniable.associate import Variable
        >>> from deniable.mechanisms import KRR
        >>> rng = np.random.default_rng(1)
        >>> m, dark = KRR(2, epsilon=2.0), rng.integers(2, size=20_000)
        >>> small = np.where(rng.random(20_000) < 0.8, dark, 1 - dark)
        >>> answers = {"dark": dark, "small": small}
        >>> pair = [Variable(name, m, m.simulate(codes, rng)) for name, codes in answers.items()]
        >>> from deniable.associate import estimate_joint
        >>> conditional(estimate_joint(pair), "small", "dark").value.round(1).tolist()
        [[0.8, 0.2], [0.2, 0.8]]
    """
    wanted = (given,) if isinstance(given, str) else tuple(given)
    order = [*wanted, of]
    summing, labels = _margin(joint, order)
    groups, size = int(np.prod([len(part) for part in labels[:-1]])), len(labels[-1])
    table = (summing @ joint.probability.reshape(-1)).reshape(groups, size)
    value = _ratios(table)
    notes = (EMPTY_CONDITION,) if np.isnan(value).any() else ()
    free = (summing @ joint.unbounded.reshape(-1)).reshape(groups, size)
    std_error, low, high = (np.full(value.shape, np.nan) for _ in range(3))
    if joint.unbounded_covariance is not None:
        covariance = summing @ joint.unbounded_covariance @ summing.T
        grain = _summed_grain(joint, summing, covariance)
        for group in np.flatnonzero(table.sum(axis=1) > 0):
            own = slice(group * size, (group + 1) * size)
            block = covariance[own, own]
            # d c_ga / d x_gb = ([a = b] - c_ga)/x_g, and Cov c = J Sigma J' (delta method).
            jacobian = (np.eye(size) - value[group][:, None]) / table[group].sum()
            spread = jacobian @ block @ jacobian.T
            std_error[group] = np.sqrt(np.maximum(spread.diagonal(), 0.0))
            few = None if grain is None else grain[own]
            low[group], high[group] = _given(joint, free[group], block, std_error[group], few)
    low, high = np.fmin(low, value), np.fmax(high, value)
    low, high = _known(std_error, low, high)
    shape = tuple(len(part) for part in labels)
    return Derived(
        tuple(order),
        labels,
        value.reshape(shape),
        std_error.reshape(shape),
        low.reshape(shape),
        high.reshape(shape),
        notes,
    )


def _summed_grain(joint: Joint, summing: Floats, covariance: Floats) -> Floats | None:
    """Return the grains of sums of cells; None where telling reports are many."""
    if joint.grain is None or joint.unbounded_covariance is None:
        return None
    third = summing @ (joint.grain * joint.unbounded_covariance.diagonal())
    return grain_of_sums(third, covariance)


def _given(
    joint: Joint, free: Floats, block: Floats, std_error: Floats, grain: Floats | None
) -> tuple[Floats, Floats]:
    """Return the intervals of the shares of one condition.

    Where the condition itself may be nobody's, since its share is not above 0 by as many errors as
    an interval extends, what is divided by could be nothing: 0 to 1 (Fieller).
    """
    total, z = float(free.sum()), half_width(joint.level)
    if total <= z * np.sqrt(max(float(block.sum()), 0.0)):
        return np.zeros(free.size), np.ones(free.size)
    centre = free / total
    below = above = z * std_error
    if joint.people is not None:
        shares, people = np.clip(centre, 0.0, 1.0), max(1.0, joint.people * total)
        # The unbounded share's own error: that of the value may be 0 where it is at a bound.
        jacobian = (np.eye(free.size) - shares[:, None]) / total
        spread = np.maximum((jacobian @ block @ jacobian.T).diagonal(), 0.0)
        error = np.sqrt(spread)
        below, above = few_people(shares, error, people, joint.level)
        if grain is not None:
            # k3 of J psi, each report's psi in one cell: sum of J^3 g k2.
            third = jacobian**3 @ (grain * block.diagonal())
            coarse = third / np.maximum(spread, 1e-300)
            below, above = widened(below, above, error, coarse, joint.level)
        centre = shares
    return np.clip(centre - below, 0.0, 1.0), np.clip(centre + above, 0.0, 1.0)


def odds_ratios(joint: Joint) -> Derived:
    """Return each cell's odds ratio against the rest of the table of two variables.

    Model: with a = p_ij, b = p_i. - a, c = p_.j - a and d = 1 - a - b - c it is a d / (b c): by
    what factor the odds of the one answer grow among people with the other. Its logarithm has the
    derivatives 1/a, -1/b, -1/c, 1/d.

    Accuracy: intervals are symmetric in the logarithm; `std_error` is of the logarithm. Where the
        noise alone could have made what may be nobody's, the logarithm has no such end: the
        interval reaches 0 if a or d may be nobody's, infinity if b or c may be (Fieller).

    Edge cases: where one of the four is 0 the logarithm has no error: the interval is 0 to
        infinity, and where two that are divided by each other are 0 the value is NaN; both with a
        note.

    Raises:
        InvalidParameter: unless the table has two variables.
    """
    if joint.probability.ndim != 2:
        raise InvalidParameter(
            f"Odds ratios need a table of two variables. Got {joint.probability.ndim}.",
            "Sum the others out: estimate the joint table of the two alone.",
        )
    x, shape = joint.probability, joint.probability.shape
    value, std_error = np.empty(shape), np.full(shape, np.nan)
    lowest, highest = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    rows, columns = np.indices(shape)
    for i, j in np.ndindex(shape):
        mine, theirs = rows == i, columns == j
        masks = (mine & theirs, mine & ~theirs, ~mine & theirs, ~mine & ~theirs)
        four = np.array([x[mask].sum() for mask in masks])
        value[i, j] = _quotient(four[0] * four[3], four[1] * four[2])
        if joint.unbounded_covariance is not None and four.min() > 0:
            signs = np.array([1.0, -1.0, -1.0, 1.0])
            # d log(a d / (b c)): 1/a, -1/b, -1/c, 1/d, each for all cells that it sums.
            slope = sum(s / p * mask for s, p, mask in zip(signs, four, masks, strict=True))
            flat = np.asarray(slope).reshape(-1)
            spread = float(flat @ joint.unbounded_covariance @ flat)
            std_error[i, j] = np.sqrt(max(spread, 0.0))
            a, b, c, d = (_may_be_nobodys(joint, mask) for mask in masks)
            lowest[i, j], highest[i, j] = a or d, b or c
    factor = np.exp(
        np.minimum(half_width(joint.level) * np.nan_to_num(std_error, nan=np.inf), 700.0)
    )
    bounded = np.isfinite(std_error)
    low = np.where(bounded & ~lowest, value / factor, 0.0)
    with np.errstate(over="ignore"):  # an end beyond every number is infinite, as it should be
        high = np.where(bounded & ~highest, value * factor, np.inf)
    notes = () if bounded.all() else (NO_ODDS,)
    return Derived(joint.names, joint.labels, value, std_error, low, high, notes)


def _may_be_nobodys(joint: Joint, mask: Bools) -> bool:
    """Return whether noise could have made the share of these cells out of nothing.

    The sample could not: nobody in the population is nobody among those who reported. Where all
    cells have 20 people and more its part makes no difference.
    """
    covariance, cells = joint.unbounded_covariance, mask.reshape(-1)
    if covariance is None:
        return True
    share = float(joint.unbounded.reshape(-1)[cells].sum())
    noise = float(covariance[np.ix_(cells, cells)].sum())
    if joint.people is not None:
        noise -= max(share * (1 - share), 0.0) / joint.people
    return bool(share <= half_width(joint.level) * np.sqrt(max(noise, 0.0)))


def hellinger(p: Floats, q: Floats) -> float:
    """Return the Hellinger distance of two distributions: 0 if equal, 1 if disjoint.

    Model: sqrt(1/2 sum (sqrt p - sqrt q)^2), over all cells of two tables of one shape.

    Raises:
        InvalidParameter: if the shapes differ, or a probability is negative or not a number.

    Example:
        >>> hellinger(np.array([0.5, 0.5]), np.array([0.5, 0.5]))
        0.0
        >>> hellinger(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        1.0
    """
    one, two = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if one.shape != two.shape or not (np.all(one >= 0) and np.all(two >= 0)):
        raise InvalidParameter(
            "The Hellinger distance needs two tables of one shape with probabilities of at least "
            f"0. Got shapes {one.shape} and {two.shape}."
        )
    return float(np.sqrt(0.5 * np.square(np.sqrt(one) - np.sqrt(two)).sum()))


def _margin(joint: Joint, order: Sequence[str]) -> tuple[Floats, tuple[tuple[str, ...], ...]]:
    """Return the matrix that sums a flat table to the named axes in order, and their labels."""
    unknown = [name for name in order if name not in joint.names]
    if unknown or len(set(order)) < len(order):
        raise InvalidParameter(
            f"Name different variables of the table: {', '.join(joint.names)}. "
            f"Got {', '.join(order)}."
        )
    axes = [joint.names.index(name) for name in order]
    shape = [joint.probability.shape[axis] for axis in axes]
    index = np.indices(joint.probability.shape).reshape(joint.probability.ndim, -1)
    target = np.ravel_multi_index(tuple(index[axis] for axis in axes), shape)
    summing = (np.arange(int(np.prod(shape)))[:, None] == target).astype(np.float64)
    return summing, tuple(joint.labels[axis] for axis in axes)


def _ratios(table: Floats) -> Floats:
    total = table.sum(axis=1, keepdims=True)
    found: Floats = np.full_like(table, np.nan)
    np.divide(table, total, out=found, where=total > 0)
    return found


def _known(std_error: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the intervals, NaN where there is no error to make one from."""
    known = np.isfinite(std_error)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _quotient(above: float, below: float) -> float:
    if below > 0:
        return above / below
    return np.inf if above > 0 else np.nan
