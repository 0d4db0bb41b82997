"""The reach of crafted reports on smoothed tables, by a search over attacks.

Smoothing is no linear function of the reports: how far an interaction is shrunken depends on all
others. So the smoothed tables are made again, from moments out of which an attack was taken, for
each of many attacks on every table A: on each of its cells, up and down, and for two attributes on
their interaction. An attack with weights w moves the unbiased cells by

    d = h (w - mean w) / |w - mean w|^2,

in the proportions of w, which is what reports of one cell do to the others in k-RR and in signs;
and as far as leverage allows (`privacy/leverage/weighted_sums.py`), where h is the larger one of w
as it is and of w with its middle at 0: a bit per cell can be set in one and unset in all others.
The moments of every subset of A lose what d has of them. Half of each attack is tried as well:
taking a whole one out may lead to the other side of independence.

Attacks on tables that share no attribute are made at once where there are many: each table sees
its own, and the shrinkage all of them, which is more than liars could do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.marginals.smoothed import Tables, smooth
from deniable.mechanisms import Counts, ProfileMechanism
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix
from deniable.mechanisms.moments import Moments, Subset, along_axes, subsets_of
from deniable.privacy.leverage.weighted_sums import weighted_shift

Progress = Callable[[int, int], None]
"""Called with the groups done and their number."""

STRENGTHS = (1.0, 0.5)
FEW = 300
"""The most attacks that are made one by one."""
MOST = 1_000
"""The most smoothings that are made."""


def attacks_on(cells: Floats) -> Floats:
    """Return the weights of all attacks on a table, along the first axis.

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
    mechanism: ProfileMechanism, attributes: Subset, weights: Floats, attackers: float
) -> Floats:
    """Return the shift d of every cell of a table by an attack."""
    centred = weights - weights.mean()
    middle = (weights.max() + weights.min()) / 2
    reach = max(
        weighted_shift(mechanism.parameters, attributes, w, attackers)
        for w in (weights, weights - middle)
    )
    # w'd = h, since w'(w - mean w) = |w - mean w|^2.
    return np.asarray(reach * centred / np.sum(centred**2))


def smoothed_without(
    mechanism: ProfileMechanism,
    counts: Counts,
    raw: Mapping[Subset, Floats],
    attackers: float,
    progress: Progress | None = None,
) -> Iterator[Tables]:
    """Yield the smoothed tables of some sets of attributes as they may be without crafted reports.

    Accuracy: a search, not a proof: the tests attack tables and find the honest ones within what
    it spans.

    Cost: a smoothing of all tables for each attack, at most MOST.

    Edge cases: nothing is yielded for a share of 0.

    Args:
        mechanism: of the question.
        counts: of its reports.
        raw: the unbiased cells of the tables wanted, by rising attributes.
        attackers: the share of reports that may be crafted.
        progress: called with the groups of tables that were attacked, and how many there are.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1, or if there are too many
            tables to attack.
    """
    share = _validate.probability("attackers", "smoothed tables", attackers)
    groups = _together(raw)
    if share == 0:
        return
    moments = mechanism.moments(counts)
    most = max(map(len, raw))
    for done, group in enumerate(groups):
        if progress is not None:
            progress(done, len(groups))
        planned = {attributes: attacks_on(raw[attributes]) for attributes in group}
        for number in range(max(map(len, planned.values()))):
            moved = {
                attributes: displacement(mechanism, attributes, weights[number], share)
                for attributes, weights in planned.items()
                if number < len(weights)
            }
            for strength in STRENGTHS:
                taken = {attributes: strength * d for attributes, d in moved.items()}
                yield smooth(without(moments, taken), most, list(raw))[0]


def check_tables(shapes: Mapping[Subset, tuple[int, ...]]) -> None:
    """Refuse more tables than can be attacked.

    Raises:
        InvalidParameter: if it would take more than MOST smoothings.
    """
    _together({attributes: np.zeros(shape) for attributes, shape in shapes.items()})


def without(moments: Moments, moved: Mapping[Subset, Floats]) -> Moments:
    """Return moments without the shifts of cells, of tables that share no attribute."""
    measured = dict(moments.measured)
    for attributes, change in moved.items():
        for subset in subsets_of(attributes):
            if subset not in measured:
                continue
            others = tuple(a for a, i in enumerate(attributes) if i not in subset)
            functions = [contrast_matrix(moments.levels[i])[1:] for i in subset]
            lost = along_axes(change.sum(axis=others), functions)
            one = measured[subset]
            measured[subset] = replace(one, theta=one.theta - lost)
    return replace(moments, measured=measured)


def _together(raw: Mapping[Subset, Floats]) -> list[list[Subset]]:
    """Return the groups of tables that are attacked at once: each alone where there are few.

    Raises:
        InvalidParameter: if there are too many.
    """
    each = {attributes: 2 * len(STRENGTHS) * (cells.size + 1) for attributes, cells in raw.items()}
    groups = [[attributes] for attributes in raw]
    if sum(each.values()) > FEW:
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
