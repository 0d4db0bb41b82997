"""Likelihoods of cells where one variable has many answers: bytes, never a float per answer.

Model: a byte of a report of the wide variable holds d answers, and its value stands for their
likelihoods V (see `mechanisms/packed.py`); one more answer, "(other)", may have a number per report
instead. The other variables' reports are few different patterns, of likelihoods P_cm under their
cells m. With c the pattern of row i, cohorts of the wide variable among them, and A_ia = s_ca V the
likelihoods of the wide variable,

    L_i,am = A_ia P_cm,

and the three things that a solver needs are sums over bytes and small products: with
y_ca = sum_m x_am P_cm and R_ca = sum of r_i A_ia over the rows of pattern c,

    (L x)_i = sum_a y_ca A_ia,     (L'r)_am = sum_c R_ca P_cm,
    (L' diag(r) L)_am,bl = sum_c M_cab P_cm P_cl,     M_cab = sum of r_i A_ia A_ib, rows of c.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.decode.mixture.packed_factor import squares_of_bytes
from deniable.decode.mixture.rows import Places, Product, multiplied
from deniable.mechanisms.base import Floats
from deniable.mechanisms.packed import PackedAnswers

_ROUGHER = 3
"""Beside gradients by look-up a curvature counts so much more: rougher ones, and perhaps a round
more, are faster. Measured with 100 answers, where all from 2 to 5 are about as good."""
_SQUARES = 2**21
"""Numbers of the matrices M_c that are held at once."""


@dataclass(frozen=True)
class PackedProduct:
    """Likelihoods of cells, one variable's from bytes, the others' from a pattern per row.

    Attributes:
        packed: rows x bytes of the wide variable.
        values: what the values of a byte stand for, as in `PackedAnswers`.
        codes: of each row the pattern of the other variables; rows are sorted by it, and every
            pattern has some.
        others: per other variable an array of answers x patterns.
        scale: answers x patterns, of the wide variable's listed answers.
        place: of the wide variable among all.
        rest: the likelihoods of one more answer of the wide variable, its last; None if there is
            none.

    Guarantees: the same numbers as `dense()` gives, but for rounding.

    Cost: `mixed` and `pulled` take a look-up per row and byte, whatever the number of cells;
        `curvature` an addition per row and pair of bytes. Memory: the bytes and two more per row,
        and while they are summed 256 numbers per pattern and byte.
    """

    packed: NDArray[np.uint8]
    values: Floats
    codes: NDArray[np.uint16]
    others: tuple[Floats, ...]
    scale: Floats
    place: int
    rest: Floats | None = None

    @classmethod
    def of(
        cls,
        wide: PackedAnswers,
        codes: Places,
        others: tuple[Floats, ...],
        *,
        place: int,
        rest: Floats | None = None,
    ) -> PackedProduct:
        """Return the product of reports in any order.

        Args:
            wide: the wide variable's reports.
            codes: the pattern of the other variables of each; with the cohorts of the wide one at
                most 65,536 different ones.
            others: as the attribute, but with patterns that no row has, perhaps.
            place: as the attribute.
            rest: as the attribute.
        """
        patterns, cohorts = others[0].shape[1], len(wide.scale)
        own = np.zeros(1, np.intp) if wide.cohorts is None else wide.cohorts.astype(np.intp)
        # Patterns of one cohort follow each other, so that `alone` can merge them.
        keys = own * patterns + codes
        seen = np.flatnonzero(np.bincount(keys, minlength=patterns * cohorts))
        number = np.empty(patterns * cohorts, dtype=np.uint16)
        number[seen] = np.arange(seen.size)
        short = number[keys]
        order = np.argsort(short, kind="stable")
        kept = tuple(np.ascontiguousarray(other[:, seen % patterns]) for other in others)
        scale = np.ascontiguousarray(wide.scale[seen // patterns].T)
        packed, last = wide.packed[order], None if rest is None else rest[order]
        return cls(packed, wide.values, short[order], kept, scale, place, last)

    @property
    def answers(self) -> int:
        """The number of answers of the wide variable."""
        return len(self.scale) + (self.rest is not None)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of answers of each variable."""
        rest = [len(other) for other in self.others]
        return (*rest[: self.place], self.answers, *rest[self.place :])

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(np.prod(self.sizes))

    @property
    def rows(self) -> int:
        """The number of rows, one per observation."""
        return len(self.packed)

    @property
    def effort(self) -> int:
        """The work of a row in a curvature: the pairs of the wide variable, whatever the cells."""
        return _ROUGHER * self.answers**2

    @property
    def n(self) -> float:
        """The number of observations."""
        return float(self.rows)

    @property
    def shares(self) -> Floats:
        """The share of each row."""
        return np.broadcast_to(np.float64(1 / self.rows), self.rows)

    @property
    def pattern_shares(self) -> Floats:
        """The share of each pattern of the other variables."""
        return np.diff(self._starts) / self.rows

    def mixed(self, x: Floats) -> Floats:
        """Return L x, a number per row."""
        # Imported here because Numba takes most of a second to load.
        from deniable.kernels.byte_sums import summed_bytes

        # y_ca = sum_m x_am P_cm; then a byte's value stands for the sum of y_ca V over its answers.
        wanted = x[self._order].reshape(self.answers, -1) @ self._lines
        patterns, (width, each) = self.scale.shape[1], (self.packed.shape[1], self.values.shape[1])
        padded = np.zeros((patterns, width * each))
        padded[:, : len(self.scale)] = (wanted[: len(self.scale)] * self.scale).T
        table = np.zeros((patterns, width, 256))
        table[:, :, : len(self.values)] = padded.reshape(patterns, width, each) @ self.values.T
        found: Floats = np.asarray(summed_bytes(self.packed, self.codes, table), np.float64)
        if self.rest is not None:
            found += self.rest * wanted[-1].repeat(np.diff(self._starts))
        return found

    def pulled(self, r: Floats) -> Floats:
        """Return L' r, a number per cell."""
        found = np.empty(self.cells)
        # (L'r)_am = sum_c R_ca P_cm.
        found[self._order] = (self.pulled_by_pattern(r).T @ self._lines.T).reshape(-1)
        return found

    def pulled_by_pattern(self, r: Floats) -> Floats:
        """Return the sum of r_i A_ia over the rows of each pattern: patterns x answers."""
        listed = self._added(r)
        if self.rest is None:
            return listed
        return np.column_stack([listed, np.add.reduceat(r * self.rest, self._starts[:-1])])

    def curvature(self, r: Floats, every: int = 1) -> Floats:
        """Return L' diag(r) L.

        With `every` = s from each s-th row of every pattern only, scaled up.
        """
        patterns, answers = len(self._starts) - 1, self.answers
        pairs = (self._lines[:, None, :] * self._lines[None, :, :]).reshape(-1, patterns)
        sums = np.zeros((answers**2, len(pairs)))
        step = max(1, _SQUARES // answers**2)
        for first in range(0, patterns, step):
            some = range(first, min(first + step, patterns))
            squares = np.stack([self._square(pattern, r, every) for pattern in some])
            sums += squares.reshape(len(some), -1).T @ pairs[:, first : first + step].T
        rest = len(self._lines)
        # From ((a, b), (m, l)) to ((a, m), (b, l)), and the cells to their own order.
        whole = sums.reshape(answers, answers, rest, rest).swapaxes(1, 2)
        found = np.empty((self.cells, self.cells))
        found[np.ix_(self._order, self._order)] = whole.reshape(self.cells, self.cells)
        return found

    def alone(self, variable: int) -> PackedProduct | Product:
        """Return the likelihoods of one variable's answers, whatever the others say."""
        if variable != self.place:
            other = self.others[variable - (variable > self.place)]
            return Product((other,), self.pattern_shares, self.n)
        # Patterns that follow each other and scale alike are one.
        starts = np.any(self.scale[:, 1:] != self.scale[:, :-1], axis=0)
        group = np.append(0, np.cumsum(starts)).astype(np.uint16)
        scale = self.scale[:, np.append(True, starts)]
        return PackedProduct(self.packed, self.values, group[self.codes], (), scale, 0, self.rest)

    def dense(self) -> Product:
        """Return the same likelihoods with a float per row and answer, in the same order."""
        wide = PackedAnswers(self.packed, self.values, self.scale.T, self.codes).lines()
        if self.rest is not None:
            wide = np.vstack([wide, self.rest])
        factors = [np.ascontiguousarray(other[:, self.codes]) for other in self.others]
        factors.insert(self.place, np.ascontiguousarray(wide))
        return Product(tuple(factors), self.shares, self.n)

    @functools.cached_property
    def _starts(self) -> Places:
        """The first row of each pattern, and the number of rows."""
        return np.searchsorted(self.codes, np.arange(self.scale.shape[1] + 1))

    @functools.cached_property
    def _lines(self) -> Floats:
        """The likelihoods of the other variables' cells, a line each, a column per pattern."""
        return multiplied(self.others) if self.others else np.ones((1, self.scale.shape[1]))

    @functools.cached_property
    def _order(self) -> Places:
        """The cells with the wide variable's answers outermost."""
        cells = np.arange(self.cells).reshape(self.sizes)
        return np.moveaxis(cells, self.place, 0).reshape(-1)

    def _added(self, r: Floats) -> Floats:
        """Return the sum of r_i A_ia of listed answers over the rows of each pattern."""
        from deniable.kernels.byte_sums import added_bytes

        patterns = self.scale.shape[1]
        table = added_bytes(self.packed, self.codes, np.ascontiguousarray(r), patterns)
        found = table[:, :, : len(self.values)] @ self.values
        return np.asarray(found.reshape(patterns, -1)[:, : len(self.scale)] * self.scale.T)

    def _square(self, pattern: int, r: Floats, every: int) -> Floats:
        """Return the sum of r_i A_i A_i' over rows of a pattern."""
        first, end = self._starts[pattern : pattern + 2]
        some = slice(first, end, every)
        rest = None if self.rest is None else self.rest[some]
        scale = self.scale[:, pattern]
        square = squares_of_bytes(self.packed[some], self.values, scale, r[some], rest)
        return np.asarray(square * ((end - first) / len(r[some])))
