"""Leverage of one crafted report on a cell of a table of attributes, and the shift of a cell.

Model: a cell's share is a mean over the reports about the attributes, a share `about` of all
reports. In that mean a report counts for at most U and at least -D; an honest one counts for 0 to 1
on average. A crafted report also chooses what it is about (`crafted/parts.py`), so that it counts
for U/about honest people, or takes D/about away. The table has r cells (answers in binary code are
padded to the next power of two). Each holds M of the mechanism's own cells, or M profiles; b is the
number of bits of code. By the kind of the rest:

    Symbol of m cells     U = 1/r + (1 - 1/r)/gap,  D = (1/gap - 1)/r          gap = 1 - m move
    Bits, one per cell    U = M (1 - q)/(p - q),    D = M q/(p - q)            all bits of the cell
    Bits of the code      U = (keep/gap)^b,         D = (keep/gap)^(b - 1) (1 - keep)/gap
    Sign                  U = (1 + (r - 1)/g)/r,    D = ((r - 1)/g - 1)/r      g = 2 keep - 1
    a hashed profile      as a bit per cell; with local hashing no seed puts all M into one symbol

With one sign per report a share is a sum over the table's r - 1 coefficients, and phi is concave:
crafted reports gain most by spreading evenly over coefficients that are as likely.

Two mechanisms estimate a table of several attributes in parts, from different reports: the share of
a cell is 1/R plus a sum of parts, each a mean over the reports about it. Their shifts add up.

Views: a part for each subset S of the table's attributes, from all views that contain S. For a cell
with attributes of r_1, r_2, ... answers, a report on m cells that names the cell itself adds
P_S/gap_m to the mean, where honest people have at least -N_S,

    P_S = prod_{i in S} (1 - 1/r_i) prod_{i not in S} 1/r_i,    N_S = P_S/(min_{i in S} r_i - 1).

So the shift is at most the sum over S of phi_S (P_S/gap_m + N_S). With one attribute this is the
bound of a symbol above.

Coefficients: a part for each of the R - 1 coefficients; a report is about one of them. Coefficient
a has the weight u_a in the cell (Walsh: 1/R each). A crafted report says 1/g, an honest mean lies
within -1..1, and a share W_a of honest reports is about a: D_a = |u_a| (1/g + 1), and
`crafted/spread.py` has the spread that shifts the sum most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from deniable import _validate
from deniable.crafted.parts import (
    Part,
    gap_of,
    in_contrasts,
    of_one_coefficient,
    of_signs,
    told_by,
    whole_tables,
)
from deniable.crafted.spread import spread_shift
from deniable.crafted.worth import Leverage
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix, inverse
from deniable.mechanisms.moments import Subset, design, subsets_of
from deniable.protocol import ProfileParameters
from deniable.protocol.rest import Bits


def profile_leverage(parameters: ProfileParameters) -> Leverage:
    """Return the largest leverage of a crafted report about any attribute."""
    every = [one for i in range(len(parameters.answers)) for one in ways(parameters, (i,))]
    return max(every, key=lambda one: one.most)


def table_shift(parameters: ProfileParameters, attributes: Sequence[int], crafted: float) -> float:
    """Return the largest shift of any cell of a table by a share of crafted reports, either way.

    Guarantees: a bound for unbiased (raw) tables, apart from chance in the number of honest reports
    about each part. With a pool of seeds it holds except with probability 1e-9 for each cell.

    Cost: O(R log R) for R cells; for contrasts O(R^2 log R).

    Args:
        parameters: of the mechanism.
        attributes: by number, at most as many as were collected together.
        crafted: the share of reports that may be crafted.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1.
    """
    share = _validate.probability("crafted", "a table", crafted)
    chosen = tuple(sorted(attributes))
    if not _in_parts(parameters, chosen):
        return max(one.shift(share) for one in ways(parameters, chosen))
    if told_by(parameters) == "view":
        return sum(_of_subset(parameters, chosen, one, share) for one in subsets_of(chosen))
    return _of_coefficients(parameters, chosen, share)


def ways(parameters: ProfileParameters, attributes: Subset) -> list[Leverage]:
    """Return the leverages on a cell of a table, one for each part a crafted report can choose.

    Args:
        parameters: of the mechanism.
        attributes: of the table, rising, at most as many as were collected together; one where a
            table is estimated in parts (views and coefficients).

    Raises:
        InvalidParameter: if there is no closed form: of an unknown kind, or in parts.
    """
    if _in_parts(parameters, attributes):
        raise InvalidParameter(
            f"There is no leverage of '{parameters.mechanism}' on {len(attributes)} attributes: "
            "their table is estimated in parts."
        )
    bits, cells = (sum(parameters.bits[i] for i in attributes),
                   prod(parameters.answers[i] for i in attributes))  # fmt: skip
    inner = cells if told_by(parameters) == "view" else 1 << bits
    if not of_signs(parameters):
        return [_on_cell(part, inner, bits) for part in whole_tables(parameters, attributes)]
    gap = gap_of(parameters.channel.typical)
    each = float(of_one_coefficient(parameters, attributes)[0])
    if in_contrasts(parameters):
        return [*_contrasts(cells, gap, each)]
    # One sign, in the table of the module docstring: a crafted sign says 1/g of its coefficient.
    others = inner - 1
    return [_each((1 + others / gap) / inner, (others / gap - 1) / inner, each * others)]


def _in_parts(parameters: ProfileParameters, attributes: Subset) -> bool:
    """Tell whether a table is estimated in parts that are not as likely each."""
    told = told_by(parameters)
    if told == "coefficient":
        return len(attributes) > 1 and len(parameters.channel.numbers[0].given(())) > 1
    return len(attributes) > 1 and told == "view"


def _each(up: float, down: float, about: float) -> Leverage:
    return Leverage(up / about, down / about, about)


def _on_cell(part: Part, inner: int, bits: int) -> Leverage:
    """Return the leverage on one of `inner` cells of a table, of `bits` bits of code."""
    rest = part.rest
    if part.bits is not None:
        return _each(*part.bits, part.about)
    if isinstance(rest, Bits):
        keep, gap = float(rest.one), float(2 * rest.one - 1)
        most = (keep / gap) ** (bits - 1)
        return Leverage(most * keep / gap, most * (1 - keep) / gap)
    gap = gap_of(rest)
    return _each(1 / inner + (1 - 1 / inner) / gap, (1 / gap - 1) / inner, part.about)


def _contrasts(answers: int, gap: float, each: float) -> Iterator[Leverage]:
    """Yield the leverage of each answer: the contrasts have different weights in different answers.

    With weights u of the r - 1 contrasts and U = sum |u|, a mean of concave phi is at most phi of
    the mean. Hence about = (share of one) U / max |u|. The mean of an honest contrast lies within
    -1..1 by itself; `down` includes the excess over a share of 0 to 1.
    """
    undo = np.abs(inverse(contrast_matrix(answers))[:, 1:])
    for row in undo:
        total = float(row.sum())
        about = each * total / float(row.max())
        up, down = 1 / answers + total / gap, total / gap + max(total - 1, -1 / answers)
        yield _each(up, down, about)


def _of_subset(
    parameters: ProfileParameters, attributes: Subset, subset: Subset, crafted: float
) -> float:
    """Return the largest shift of one subset's part, by views of the size with the most of it."""
    answers = parameters.answers
    # P_S and N_S of the module docstring.
    most = prod(1 - 1 / answers[i] if i in subset else 1 / answers[i] for i in attributes)
    least = most / (min(answers[i] for i in subset) - 1)
    shifts = []
    for part in whole_tables(parameters, subset):
        # `up` holds the honest person's -N_S already, so `down` is set to make down about + 1 = 0.
        up = most / gap_of(part.rest) + least
        shifts.append(Leverage(up / part.about, -1 / part.about, part.about).shift(crafted))
    return max(shifts)


def _of_coefficients(parameters: ProfileParameters, attributes: Subset, crafted: float) -> float:
    """Return the largest shift of a cell by crafted reports that spread over its coefficients."""
    if in_contrasts(parameters):
        axes = [inverse(contrast_matrix(parameters.answers[i])) for i in attributes]
        undo, sizes = design(axes), [len(axis) for axis in axes]
    else:  # Walsh functions count alike in every cell: one row stands for all.
        sizes = [1 << parameters.bits[i] for i in attributes]
        undo = np.full((1, prod(sizes)), 1 / prod(sizes))
    orders = np.count_nonzero(np.indices(sizes), axis=0).reshape(-1)[1:]
    about = of_one_coefficient(parameters, attributes)[orders - 1]
    worth: Floats = np.abs(undo[:, 1:]) * (1 / gap_of(parameters.channel.typical) + 1)
    return max(spread_shift(row, about, crafted) for row in np.unique(worth, axis=0))
