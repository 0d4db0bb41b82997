"""Leverage of crafted reports on the cells of a joint table.

Model: of n reports at most m = beta n are crafted; the table wanted is that of the others. To first
order, and exactly where the table fits the reports exactly (k-RR), a table without the reports A is

    x' = x - sum over A of G v / (n - m),      v = L_y / (L_y x) of a report y,

with L_y its likelihoods over cells and G = n Sigma, Sigma the covariance of the unbounded table
(`covariance.py`). So the reports that can have pushed cell c up most are those with the largest
G_c v, its *influence* on the cell: a liar's reports are among the reports. (That a sum over the
most influential observations tells what leaving out a share of them does is the idea of [Broderick,
Giordano, Meager, 2020].)

Crafted reports also add to the information, and so hide each other. So the table is estimated again
without those reports, and once more without the most influential ones at the table found then. The
search also starts from the table without the reports of the largest v'G v, their *weight*: reports
that resemble no honest one. How "(other)" looks is learned from the reports as well, so that liars
can hide in it: where it is, a search starts from its plain profile (`other.py`). The shift is the
largest move of all that were found. Tables of many cells are estimated again only at those starts,
for all cells together, and influence is summed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable import _validate
from deniable.associate.covariance import LARGEST_TABLE, cell_errors
from deniable.associate.crafted_krr import all_krr, krr_shifts
from deniable.associate.fields import field_rows
from deniable.associate.other import DEFAULT_PROFILE
from deniable.associate.patterns import patterns_of
from deniable.associate.variable import Variable
from deniable.decode.mixture import fit_rows
from deniable.decode.mixture_rows import Product
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms.base import Floats

MOST_ATTACKED = 256
"""The most cells of a table that are searched by new estimates, at eight estimates per cell."""
MAJORITY = 0.5
"""From this share on crafted reports can say anything."""

_LEVEL = 0.95
_ROUNDS = 2

Margins = Sequence[tuple[int, ...]]
"""The axes that each of some margins keeps."""
Progress = Callable[[int, int], None]
"""Called with the searches done and their number."""


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
        liars: the number of reports that may be crafted.
        seen: the table of all reports.
        others: tables at which influence is looked for too: the one without the reports of the
            largest weight and, where there is "(other)", the one with its plain profile.
        each: whether tables are estimated for each sum of cells.
    """

    variables: Sequence[Variable]
    liars: int
    seen: _Fit
    others: tuple[_Fit, ...] = ()
    each: bool = True

    def prepared(self) -> _Search:
        """Return the search with its other tables."""
        others = [self.without(self.seen.weight())]
        if any(variable.other and variable.mechanism.hashed for variable in self.variables):
            others.append(_fitted(self.variables, self.variables, "flat"))
        return replace(self, others=tuple(others))

    def shift(self, summed: Floats, sign: int) -> float:
        """Return the largest shift of a sum of cells by liars, up (sign 1) or down (-1)."""
        starts = (self.seen,) if self.each else (self.seen, *self.others)
        first_order = [self._first_order(fit, summed, sign) for fit in starts]
        without = [fit.unbounded @ summed for fit in self._tables(summed, sign)]
        moved = [sign * float(self.seen.unbounded @ summed - share) for share in without]
        return min(1.0, max(0.0, *first_order, *moved))

    def _first_order(self, fit: _Fit, summed: Floats, sign: int) -> float:
        """Return the shift of a sum of cells by the most influential reports, to first order."""
        influence = sign * fit.influence(summed)
        most = largest(influence, self.liars)
        # x - x' = sum over A of G v / (n - m), summed over the m largest influences.
        return float(influence[most].sum()) / (influence.size - self.liars)

    def _tables(self, summed: Floats, sign: int) -> Iterator[_Fit]:
        """Yield tables without some liars' worth of reports."""
        yield self.others[0]
        if not self.each:
            return
        for start in (self.seen, *self.others):
            fit = start
            for _ in range(_ROUNDS):
                fit = self.without(sign * fit.influence(summed))
                yield fit

    def without(self, order: Floats) -> _Fit:
        """Return the table without the reports that come last in an order.

        Raises:
            InvalidParameter: if too few are left to tell the categories apart.
        """
        left = left_over(self.variables, all_but_last(order, self.liars))
        return _fitted(left, self.variables, near=self.seen.table)


@one_thread
def crafted_shifts(
    variables: Sequence[Variable],
    attackers: float,
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
        attackers: the share of reports that may be crafted.
        progress: called with the searches that were made, of two per cell, and how many there are.
        margins: tables that keep these axes, others summed out, to be searched as well: much less
            can be done to a sum of cells than to each of them added up.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1 and the table has at most 2,048
            cells or all its fields are k-RR without "(other)".
    """
    share = _validate.probability("attackers", "an association", attackers)
    shape = tuple(len(variable.categories) for variable in variables)
    check_size(variables)
    if int(np.prod(shape)) > MOST_ATTACKED and all_krr(variables):
        return _exact(variables, share, margins)
    kept = [tuple(range(len(shape))), *margins]
    sums = np.concatenate([summing(shape, axes) for axes in kept])
    liars = int(np.ceil(share * variables[0].n))
    found = np.full((2, len(sums)), 1.0 if liars else 0.0)
    if liars and share < MAJORITY:
        _searched(variables, liars, sums, found, progress)
    return _split(found, shape, kept)


def _exact(variables: Sequence[Variable], attackers: float, margins: Margins) -> Shifts:
    """Return the shifts of a large table of k-RR, which needs no search."""
    liars = int(np.ceil(attackers * variables[0].n))
    kept = [tuple(range(len(variables))), *margins]
    parts = [_exact_part(variables, liars, axes) for axes in kept]
    return replace(parts[0], margins=dict(zip(kept[1:], parts[1:], strict=True)))


def _exact_part(variables: Sequence[Variable], liars: int, axes: Sequence[int]) -> Shifts:
    if liars >= MAJORITY * variables[0].n:
        whole = np.ones([len(variables[axis].categories) for axis in axes])
        return Shifts(whole, whole)
    return Shifts(*krr_shifts(variables, liars, axes))


def _searched(
    variables: Sequence[Variable],
    liars: int,
    sums: Floats,
    found: Floats,
    progress: Progress | None,
) -> None:
    """Put the shifts of all sums of cells into `found`, upwards and downwards."""
    seen = _fitted(variables, variables)
    search = _Search(variables, liars, seen, each=seen.table.size <= MOST_ATTACKED)
    try:
        search = search.prepared()
        for done, (place, row) in enumerate(np.ndindex(found.shape)):
            if progress is not None:
                progress(done, found.size)
            found[place, row] = search.shift(sums[row], (1, -1)[place])
    except InvalidParameter:  # too few would be left to tell the categories apart
        found[:] = 1.0
    if progress is not None:
        progress(found.size, found.size)


def _split(found: Floats, shape: tuple[int, ...], kept: Sequence[tuple[int, ...]]) -> Shifts:
    """Return the shifts of the table and of its margins from those of all their cells in a row."""
    shapes = [tuple(shape[axis] for axis in axes) for axes in kept]
    ends = np.cumsum([int(np.prod(sizes)) for sizes in shapes])[:-1]
    parts = [
        Shifts(up.reshape(sizes), down.reshape(sizes))
        for sizes, up, down in zip(
            shapes, np.split(found[0], ends), np.split(found[1], ends), strict=True
        )
    ]
    return replace(parts[0], margins=dict(zip(kept[1:], parts[1:], strict=True)))


def summing(shape: tuple[int, ...], axes: Sequence[int]) -> Floats:
    """Return the matrix from a flat table to its flat margin that keeps some axes, in order."""
    sizes = tuple(shape[axis] for axis in axes)
    index = np.indices(shape).reshape(len(shape), -1)
    target = np.ravel_multi_index(tuple(index[axis] for axis in axes), sizes)
    rows = np.arange(int(np.prod(sizes)))[:, None]
    return np.asarray((rows == target).astype(np.float64))


def all_but_last(order: Floats, count: int) -> NDArray[np.bool_]:
    """Tell which reports are left without the `count` that come last in an order."""
    kept = np.ones(order.size, dtype=np.bool_)
    kept[largest(order, count)] = False
    return kept


def left_over(variables: Sequence[Variable], kept: NDArray[np.bool_]) -> list[Variable]:
    """Return the variables with some of their reports."""
    return [replace(variable, reports=variable.reports[kept]) for variable in variables]


def check_size(variables: Sequence[Variable]) -> None:
    """Refuse a table that is too large for a search over crafted reports."""
    cells = int(np.prod([len(variable.categories) for variable in variables]))
    if cells > LARGEST_TABLE and not all_krr(variables):
        raise InvalidParameter(
            f"What crafted reports could have done is computed for tables of at most "
            f"{LARGEST_TABLE:,} cells, or of k-RR alone without '(other)'. Got {cells:,}.",
            "Use fewer candidates or fields, for instance with --top, or leave out --attackers.",
        )


def largest(influence: Floats, count: int) -> NDArray[np.intp]:
    """Return the places of the `count` largest numbers."""
    return np.argpartition(influence, influence.size - count)[influence.size - count :]


def _fitted(
    variables: Sequence[Variable],
    every: Sequence[Variable],
    profile: str = DEFAULT_PROFILE,
    near: Floats | None = None,
) -> _Fit:
    """Return the table of the variables' own reports; `near` is a table like it."""
    patterns = patterns_of(variables, profile=profile)
    # No cell starts at 0, so that every report has a likelihood.
    start = None if near is None else 0.99 * near + 0.01 / near.size
    table = fit_rows(patterns, start).weights
    errors = cell_errors(patterns, table, _LEVEL)
    # Tables that are too large to have a covariance were refused.
    sigma = np.zeros(0) if errors.unbounded_covariance is None else errors.unbounded_covariance
    # G = n Sigma: the inverse information of one report.
    return _Fit(variables, every, profile, table, errors.unbounded, patterns.n * sigma)
