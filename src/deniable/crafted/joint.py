"""The shift of the cells of a joint table by crafted reports.

Model: of n reports at most m = beta n are crafted; the table wanted is that of the others. To first
order, and exactly where the table fits the reports exactly (k-RR), a table without the reports A is

    x' = x - sum over A of G v / (n - m),      v = L_y / (L_y x) of a report y,

with L_y its likelihoods over cells and G = n Sigma, Sigma the covariance of the unbounded table
(`associate/covariance.py`). So the reports that can have pushed cell c up most are those with the
largest G_c v, their *influence* on the cell; `search.py` has the search without them. It also
starts from the table without the reports of the largest v'G v, their *weight*: reports that
resemble no honest one. How "(other)" looks is learned from the reports as well, so that crafted
ones can hide in it: where it is, a search starts from its plain profile (`associate/other.py`). The
shift is the largest move in all tables that were found, for this cell or for another one. Tables of
many cells are estimated again only at those starts, for all cells together, and influence is summed
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from deniable import _validate
from deniable.associate.covariance import LARGEST_TABLE
from deniable.associate.few_people import errors_of
from deniable.associate.fields import field_rows
from deniable.associate.other import DEFAULT_PROFILE
from deniable.associate.patterns import patterns_of
from deniable.associate.variable import Variable
from deniable.crafted.joint_krr import all_krr, krr_shifts
from deniable.crafted.search import MAJORITY, Kept, Progress, all_but_last, largest, refits
from deniable.decode.mixture import fit_rows
from deniable.decode.mixture.rows import Product
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms.base import Floats

MOST_SEARCHED = 256
"""The most cells of a table that are searched by new estimates, at eight estimates per cell."""

_LEVEL = 0.95

Margins = Sequence[tuple[int, ...]]
"""The axes that each of some margins keeps."""


@dataclass(frozen=True)
class Shifts:
    """The largest shift of each cell by crafted reports; the axes are those of the table.

    Attributes:
        up: the most by which a cell's unbounded estimate may be too large.
        down: the most by which it may be too small.
        margins: the shifts of the margins that were asked for, by the axes that they keep.
    """

    up: Floats
    down: Floats
    margins: Mapping[tuple[int, ...], Shifts] = field(default_factory=dict)


@dataclass(frozen=True)
class _Fit:
    """The table of some reports, flat, with the influence of every report on it.

    Attributes:
        variables: with the reports that the table is of.
        every: with all reports.
        profile: of "(other)".
        table: the likeliest one.
        unbounded: the same without the bound at 0.
        gain: the matrix G.
    """

    variables: Sequence[Variable]
    every: Sequence[Variable]
    profile: str
    table: Floats
    unbounded: Floats
    gain: Floats

    def influence(self, summed: Floats) -> Floats:
        """Return the influence of every report on a sum of cells, G_c v for one cell."""
        return self._likelihoods.mixed(self.gain @ summed) / self._likelihoods.mixed(self.table)

    def weight(self) -> Floats:
        """Return v'G v of every report: how much it moves the table towards itself."""
        rows, found = self._likelihoods, np.zeros(self.every[0].n)
        for cell, place in enumerate(np.ndindex(rows.sizes)):
            own = np.prod([f[i] for f, i in zip(rows.factors, place, strict=True)], axis=0)
            # v'G v = sum over cells c of L_c (G L)_c / (Lx)^2, and v = L / (Lx).
            found += own * rows.mixed(self.gain[cell])
        return np.asarray(found / rows.mixed(self.table) ** 2)

    @cached_property
    def _likelihoods(self) -> Product:
        rows = [
            field_rows(variable, profile=self.profile, records=whole.reports)
            for variable, whole in zip(self.variables, self.every, strict=True)
        ]
        factors = tuple(r.lines if r.codes is None else r.lines[:, r.codes] for r in rows)
        n = self.every[0].n
        return Product(factors, np.broadcast_to(np.float64(1 / n), n), n)


@dataclass(frozen=True)
class _Search:
    """Looks for the reports that can have moved a cell, or a sum of cells, most.

    Attributes:
        variables: with all reports.
        count: the number of reports that may be crafted.
        seen: the table of all reports.
        others: tables at which influence is looked for too: the one without the reports of the
            largest weight and, where there is "(other)", the one with its plain profile.
    """

    variables: Sequence[Variable]
    count: int
    seen: _Fit
    others: tuple[_Fit, ...] = ()

    @classmethod
    def of(cls, variables: Sequence[Variable], count: int) -> _Search:
        """Return the search with its other tables."""
        search = cls(variables, count, _fitted(variables, variables))
        others = [search.again(all_but_last(search.seen.weight(), count))]
        if any(variable.other and variable.mechanism.hashed for variable in variables):
            others.append(_fitted(variables, variables, "flat"))
        return replace(search, others=tuple(others))

    def shift(self, summed: Floats, sign: int) -> tuple[float, list[Floats]]:
        """Return the largest shift of a sum of cells, up (sign 1) or down (-1), and all tables."""

        def influence(fit: _Fit) -> Floats:
            return sign * fit.influence(summed)

        each = self.seen.table.size <= MOST_SEARCHED
        starts, tables = (self.seen, *self.others), [self.others[0]]
        for start in starts if each else ():
            tables += refits(start, influence, self.again, self.count)
        first_order = [self._first_order(influence(fit)) for fit in starts[: 1 if each else None]]
        moved = [sign * float((self.seen.unbounded @ summed) - fit.unbounded @ summed)
                 for fit in tables]  # fmt: skip
        return max(0.0, *first_order, *moved), [fit.unbounded for fit in tables]

    def _first_order(self, influence: Floats) -> float:
        """Return the shift of a sum of cells by the most influential reports, to first order."""
        most = largest(influence, self.count)
        # x - x' = sum over A of G v / (n - m), summed over the m largest influences.
        return float(influence[most].sum()) / (influence.size - self.count)

    def again(self, kept: Kept) -> _Fit:
        """Return the table of some of the reports.

        Raises:
            InvalidParameter: if too few are left to tell the categories apart.
        """
        return _fitted(left_over(self.variables, kept), self.variables, near=self.seen.table)


@one_thread
def crafted_shifts(
    variables: Sequence[Variable],
    crafted: float,
    progress: Progress | None = None,
    margins: Margins = (),
) -> Shifts:
    """Return the largest shifts of the cells of the joint table by a share of crafted reports.

    Guarantees: for k-RR, whose tables fit exactly, no choice of that share of reports moves a
    cell by more, as long as the table has no cell at 0. Never below 0.

    Accuracy: elsewhere it is a search, and reports that are not the most influential one by one
        might do more together. One such case is known: an "(other)" of strings that nobody is in,
        where reports that look like no candidate can move a cell a little further.

    Cost: eight estimates per cell, twelve where a field of strings has "(other)"; 8 bytes per
        report and category. As much for each cell of a margin. Tables of more than 256 cells have
        a closed form where all fields are k-RR, else two or three estimates in all.

    Edge cases: 0 for a share of 0; 1 for every cell where half of the reports or more may be
        crafted, or where too few might be left to tell the categories apart.

    Args:
        variables: of the table, as `estimate_joint` takes them.
        crafted: the share of reports that may be crafted.
        progress: called with the searches that were made, of two per cell, and how many there are.
        margins: tables that keep these axes, others summed out, to be searched as well: much less
            can be done to a sum of cells than to each of them added up.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1 and the table has at most 2,048
            cells or all its fields are k-RR without "(other)".
    """
    share = _validate.probability("crafted", "an association", crafted)
    check_size(variables)
    shape = tuple(len(variable.categories) for variable in variables)
    kept, count = [tuple(range(len(shape))), *margins], int(np.ceil(share * variables[0].n))
    shapes = [tuple(shape[axis] for axis in axes) for axes in kept]
    if count == 0 or share >= MAJORITY:
        found = [np.full((2, *sizes), 1.0 if count else 0.0) for sizes in shapes]
    elif int(np.prod(shape)) > MOST_SEARCHED and all_krr(variables):
        found = [krr_shifts(variables, count, axes) for axes in kept]
    else:
        sums = [summing(shape, axes) for axes in kept]
        every = _searched(variables, count, np.concatenate(sums), progress)
        parts = np.split(every, np.cumsum([len(one) for one in sums])[:-1], axis=1)
        found = [part.reshape(2, *sizes) for part, sizes in zip(parts, shapes, strict=True)]
    whole, *rest = (Shifts(*both) for both in found)
    return replace(whole, margins=dict(zip(margins, rest, strict=True)))


def _searched(
    variables: Sequence[Variable], count: int, sums: Floats, progress: Progress | None
) -> Floats:
    """Return the shifts of all sums of cells, upwards and downwards."""
    found = np.zeros((2, len(sums)))
    told = progress or (lambda _done, _all: None)
    try:
        search = _Search.of(variables, count)
        tables = []
        for done, (place, row) in enumerate(np.ndindex(found.shape)):
            told(done, found.size)
            found[place, row], more = search.shift(sums[row], (1, -1)[place])
            tables += more
        # What was left out for one cell's sake moves the others, too: perhaps more than their own.
        moved = (search.seen.unbounded - np.array(tables)) @ sums.T
        found = np.minimum(np.maximum(found, [moved.max(axis=0), -moved.min(axis=0)]), 1.0)
    except InvalidParameter:  # too few would be left to tell the categories apart
        found[:] = 1.0
    told(found.size, found.size)
    return found


def summing(shape: tuple[int, ...], axes: Sequence[int]) -> Floats:
    """Return the matrix from a flat table to its flat margin that keeps some axes, in order."""
    sizes = tuple(shape[axis] for axis in axes)
    index = np.indices(shape).reshape(len(shape), -1)
    target = np.ravel_multi_index(tuple(index[axis] for axis in axes), sizes)
    rows = np.arange(int(np.prod(sizes)))[:, None]
    return np.asarray((rows == target).astype(np.float64))


def margins_wanted(fields: int) -> tuple[tuple[int, ...], ...]:
    """Return the margins that the second bars of an association need, by the axes that they keep.

    Of two fields both single ones; of more all pairs, which are shown, and what the last field is
    given.
    """
    if fields == 2:
        return (0,), (1,)
    pairs = [(i, j) for i in range(fields) for j in range(i + 1, fields)]
    return tuple(dict.fromkeys([*pairs, tuple(range(fields - 1))]))


def left_over(variables: Sequence[Variable], kept: Kept) -> list[Variable]:
    """Return the variables with some of their reports."""
    return [replace(variable, reports=variable.reports[kept]) for variable in variables]


def check_size(variables: Sequence[Variable]) -> None:
    """Refuse a table that is too large for a search over crafted reports."""
    cells = int(np.prod([len(variable.categories) for variable in variables]))
    if cells > LARGEST_TABLE and not all_krr(variables):
        raise InvalidParameter(
            f"What crafted reports could have done is computed for tables of at most "
            f"{LARGEST_TABLE:,} cells, or of k-RR alone without '(other)'. Got {cells:,}.",
            "Use fewer candidates or fields, for instance with --top, or leave out --crafted.",
        )


def _fitted(
    variables: Sequence[Variable],
    every: Sequence[Variable],
    profile: str = DEFAULT_PROFILE,
    near: Floats | None = None,
) -> _Fit:
    """Return the table of the variables' own reports; `near` is a table like it."""
    patterns = patterns_of(variables, profile=profile, strict=True)
    # No cell starts at 0, so that every report has a likelihood.
    start = None if near is None else 0.99 * near + 0.01 / near.size
    table = fit_rows(patterns, start).weights
    errors, _ = errors_of(variables, patterns, table, _LEVEL)
    # Tables that are too large to have a covariance were refused.
    sigma = np.zeros(0) if errors.unbounded_covariance is None else errors.unbounded_covariance
    # G = n Sigma: the inverse information of one report.
    return _Fit(variables, every, profile, table, errors.unbounded, patterns.n * sigma)
