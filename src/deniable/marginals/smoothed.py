"""Smoothed tables: distributions that agree with each other, nearer to the truth on average.

From the moments that a mechanism measured, order by order:

1. One attribute: its unbiased shares, projected onto the simplex.
2. k attributes: the table of largest entropy with the margins of the last step, which has no
   interaction of all k. What was measured beyond it, the *interaction*, is mostly noise: it is
   shrunken as far as all interactions of that order together say (marginals/shrinkage.py); those
   of pairs first towards what few common causes explain, where that helps (marginals/factors.py).
3. The shrunken interaction is added as far as no cell becomes negative; margins stay as they are.

So tables agree: the margin of a table of k attributes is the table of those k - 1. Orders that
nobody measured, and coefficients without reports, have no interaction: largest entropy.

Where the whole profile has few cells, these steps only say how far to shrink, and all tables are
the margins of one distribution of whole profiles (marginals/joint.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from deniable import _validate
from deniable.decode.simplex import project
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.marginals.interactions import Interactions, interactions_of
from deniable.marginals.joint import MOST_CELLS, Step, is_fitted_whole, joint_distribution
from deniable.marginals.maxent import fit_margins, largest_entropy, margins_of
from deniable.marginals.raw import axes_of
from deniable.marginals.table import Table
from deniable.mechanisms import Counts, ProfileMechanism
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix, inverse
from deniable.mechanisms.moments import Moments, Subset, along_axes
from deniable.mechanisms.profile_base import NO_REPORTS

Tables = dict[Subset, Floats]

AGREES = 1e-3
"""Tables whose margins are off by more get a note."""
CONTRADICTS = (
    "The tables of fewer attributes, smoothed one by one, contradict each other here: this table "
    "agrees with them up to a few thousandths."
)
TOO_FEW = (
    "Too few reports: {n:,} for {unknowns:,} numbers that tables of up to {order} attributes are "
    "made of. Smoothed shares are mostly noise, those of 0% and 100% too."
)


@one_thread
def smoothed_tables(
    mechanism: ProfileMechanism,
    counts: Counts,
    order: int | None = None,
    subsets: Iterable[Sequence[str | int]] | None = None,
) -> dict[Subset, Table]:
    """Return smoothed tables of all sets of `order` attributes, or of given sets.

    Guarantees: shares are at least 0 and sum to 1; tables of one and two attributes agree with each
    other and with larger ones, whichever call made them (a note says where three or more attributes
    allow it only nearly).

    Edge cases: more attributes than were collected together are allowed: largest entropy fills
    in. Without reports every table is uniform, with a note.

    Cost: for 32 yes/no attributes all 4,960 tables of three take a few seconds; one of them a tenth
    of that, since only its own moments of three attributes are read.

    Args:
        mechanism: of the question.
        counts: of its reports.
        order: attributes of every table; by default the question's order.
        subsets: the sets wanted, by names or numbers; each comes back under its rising numbers.

    Raises:
        InvalidParameter: if an attribute is unknown or repeated, or the order is none.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import mechanism_for
        >>> from deniable.protocol import Attribute, Boolean, Profile
        >>> profile = Profile(tuple(Attribute(name, Boolean()) for name in ("card", "tip")))
        >>> from deniable.authoring import resolve
        >>> wanted = {"epsilon": 3.0, "order": 2}
        >>> m = mechanism_for(resolve("marg_ps", wanted, profile, False))
        >>> rng = np.random.default_rng(1)
        >>> people = np.repeat(rng.integers(2, size=20_000), 2).reshape(-1, 2)
        >>> counts = m.accumulate(m.simulate(people, rng))
        >>> smoothed_tables(m, counts, 1)[0,].probability.round(1).tolist()
        [0.5, 0.5]
    """
    wanted = _wanted(mechanism, order, subsets)
    most = max(map(len, wanted), default=1)
    moments = mechanism.moments(counts, needed=_needed(mechanism, wanted))
    tables, off = smooth(moments, most, wanted)
    found: dict[Subset, Table] = {}
    common = _common_notes(mechanism, counts.n)
    for attributes in wanted:
        names, labels = axes_of(mechanism, attributes)
        notes = common
        if attributes in off:
            notes = (*notes, CONTRADICTS)
        found[attributes] = Table.smoothed(names, labels, tables[attributes], counts.n, notes)
    return found


def _needed(mechanism: ProfileMechanism, wanted: Sequence[Subset]) -> set[Subset] | None:
    """Return the sets of three and more attributes that matter; None for all of them.

    A profile of few cells may be fitted as a whole, to all its moments.
    """
    if prod(mechanism.answers) <= MOST_CELLS:
        return None
    return {
        part
        for whole in wanted
        for size in range(3, len(whole) + 1)
        for part in combinations(whole, size)
    }


def _common_notes(mechanism: ProfileMechanism, n: int) -> tuple[str, ...]:
    """Return the notes of all smoothed tables: that there are no or too few reports."""
    order, unknowns = mechanism.parameters.order, mechanism.parameters.unknowns
    if n == 0:
        return (NO_REPORTS,)
    if n < unknowns:
        return (TOO_FEW.format(n=n, unknowns=unknowns, order=order),)
    return ()


def _wanted(
    mechanism: ProfileMechanism,
    order: int | None,
    subsets: Iterable[Sequence[str | int]] | None,
) -> list[Subset]:
    attributes = len(mechanism.answers)
    if subsets is not None:
        return [tuple(sorted(mechanism.numbers(subset))) for subset in subsets]
    size = mechanism.parameters.order if order is None else order
    size = _validate.integer("order", "smoothed_tables", size, 1, attributes)
    return list(combinations(range(attributes), size))


@one_thread
def smooth(
    moments: Moments,
    order: int,
    wanted: Sequence[Subset] | None = None,
    *,
    whole: bool = True,
) -> tuple[Tables, set[Subset]]:
    """Return the smoothed tables of all sets up to an order, and those that agree only nearly.

    Args:
        moments: the measured ones.
        order: attributes of the largest tables.
        wanted: of three and more attributes only these sets and their subsets are made; by
            default all.
        whole: whether profiles of few cells are fitted as one distribution; for comparisons.

    Raises:
        InvalidParameter: if no moments of single attributes were measured.
    """
    attributes = len(moments.answers)
    if not all((i,) in moments.measured for i in range(attributes)):
        raise InvalidParameter("Smoothing needs the moments of every single attribute.")
    if not (whole and is_fitted_whole(moments)):
        tables, off, _ = _table_by_table(moments, order, wanted)
        return tables, off
    tables, _, steps = _table_by_table(moments, max(map(len, moments.measured)), None)
    joint = joint_distribution(moments, tables, steps)
    sets = [s for size in range(1, order + 1) for s in _sets(attributes, size, wanted)]
    return {s: _margin(joint, s) for s in sets}, set()


@one_thread
def pairs_apart(moments: Moments) -> dict[tuple[int, int], Floats]:
    """Return the tables of all pairs smoothed one by one, where `smooth` fits a whole profile.

    Edge cases: empty where tables are smoothed one by one in any case.
    """
    if not is_fitted_whole(moments):
        return {}
    tables, _ = smooth(moments, 2, whole=False)
    return {(i, j): tables[i, j] for i, j in combinations(range(len(moments.answers)), 2)}


def _margin(joint: Floats, attributes: Subset) -> Floats:
    """Return the table of some attributes."""
    others = tuple(i for i in range(joint.ndim) if i not in attributes)
    return np.asarray(joint.sum(axis=others))


def _table_by_table(
    moments: Moments, order: int, wanted: Sequence[Subset] | None
) -> tuple[Tables, set[Subset], list[Step]]:
    """Return tables that are smoothed one by one, those that agree only nearly, and the steps."""
    tables: Tables = {(i,): _one_way(moments, i) for i in range(len(moments.answers))}
    off: set[Subset] = set()
    steps = []
    for size in range(2, order + 1):
        groups = _grouped(_sets(len(moments.answers), size, wanted), moments.answers)
        expected = {shape: _expected(tables, group) for shape, group in groups.items()}
        interactions = interactions_of(moments, groups, expected, tables)
        for shape, group in groups.items():
            found = _with_interaction(expected[shape], interactions.get(shape))
            tables.update(zip(group, found, strict=True))
            if size > 2:
                off |= _off(found, tables, group)
        steps.append(Step(groups, interactions))
    return tables, off, steps


def _one_way(moments: Moments, attribute: int) -> Floats:
    """Return the shares of one attribute's answers, projected onto the simplex."""
    answers, moment = moments.answers[attribute], moments.measured[(attribute,)]
    if not np.isfinite(moment.variance).all():
        return np.full(answers, 1 / answers)
    return project(inverse(contrast_matrix(answers)) @ np.concatenate([[1.0], moment.theta]))


def _sets(attributes: int, size: int, wanted: Sequence[Subset] | None) -> list[Subset]:
    """Return the sets of a size that are needed; all pairs, which shrinkage learns from."""
    if wanted is None or size <= 2:
        return list(combinations(range(attributes), size))
    needed = {part for whole in wanted for part in combinations(whole, size)}
    return sorted(needed)


def _grouped(sets: Iterable[Subset], answers: Sequence[int]) -> dict[tuple[int, ...], list[Subset]]:
    """Return sets by the shape of their tables, so that equal ones are computed together."""
    groups: dict[tuple[int, ...], list[Subset]] = {}
    for attributes in sets:
        groups.setdefault(tuple(answers[i] for i in attributes), []).append(attributes)
    return groups


def _margins(tables: Mapping[Subset, Floats], group: Sequence[Subset]) -> list[Floats]:
    """Return the tables of each set without its first, second, ... attribute."""
    size = len(group[0])
    return [np.array([tables[s[:a] + s[a + 1 :]] for s in group]) for a in range(size)]


def _expected(tables: Mapping[Subset, Floats], group: Sequence[Subset]) -> Floats:
    return largest_entropy(_margins(tables, group))


def _with_interaction(tables: Floats, interactions: Interactions | None) -> Floats:
    """Return tables with interactions added, as far as cells stay at least 0.

    With two answers each, an interaction is one number and a shorter step keeps the margins; with
    more, negative cells become 0 and the margins are fitted again. Where no table of the
    cells that stayed above 0 has the margins (few people at a small epsilon: one answer has all of
    an attribute), the shorter step serves there, too.
    """
    if interactions is None:
        return _distributions(tables)
    interaction, shape = interactions.shrunken, tables.shape[1:]
    undo = [inverse(contrast_matrix(count))[:, 1:] for count in shape]
    # Only moments of all attributes together change: contrasts sum to 0, so that margins stay.
    change = along_axes(interaction, undo)
    stepped = _distributions(tables + _longest_step(tables, change) * change)
    if interaction[0].size == 1:
        return stepped
    margins = margins_of(tables)
    fitted = fit_margins(np.maximum(tables + change, 0.0), margins)
    missed = _margin_errors(fitted, margins) > AGREES
    return _distributions(np.where(missed.reshape(-1, *[1] * len(shape)), stepped, fitted))


def _longest_step(tables: Floats, change: Floats) -> Floats:
    """Return for each table the longest step t, at most 1, with table + t change >= 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(change < 0, tables / -change, np.inf)
    step = np.minimum(1.0, reach.reshape(len(tables), -1).min(axis=1))
    return np.asarray(step.reshape(-1, *[1] * (tables.ndim - 1)))


def _margin_errors(tables: Floats, margins: Sequence[Floats]) -> Floats:
    """Return for each table the largest error of its margins."""
    worst = np.zeros(len(tables))
    for mine, theirs in zip(margins_of(tables), margins, strict=True):
        error = np.abs(mine - theirs).reshape(len(tables), -1).max(axis=1)
        worst = np.maximum(worst, error)
    return worst


def _distributions(tables: Floats) -> Floats:
    clipped = np.maximum(tables, 0.0)
    total = clipped.reshape(len(clipped), -1).sum(axis=1)
    return np.asarray(clipped / total.reshape(-1, *[1] * (tables.ndim - 1)))


def _off(found: Floats, tables: Mapping[Subset, Floats], group: Sequence[Subset]) -> set[Subset]:
    """Return the sets whose table has other margins than the tables of fewer attributes."""
    worst = _margin_errors(found, _margins(tables, group))
    return {group[i] for i in np.flatnonzero(worst > AGREES).tolist()}
