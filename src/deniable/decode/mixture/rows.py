"""The likelihoods that mixtures are fitted to: a plain table, or a product of small tables.

Model: observation i, a share u_i of all, has likelihood L_ij under component j. A solver needs
three things of L only, and never its entries:

    mixed(x) = L x,      pulled(r) = L' r,      curvature(r) = L' diag(r) L.

For several variables a component is a cell (a, b, ...) of their table, and since reports are
independent given the answers, L_i,ab... = A_ia B_ib ...: the factors are kept, L never is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.decode.mixture.checks import checked_table, checked_weights, scaled
from deniable.decode.mixture.packed_factor import PackedFactor
from deniable.mechanisms.base import Floats

if TYPE_CHECKING:
    from deniable.kernels.byte_products import Side

Places = NDArray[np.intp]
Factor = Floats | NDArray[np.float32] | PackedFactor
"""The likelihoods of a variable's answers, a line each: as floats, or as bytes."""

_CHUNK = 2**20
"""Numbers that are held at once while factors are multiplied."""
_FEWEST, _MOST = 256, 2**13
_ROUGHER = 8
"""Beside the sums over bytes of a gradient, a curvature of one factor counts so much more."""
_FEW = 3
"""The most answers of a side whose pairs are worked on one by one."""


class Rows(Protocol):
    """The likelihoods as a solver sees them: three products, and no entries."""

    @property
    def cells(self) -> int:
        """The number of components."""

    @property
    def shares(self) -> Floats:
        """The share of the observations that each row stands for; the shares sum to 1."""

    @property
    def n(self) -> float:
        """The number of observations."""

    @property
    def effort(self) -> int:
        """The multiplications that a row adds to a curvature: many, and only some rows are used."""

    def mixed(self, x: Floats) -> Floats:
        """Return L x, a number per row."""

    def pulled(self, r: Floats) -> Floats:
        """Return L' r, a number per component."""

    def curvature(self, r: Floats, every: int = 1) -> Floats:
        """Return L' diag(r) L; with `every` = s from each s-th block of rows only, scaled up."""


@dataclass(frozen=True)
class Table:
    """Likelihoods in one table, a row per observation and a column per component."""

    table: Floats
    shares: Floats
    n: float

    @classmethod
    def of(cls, likelihood: Floats, weights: Floats | None = None) -> Table:
        """Return the rows that were seen, each scaled to a maximum of 1.

        Raises:
            InvalidParameter: if a number is negative or not finite, or a row has only zeros.
        """
        table = checked_table(likelihood)
        w = checked_weights(weights, len(table))
        return cls(scaled(table[w > 0]), w[w > 0] / w.sum(), float(w.sum()))

    @property
    def cells(self) -> int:
        """The number of components."""
        return int(self.table.shape[1])

    @property
    def effort(self) -> int:
        """The multiplications that a row adds to a curvature."""
        return self.cells**2

    def mixed(self, x: Floats) -> Floats:
        """Return L x, a number per row."""
        return np.asarray(self.table @ x)

    def pulled(self, r: Floats) -> Floats:
        """Return L' r, a number per component."""
        return np.asarray(self.table.T @ r)

    def curvature(self, r: Floats, every: int = 1) -> Floats:
        """Return L' diag(r) L; with `every` = s from each s-th row only, scaled up."""
        part, weights = self.table[::every], r[::every]
        # (sqrt(r) L)'(sqrt(r) L), scaled up from the rows that were taken to all of them.
        rooted = part * np.sqrt(weights)[:, None]
        return np.asarray(len(self.table) / len(part) * (rooted.T @ rooted))


@dataclass(frozen=True)
class Product:
    """Likelihoods of cells as products of factors, one factor per variable.

    Attributes:
        factors: per variable an array of answers x rows: a line per answer, so that a block of
            rows is contiguous.
        shares: of each row; the sum is 1.
        n: the number of observations.

    Guarantees: sums are taken over blocks of rows whose size follows from the numbers of answers
        alone, in their order, so that results do not depend on how the factors were computed.

    Cost: for C cells in all, `mixed` and `pulled` take O(rows C); `curvature` about rows C^2 / 4,
        because A_ia A_ic is symmetric in a and c, and so are the other factors. Memory: the
        factors and a few megabytes.
    """

    factors: tuple[Factor, ...]
    shares: Floats
    n: float

    @classmethod
    def of(cls, factors: Sequence[Floats], weights: Floats | None = None) -> Product:
        """Return the product of tables with a row per observation and a column per answer.

        Raises:
            InvalidParameter: if a number is negative or not finite, a row has only zeros, or the
                tables differ in their rows.
        """
        tables = [checked_table(table) for table in factors]
        w = checked_weights(weights, len(tables[0]), [len(table) for table in tables])
        lines = tuple(np.ascontiguousarray(scaled(table[w > 0]).T) for table in tables)
        return cls(lines, w[w > 0] / w.sum(), float(w.sum()))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of answers of each variable."""
        return tuple(len(factor) for factor in self.factors)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(np.prod(self.sizes))

    @property
    def effort(self) -> int:
        """The multiplications that a row adds to a curvature, at most."""
        return self.cells**2 * (_ROUGHER if self._of_bytes else 1)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.factors[0].shape[1])

    def alone(self, variable: int) -> Product:
        """Return the likelihoods of one variable's answers, whatever the others say."""
        return Product((self.factors[variable],), self.shares, self.n)

    def mixed(self, x: Floats) -> Floats:
        """Return L x, a number per row."""
        if self._of_bytes:
            return self._of_bytes.mixed(x)
        if self._two_of_bytes:
            from deniable.kernels.byte_products import mixed_bytes

            return np.asarray(mixed_bytes(*self._two_of_bytes, x.reshape(self.sizes)), np.float64)
        found = np.empty(self.rows)
        split = self._split()
        table = np.ascontiguousarray(x.reshape(int(np.prod(self.sizes[:split])), -1).T)
        for block in self._blocks():
            left, right = self._sides(block, split)
            table = table.astype(left.dtype, copy=False)  # a product of two precisions is slow
            # (L x)_i = sum_b B_ib sum_a x_ab A_ia.
            found[block] = np.einsum("ij,ij->j", table @ left, right)
        return found

    def pulled(self, r: Floats) -> Floats:
        """Return L' r, a number per cell."""
        if self._of_bytes:
            return self._of_bytes.pulled(r)
        if self._two_of_bytes:
            from deniable.kernels.byte_products import pulled_bytes

            return np.asarray(pulled_bytes(*self._two_of_bytes, r), np.float64).reshape(-1)
        split = self._split()
        found = np.zeros((int(np.prod(self.sizes[split:])), int(np.prod(self.sizes[:split]))))
        for block in self._blocks():
            left, right = self._sides(block, split)
            # (L'r)_ab = sum_i r_i A_ia B_ib.
            found += (right * r[block].astype(right.dtype, copy=False)) @ left.T
        return found.T.reshape(-1)

    def curvature(self, r: Floats, every: int = 1) -> Floats:
        """Return L' diag(r) L; with `every` = s from each s-th block of rows only, scaled up.

        With pairs a <= c of one side and b <= d of the other, its entry at ((a, b), (c, d)) is
        sum_i r_i (A_ia A_ic)(B_ib B_id): one small matrix product per block. Where a side has few
        answers, one product A' diag(r B_b B_d) A per pair is faster.
        """
        if self._of_bytes and every == 1:
            return self._of_bytes.curvature(r)
        split = self._split()
        sizes = (int(np.prod(self.sizes[:split])), int(np.prod(self.sizes[split:])))
        if min(sizes) <= _FEW:
            sums = self._few_pairs(r, every, split, sizes)
        else:
            sums = self._all_pairs(r, every, split, sizes)
        return np.asarray(sums.reshape(self.cells, self.cells))

    def _few_pairs(self, r: Floats, every: int, split: int, sizes: tuple[int, int]) -> Floats:
        few = int(sizes[1] > sizes[0])  # which side is the small one's partner
        small, large = sizes[1 - few], sizes[few]
        pairs = list(zip(*np.triu_indices(small), strict=True))
        sums = np.zeros((small, small, large, large))
        for block in self._blocks(every, 2 * large):
            sides = self._sides(block, split)
            wide, narrow = sides[few], sides[1 - few]
            for b, d in pairs:
                sums[b, d] += (wide * (r[block] * narrow[b] * narrow[d])) @ wide.T
        for b, d in pairs:
            sums[d, b] = sums[b, d]
        # Cells are (left, right): put the axes of the sides back in their order.
        return self._scale(every, 2 * large) * sums.transpose(
            (2, 0, 3, 1) if few == 0 else (0, 2, 1, 3)
        )

    def _all_pairs(self, r: Floats, every: int, split: int, sizes: tuple[int, int]) -> Floats:
        (a, c), (b, d) = np.triu_indices(sizes[0]), np.triu_indices(sizes[1])
        sums = np.zeros((a.size, b.size))
        for block in self._blocks(every, a.size + b.size):
            left, right = self._sides(block, split)
            sums += ((left[a] * left[c]) * r[block]) @ (right[b] * right[d]).T
        sums *= self._scale(every, a.size + b.size)
        first, second = _pair_numbers(sizes[0], a, c), _pair_numbers(sizes[1], b, d)
        return np.asarray(sums[first[:, None, :, None], second[None, :, None, :]])

    @property
    def _of_bytes(self) -> PackedFactor | None:
        """The only factor, if there is one, of bytes."""
        only = self.factors[0]
        return only if isinstance(only, PackedFactor) and len(self.factors) == 1 else None

    @property
    def _two_of_bytes(self) -> tuple[Side, Side] | None:
        """Both factors as kernels take them, if there are two, of bytes."""
        if len(self.factors) != 2:
            return None
        one, two = self.factors
        if isinstance(one, PackedFactor) and isinstance(two, PackedFactor):
            return one.side, two.side
        return None

    def _split(self) -> int:
        """Return how many of the first variables make the left side, so that both are alike."""
        last = len(self.sizes)
        if last == 1:
            return 1
        return min(
            range(1, last),
            key=lambda at: int(np.prod(self.sizes[:at]) + np.prod(self.sizes[at:])),
        )

    def _blocks(self, every: int = 1, width: int | None = None) -> Iterator[slice]:
        step = min(_MOST, max(_FEWEST, _CHUNK // (width or self.cells)))
        for start in range(0, self.rows, step * every):
            yield slice(start, min(start + step, self.rows))

    def _scale(self, every: int, width: int) -> float:
        """Return all rows over those of the blocks that are used."""
        used = sum(block.stop - block.start for block in self._blocks(every, width))
        return float(self.rows / used)

    def _sides(self, block: slice, split: int) -> tuple[Floats, Floats]:
        left = multiplied([factor[:, block] for factor in self.factors[:split]])
        if split == len(self.factors):
            return left, np.ones((1, left.shape[1]))
        return left, multiplied([factor[:, block] for factor in self.factors[split:]])


def multiplied(factors: Sequence[Floats | NDArray[np.float32]]) -> Floats:
    """Return the products of all combinations of lines, in C order of the cells."""
    found: Any = factors[0]
    for factor in factors[1:]:
        found = (found[:, None, :] * factor[None, :, :]).reshape(-1, factor.shape[1])
    return np.asarray(found)


def _pair_numbers(size: int, first: Places, second: Places) -> Places:
    """Return the number of each pair in the list of pairs, whichever comes first."""
    numbers = np.empty((size, size), dtype=np.intp)
    numbers[first, second] = np.arange(len(first))
    numbers[second, first] = np.arange(len(first))
    return numbers
