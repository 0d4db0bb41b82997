"""Manipulation of a table of several attributes: the largest shift of a cell by attackers.

Most mechanisms report on a table as a whole (`leverage/profiles.py`). Two estimate it in parts,
from different reports: the share of a cell is 1/R plus a sum of parts, each a mean over the reports
about it. The shifts of the parts add up.

Views: a part for each subset S of the table's attributes, from all views that contain S. For a cell
with attributes of r_1, r_2, ... levels, a report on m cells that names the cell itself adds
P_S/gap_m to the mean, where honest people have at least -N_S,

    P_S = prod_{i in S} (1 - 1/r_i) prod_{i not in S} 1/r_i,    N_S = P_S/(min_{i in S} r_i - 1).

So the shift is at most the sum over S of phi_S (P_S/gap_m + N_S), with phi of `Leverage.shift`
and about_S = sum_t W_t gap_t^2 / gap_m^2, W_t the share of reports on views of t cells with S. With
one attribute this is the bound of `leverage/profiles.py`.

Coefficients: a part for each of the R - 1 coefficients; a report is about one of them. Coefficient
a has the weight u_a in the cell (Walsh: 1/R each). A liar says 1/g, an honest mean lies within
-1..1, and a share W_a of honest reports is about a. With b the share of attackers and b_a of those
about a, the shift is

    sum_a D_a b_a/(b_a + V_a),    D_a = |u_a| (1/g + 1),  V_a = W_a (1 - b),

a concave function, whose maximum under sum_a b_a = b has the b_a + V_a in proportion to
sqrt(D_a V_a), over those a of the largest D_a/V_a for which this b_a is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from deniable import _validate
from deniable.mechanisms.base import Codes, Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix, inverse, walsh_matrix
from deniable.mechanisms.moments import Subset, design, subsets_of
from deniable.privacy.leverage.profiles import (
    krr_gap,
    profile_shift,
    sign_gap,
    table_ways,
    views_with,
)
from deniable.privacy.leverage.worth import Leverage
from deniable.protocol import (
    CoefficientsParameters,
    InpHTParameters,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.thresholds import as_fraction

TINY = 1e-300
"""A divisor in place of 0 where a part has no honest reports at all."""


def table_shift(
    parameters: ProfileParameters, attributes: Sequence[int], attackers: float
) -> float:
    """Return the largest shift of any cell of a table by a share of attackers, either way.

    Guarantees: as `profile_shift`, a bound for unbiased (raw) tables, apart from chance in the
    number of honest reports about each part. With a pool of seeds it holds except with probability
    1e-9 for each cell. A table of one attribute has `profile_shift`.

    Cost: O(R log R) for R cells; for contrasts O(R^2 log R).

    Args:
        parameters: of the mechanism.
        attributes: by number, at most as many as were collected together.
        attackers: the share of reports that may be crafted.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1.
    """
    share = _validate.probability("attackers", "a table", attackers)
    chosen = tuple(sorted(attributes))
    if len(chosen) == 1:
        return profile_shift(parameters, chosen[0], share)
    if isinstance(parameters, ViewsParameters):
        return sum(_of_subset(parameters, chosen, one, share) for one in subsets_of(chosen))
    if isinstance(parameters, CoefficientsParameters):
        return _of_coefficients(parameters, chosen, share)
    return max(one.shift(share) for one in table_ways(parameters, chosen))


def _of_subset(
    parameters: ViewsParameters, attributes: Subset, subset: Subset, attackers: float
) -> float:
    """Return the largest shift of one subset's part, by views of the size best for liars."""
    levels = parameters.levels
    # P_S and N_S of the module docstring.
    most = prod(1 - 1 / levels[i] if i in subset else 1 / levels[i] for i in attributes)
    least = most / (min(levels[i] for i in subset) - 1)
    shares = views_with(parameters, subset)
    gaps = {cells: krr_gap(parameters, cells) for cells in shares}
    total = sum(share * gaps[cells] ** 2 for cells, share in shares.items())
    shifts = []
    for gap in gaps.values():
        about = total / gap**2
        # `up` holds the honest person's -N_S already, so `down` is set to make down about + 1 = 0.
        part = Leverage((most / gap + least) / about, -1 / about, about)
        shifts.append(part.shift(attackers))
    return max(shifts)


def _of_coefficients(
    parameters: CoefficientsParameters, attributes: Subset, attackers: float
) -> float:
    each = shares_of_one(parameters)
    weights, orders = _weights(parameters, attributes)
    worth = weights * (1 / sign_gap(parameters) + 1)
    return max(_spread(row, each[orders - 1], attackers) for row in np.unique(worth, axis=0))


def _spread(worth: Floats, about: Floats, attackers: float) -> float:
    """Return the shift of the sum of the parts by attackers who spread over them best."""
    if attackers == 0:
        return 0.0
    liars = best_spread(worth, about, attackers)
    return float(np.sum(worth * liars / (liars + about * (1 - attackers))))


def _weights(parameters: CoefficientsParameters, attributes: Subset) -> tuple[Floats, Codes]:
    """Return |u_a|, a row per cell, and the order of each coefficient.

    Walsh functions count alike in every cell: one row stands for all.
    """
    if parameters.basis == "contrasts":
        matrices = [contrast_matrix(parameters.levels[i]) for i in attributes]
        undo = design([inverse(matrix) for matrix in matrices])
    else:
        matrices = [walsh_matrix(1 << parameters.bits[i]) for i in attributes]
        size = prod(map(len, matrices))
        undo = np.full((1, size), 1 / size)
    orders = np.count_nonzero(np.indices([len(matrix) for matrix in matrices]), axis=0)
    return np.abs(undo[:, 1:]), np.asarray(orders.reshape(-1)[1:])


def shares_of_one(parameters: CoefficientsParameters | InpHTParameters) -> Floats:
    """Return P(a report is about one given coefficient) of each order 1..k."""
    if isinstance(parameters, InpHTParameters):
        return np.full(parameters.order, 1 / parameters.coefficients)
    left, shares = 1.0, []
    for threshold in parameters.orders:
        share = float(as_fraction(threshold))
        shares.append(left * share)
        left *= 1 - share
    return np.asarray(np.array([*shares, left]) / np.array(parameters.counts))


def best_spread(worth: Floats, about: Floats, attackers: float) -> Floats:
    """Return b_a, the attackers on each part, for the spread that shifts the sum most.

    Args:
        worth: D_a, the shift of each part if only liars report about it.
        about: W_a, the share of honest reports about it.
        attackers: b, the sum of all b_a.
    """
    # Water filling: the parts of the largest D_a/V_a, as long as b_a is positive, with b_a + V_a in
    # proportion to sqrt(D_a V_a) (module docstring).
    honest = about * (1 - attackers)
    order = np.argsort(-worth / np.maximum(honest, TINY), kind="stable")
    d, v = worth[order], honest[order]
    roots, places = np.sqrt(d * v), attackers + np.cumsum(v)
    taken = max(1, int(np.count_nonzero(np.sqrt(d) * places > np.sqrt(v) * np.cumsum(roots))))
    spread = np.zeros(worth.size)
    among = roots[:taken] if attackers < 1 else np.ones(taken)
    # Rounding can leave the last part taken a little below 0.
    spread[order[:taken]] = np.maximum(among / among.sum() * places[taken - 1] - v[:taken], 0.0)
    return spread
