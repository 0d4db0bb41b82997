"""The shift of smoothed tables by crafted reports: a search over what these may have done.

Smoothing is no linear function of the reports: how far an interaction is shrunken depends on all
others. So the smoothed tables are made again, from moments out of which a shift was taken, for many
shifts of every table A: towards each of its cells and away from it, and for two attributes along
their interaction. In the direction w the unbiased cells move by

    d = h (w - mean w) / |w - mean w|^2,

in the proportions of w, which is what reports of one cell do to the others in k-RR and in signs;
and as far as leverage allows (`crafted/weighted_sums.py`), where h is the larger one of w as it is
and of w with its middle at 0: a bit per cell can be set in one and unset in all others. The moments
of every subset of A lose what d has of them. Half of each shift is tried as well: taking a whole
one out may lead to the other side of independence.

Tables that share no attribute are shifted at once where there are many: each table sees its own
shift, and the shrinkage all of them, which is more than crafted reports could do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from deniable import _validate
from deniable.crafted.search import Ends, Progress, spanned
from deniable.crafted.weighted_sums import weighted_shift
from deniable.errors import InvalidParameter
from deniable.marginals.pairs import Pairs
from deniable.marginals.smoothed import Tables, smooth
from deniable.mechanisms import Counts, ProfileMechanism
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import Moments, Subset, along_axes, subsets_of

_STRENGTHS = (1.0, 0.5)
_FEW = 300
"""The most shifts that are taken out one by one."""
MOST = 1_000
"""The most smoothings that are made."""


def directions_of(cells: Floats) -> Floats:
    """Return the weights of all directions in which a table is shifted, along the first axis.

    Args:
        cells: the raw table; tells the direction of an interaction.
    """
    shape = cells.shape
    found = list(np.eye(cells.size).reshape(-1, *shape))
    if cells.ndim == 2 and np.isfinite(cells).all():
        c = float(cells.sum()) * cells - np.outer(cells.sum(axis=1), cells.sum(axis=0))
        found.append(np.sign(c) if c.size == 4 else c)
    useful = [w for w in found if np.ptp(w) > 0]
    return np.array([sign * w for w in useful for sign in (1.0, -1.0)])


def displacement(
    mechanism: ProfileMechanism, attributes: Subset, weights: Floats, crafted: float
) -> Floats:
    """Return the shift d of every cell of a table in a direction."""
    centred = weights - weights.mean()
    middle = (weights.max() + weights.min()) / 2
    reach = max(
        weighted_shift(mechanism.parameters, attributes, w, crafted)
        for w in (weights, weights - middle)
    )
    # w'd = h, since w'(w - mean w) = |w - mean w|^2.
    return np.asarray(reach * centred / np.sum(centred**2))


def smoothed_ranges(
    mechanism: ProfileMechanism,
    counts: Counts,
    raw: Mapping[Subset, Floats],
    crafted: float,
    read: Callable[[Tables], Sequence[Floats]],
    seen: Tables,
    progress: Progress | None = None,
) -> list[Ends]:
    """Return the least and the largest of numbers of smoothed tables without crafted reports.

    Accuracy, cost and errors as of `smoothed_without`.

    Args:
        mechanism: of the question.
        counts: of its reports.
        raw: the unbiased cells of the tables wanted, by rising attributes.
        crafted: the share of reports that may be crafted.
        read: from smoothed tables to the numbers.
        seen: the smoothed tables of all reports.
        progress: called with the progress of the search.
    """
    return spanned(seen, smoothed_without(mechanism, counts, raw, crafted, progress), read)


def pair_ranges(
    mechanism: ProfileMechanism,
    counts: Counts,
    tables: Pairs,
    crafted: float,
    read: Callable[[Tables], Sequence[Floats]],
    progress: Progress | None = None,
) -> list[Ends]:
    """Return the same of numbers of the smoothed tables of all pairs."""
    raw = {tuple(pair): table.probability for pair, table in tables.raw.items()}
    seen = {tuple(pair): cells for pair, cells in tables.cells.items()}
    return smoothed_ranges(mechanism, counts, raw, crafted, read, seen, progress)


def smoothed_without(
    mechanism: ProfileMechanism,
    counts: Counts,
    raw: Mapping[Subset, Floats],
    crafted: float,
    progress: Progress | None = None,
) -> Iterator[Tables]:
    """Yield the smoothed tables of some sets of attributes as they may be without crafted reports.

    Accuracy: a search, not a proof: the tests craft reports and find the honest tables within what
    it spans.

    Cost: a smoothing of all tables for each shift, at most MOST.

    Edge cases: nothing is yielded for a share of 0.

    Args:
        mechanism: of the question.
        counts: of its reports.
        raw: the unbiased cells of the tables wanted, by rising attributes.
        crafted: the share of reports that may be crafted.
        progress: called with the groups of tables that were shifted, and how many there are.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1, or if there are too many
            tables.
    """
    share = _validate.probability("crafted", "smoothed tables", crafted)
    groups = groups_of(raw)
    if share == 0:
        return
    moments = mechanism.moments(counts)
    most = max(map(len, raw))
    for done, group in enumerate(groups):
        if progress is not None:
            progress(done, len(groups))
        planned = {attributes: directions_of(raw[attributes]) for attributes in group}
        for number in range(max(map(len, planned.values()))):
            moved = {
                attributes: displacement(mechanism, attributes, weights[number], share)
                for attributes, weights in planned.items()
                if number < len(weights)
            }
            for strength in _STRENGTHS:
                taken = {attributes: strength * d for attributes, d in moved.items()}
                yield smooth(without(moments, taken), most, list(raw))[0]


def without(moments: Moments, moved: Mapping[Subset, Floats]) -> Moments:
    """Return moments without the shifts of cells, of tables that share no attribute."""
    measured = dict(moments.measured)
    for attributes, change in moved.items():
        for subset in subsets_of(attributes):
            if subset not in measured:
                continue
            others = tuple(a for a, i in enumerate(attributes) if i not in subset)
            functions = [contrast_matrix(moments.answers[i])[1:] for i in subset]
            lost = along_axes(change.sum(axis=others), functions)
            one = measured[subset]
            measured[subset] = replace(one, theta=one.theta - lost)
    return replace(moments, measured=measured)


def groups_of(raw: Mapping[Subset, Floats]) -> list[list[Subset]]:
    """Return the groups of tables that are shifted at once: each alone where there are few.

    Raises:
        InvalidParameter: if there are too many.
    """
    each = {attributes: 2 * len(_STRENGTHS) * (cells.size + 1) for attributes, cells in raw.items()}
    groups = [[attributes] for attributes in raw]
    if sum(each.values()) > _FEW:
        count = 1 + max(place for attributes in raw for place in attributes)
        # Pairs of one sum, modulo the number of attributes, share none: they fit together.
        groups = _disjoint(sorted(raw, key=lambda one: (-each[one], sum(one) % count, one)))
    made = sum(max(each[attributes] for attributes in group) for group in groups)
    if made > MOST:
        raise InvalidParameter(
            f"What crafted reports could have done to so many smoothed tables would take {made:,} "
            f"smoothings: at most {MOST:,}.",
            "Ask for fewer or smaller tables, or for raw shares only.",
        )
    return groups


def _disjoint(sets: Sequence[Subset]) -> list[list[Subset]]:
    """Return sets in groups without common attributes; the first group that has room takes one."""
    groups: list[list[Subset]] = []
    used: list[set[int]] = []
    for attributes in sets:
        for place, taken in enumerate(used):
            if not taken & set(attributes):
                groups[place].append(attributes)
                taken |= set(attributes)
                break
        else:
            groups.append([attributes])
            used.append(set(attributes))
    return groups
