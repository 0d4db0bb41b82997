"""Likelihoods of cells where one variable reports a bit per answer: bits, never a float per answer.

Model: a report of the wide variable is a row of bits b_i, and its likelihood under answer a is
proportional to 1 where bit a is set and to `least` where it is not. The other variables' reports
are few different patterns, of likelihoods P_cm under their cells m. With c the pattern of row i,

    L_i,am = (least + (1 - least) b_ia) P_cm,

and the three things that a solver needs are sums over set bits and small products: with
y_ca = sum_m x_am P_cm and R_ca = sum of r_i over the rows of pattern c that have bit a,

    (L x)_i  = least sum_a y_ca + (1 - least) (sum of y_ca over the set bits of i)
    (L'r)_am = sum_c (least sum_i r_i + (1 - least) R_ca) P_cm
    (L' diag(r) L)_am,bl = sum_c M_cab P_cm P_cl,     M_c the same for the bits of pattern c.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.decode.mixture_rows import Places, Product, multiplied
from deniable.mechanisms.base import Floats

_ROUGHER = 3
"""Beside gradients by look-up a curvature counts so much more: rougher ones, and perhaps a round
more, are faster. Measured with 100 answers, where all from 2 to 5 are about as good."""
_SQUARES = 2**21
"""Numbers of the matrices M_c that are held at once."""


@dataclass(frozen=True)
class BitProduct:
    """Likelihoods of cells, one variable's from bits, the others' from a pattern per row.

    Attributes:
        packed: rows x bytes of the wide variable, bit a in byte a // 8 at weight 2^(a % 8).
        codes: of each row the pattern of the other variables; rows are sorted by it, and every
            pattern has some.
        others: per other variable an array of answers x patterns.
        answers: of the wide variable.
        place: of the wide variable among all.
        least: the likelihood without the answer's bit, where it is 1 with it.

    Guarantees: the same numbers as `dense()` gives, but for rounding.

    Cost: `mixed` and `pulled` take a look-up per row and byte, whatever the number of cells;
        `curvature` rows x answers^2 / 128 additions. Memory: a bit per row and answer and two bytes
        per row, and while they are summed 256 numbers per pattern and byte.
    """

    packed: NDArray[np.uint8]
    codes: NDArray[np.uint16]
    others: tuple[Floats, ...]
    answers: int
    place: int
    least: float

    @classmethod
    def of(
        cls,
        packed: NDArray[np.uint8],
        codes: Places,
        others: tuple[Floats, ...],
        *,
        answers: int,
        place: int,
        least: float,
    ) -> BitProduct:
        """Return the product of reports in any order.

        Args:
            packed: as the attribute.
            codes: as the attribute, but in any order; at most 65,536 different ones.
            others: as the attribute, but with patterns that no row has, perhaps.
            answers: as the attribute.
            place: as the attribute.
            least: as the attribute.
        """
        seen = np.bincount(codes, minlength=others[0].shape[1]) > 0
        short = (np.cumsum(seen) - 1).astype(np.uint16)[codes]
        order = np.argsort(short, kind="stable")
        kept = tuple(np.ascontiguousarray(other[:, seen]) for other in others)
        return cls(np.ascontiguousarray(packed[order]), short[order], kept, answers, place, least)

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
        """What a row adds to a curvature: the pairs of the wide variable, whatever the cells."""
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
        from deniable.kernels.matching_bits import summed_bits

        values = (x[self._order].reshape(self.answers, -1) @ self._lines).T
        found = summed_bits(self.packed, self.codes, (1 - self.least) * values)
        found += (self.least * values.sum(axis=1)).repeat(np.diff(self._starts))
        return np.asarray(found)

    def pulled(self, r: Floats) -> Floats:
        """Return L' r, a number per cell."""
        found = np.empty(self.cells)
        found[self._order] = (self.pulled_by_pattern(r).T @ self._lines.T).reshape(-1)
        return found

    def pulled_by_pattern(self, r: Floats) -> Floats:
        """Return sum r_i (least + (1 - least) b_ia) over the rows of each pattern: x answers."""
        from deniable.kernels.matching_bits import added_bits

        shape = (len(self._starts) - 1, self.answers)
        found = added_bits(self.packed, self.codes, np.ascontiguousarray(r), shape)
        totals = np.add.reduceat(r, self._starts[:-1])[:, None]
        return np.asarray(self.least * totals + (1 - self.least) * found)

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

    def alone(self, variable: int) -> BitProduct | Product:
        """Return the likelihoods of one variable's answers, whatever the others say."""
        if variable == self.place:
            codes = np.zeros_like(self.codes)
            return BitProduct(self.packed, codes, (), self.answers, 0, self.least)
        other = self.others[variable - (variable > self.place)]
        return Product((other,), self.pattern_shares, self.n)

    def dense(self) -> Product:
        """Return the same likelihoods with a float per row and answer, in the same order."""
        ones = np.unpackbits(self.packed, axis=1, count=self.answers, bitorder="little")
        bits = np.ascontiguousarray(ones.T)
        wide = np.where(bits, np.float64(1.0), self.least)
        factors = [np.ascontiguousarray(other[:, self.codes]) for other in self.others]
        factors.insert(self.place, wide)
        return Product(tuple(factors), self.shares, self.n)

    @functools.cached_property
    def _starts(self) -> Places:
        """The first row of each pattern, and the number of rows."""
        last = self.others[0].shape[1] if self.others else 1
        return np.searchsorted(self.codes, np.arange(last + 1))

    @functools.cached_property
    def _lines(self) -> Floats:
        """The likelihoods of the other variables' cells, a line each, a column per pattern."""
        return multiplied(self.others) if self.others else np.ones((1, 1))

    @functools.cached_property
    def _order(self) -> Places:
        """The cells with the wide variable's answers outermost."""
        cells = np.arange(self.cells).reshape(self.sizes)
        return np.moveaxis(cells, self.place, 0).reshape(-1)

    def _square(self, pattern: int, r: Floats, every: int) -> Floats:
        """Return the sum of r_i A_i A_i' over rows of a pattern, A_i = least + (1 - least) b_i."""
        from deniable.kernels.paired_bits import paired_bits

        first, end = self._starts[pattern : pattern + 2]
        packed, weights = self.packed[first:end:every], r[first:end:every]
        pairs, least = paired_bits(packed, weights, self.answers), self.least
        # A bit is its own square: the sums of single bits stand on the diagonal.
        single = pairs.diagonal()
        mixed = least * (1 - least) * (single[:, None] + single)
        found = least**2 * weights.sum() + mixed + (1 - least) ** 2 * pairs
        return np.asarray(found * ((end - first) / len(packed)))
