"""The exact shift of the cells of a large table of fields of k-RR.

Model: where every field is k-RR over all its answers, the unbounded table is linear in the reports.
With u = (1 - q)/(p - q) and d = q/(p - q) of each field, a report adds to a cell

    w = product over fields of (u where the report names the cell's answer, else -d),

so that x = (sum of w)/n, and without m reports A it is x' = (n x - sum_A w)/(n - m). A report's w
depends only on the set of fields in which it names the cell's answers, so that the m largest and
the m least ones follow from how many reports there are of each set: no search, any number of cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.associate.variable import Variable
from deniable.mechanisms.base import Floats
from deniable.protocol.rest import Symbol


def all_krr(variables: Sequence[Variable]) -> bool:
    """Tell whether all fields are k-RR, and all their answers have a category."""
    return all(_is_krr(variable) for variable in variables)


def _is_krr(variable: Variable) -> bool:
    """Tell whether a report is one symbol and nothing in clear, and each symbol is a category."""
    channel, categories = variable.mechanism.parameters.channel, len(variable.categories)
    rest = channel.typical
    return (
        not (channel.numbers or variable.other)
        and isinstance(rest, Symbol)
        and rest.size == categories
        and variable.asked() == tuple(range(categories))
    )


def krr_shifts(variables: Sequence[Variable], count: int, axes: Sequence[int]) -> Floats:
    """Return the largest shifts of each cell of a margin by crafted reports, up and down.

    Guarantees: exact: some choice of that number of reports moves the unbounded table so far, and
    none further, as long as it is the linear solution (no cell of the likeliest table is at 0).

    Cost: O(cells 2^fields).

    Args:
        variables: of the table, for which `all_krr` holds.
        count: how many reports may be crafted; fewer than all.
        axes: the fields that are kept, in their order; the others are summed out, where k-RR adds
            1 for every report.
    """
    chosen = [variables[axis] for axis in axes]
    n = chosen[0].n
    seen = _exactly(_counts(chosen))
    worth = {named: _worth(chosen, named) for named in seen}
    table = sum((worth[named] * seen[named] for named in seen), np.zeros(())) / n
    found = []
    for sign in (1, -1):
        left, taken = np.full(table.shape, float(count)), np.zeros(table.shape)
        for named in sorted(seen, key=lambda one: -sign * worth[one]):
            part = np.minimum(left, seen[named])
            left, taken = left - part, taken + part * worth[named]
        # x - x' = x - (n x - T)/(n - m) = (T - m x)/(n - m), T the summed w of the m reports.
        moved = sign * (taken - count * table) / (n - count)
        found.append(np.clip(moved, 0.0, 1.0))
    return np.array(found)


def _counts(variables: Sequence[Variable]) -> Floats:
    """Return how many reports name each combination of answers."""
    sizes = tuple(len(variable.categories) for variable in variables)
    symbols = tuple(variable.reports["symbol"].astype(np.intp) for variable in variables)
    keys = np.ravel_multi_index(symbols, sizes)
    return np.bincount(keys, minlength=int(np.prod(sizes))).reshape(sizes).astype(np.float64)


def _exactly(counts: Floats) -> dict[tuple[bool, ...], Floats]:
    """Return for each cell how many reports name its answers in just these fields.

    Field by field: those who name the answer, and all without those.
    """
    found: dict[tuple[bool, ...], Floats] = {(): counts}
    for axis in range(counts.ndim):
        split = {}
        for named, part in found.items():
            split[*named, True] = part
            split[*named, False] = part.sum(axis=axis, keepdims=True) - part
        found = split
    return found


def _worth(variables: Sequence[Variable], named: tuple[bool, ...]) -> float:
    """Return w of a report that names the cell's answers in these fields."""
    worth = 1.0
    for variable, same in zip(variables, named, strict=True):
        p, q = variable.mechanism.parameters.support
        # The leverage of a report (docs/mathematics.md, section 7), field by field.
        worth *= (1 - float(q) if same else -float(q)) / float(p - q)
    return worth
