"""Points of a projective geometry for many people at once, and the sums over all hyperplanes.

The first two functions are vectorised twins of `protocol.projective`, equal number for number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from deniable.protocol.projective import points_below

Integers = NDArray[np.int64]
Places = NDArray[np.int32]

_CHUNK = 2**18
"""Points whose vectors are held at once."""


@lru_cache(maxsize=4)
def geometry_of(prime: int, dimension: int) -> Geometry:
    """Return a geometry; the last few are kept, with their tables."""
    return Geometry(prime, dimension)


@dataclass(frozen=True)
class Geometry:
    """The points of F_q^t: q is `prime`, t is `dimension`."""

    prime: int
    dimension: int

    @cached_property
    def points(self) -> int:
        """K, the number of points."""
        return points_below(self.prime, self.dimension)

    @cached_property
    def _starts(self) -> Integers:
        """The number of the first point with d digits after its 1, d = 0..t-1."""
        return np.array([points_below(self.prime, d) for d in range(self.dimension)])

    @cached_property
    def _inverses(self) -> Integers:
        """The inverse of every number modulo q; 0 for 0."""
        return np.array([0] + [pow(x, -1, self.prime) for x in range(1, self.prime)])

    def _powers(self, count: int) -> Integers:
        return self.prime ** np.arange(count - 1, -1, -1, dtype=np.int64)

    def vectors(self, numbers: Integers) -> Integers:
        """Return the vectors of points, a row each."""
        return self._vectors(numbers, self.dimension)

    def _vectors(self, numbers: Integers, dimension: int) -> Integers:
        digits = np.searchsorted(self._starts, numbers, side="right") - 1
        rest = numbers - self._starts[digits]
        found = rest[:, None] // self._powers(dimension) % self.prime
        found[np.arange(numbers.size), dimension - 1 - digits] = 1
        return found

    def numbers(self, vectors: Integers) -> Integers:
        """Return the points that vectors other than 0, of any dimension up to t, lie on."""
        rows, first = np.arange(len(vectors)), (vectors != 0).argmax(axis=1)
        scaled = vectors * self._inverses[vectors[rows, first]][:, None] % self.prime
        digits = vectors.shape[1] - 1 - first
        value = scaled @ self._powers(vectors.shape[1])
        return np.asarray(self._starts[digits] + value - self.prime**digits)

    def moved(self, true: Integers, inside: NDArray[np.bool_], choices: Integers) -> Integers:
        """Return for each point v point number `choice` among those u with <u, v> = 0, or not 0."""
        from deniable.kernels.projective import moved_points

        return moved_points(true, inside, choices, self.prime, self._starts, self._inverses)

    def hyperplane_sums(self, counts: Integers) -> Integers:
        """Return for every point v the sum of the counts of all points u with <u, v> = 0.

        Points u come in blocks, by the number d of digits x after their 1. In such a block
        <u, v> = a + <b, x>, where a and b are v's entry at that 1 and those after it. So the block
        adds the sum of its counts over all x with <b, x> = -a.

        Guarantees: exact, as long as the sum of the counts is below about 10^13.

        Cost: transforms of K numbers in all, and t look-ups per point. The places of the look-ups
        are found once and kept: 4 t bytes per point.
        """
        sums = np.zeros(self.points, dtype=np.int64)
        for d, start in enumerate(self._starts):
            block = counts[start : start + self.prime**d]
            # What no b stands for comes last: nothing, and the whole block (b = 0 and a = 0).
            lines = np.append(self._line_sums(block, d), [0, block.sum()])
            sums += lines[self._lookups[d]]
        return sums

    def _line_sums(self, block: Integers, digits: int) -> Integers:
        """Return for every point b and number s the sum of the block over all x with <b, x> = s.

        With F the transform of the block over F_q^d, F(c b) as a function of c is the transform
        of these sums as a function of s: the slice theorem of tomography.
        """
        if digits == 0:
            return np.zeros((0, self.prime), dtype=np.int64)
        space = fft.fftn(block.reshape((self.prime,) * digits)).ravel()
        slices = fft.ifft(space[self._slices[digits]], axis=1).real
        sums: Integers = np.rint(slices).astype(np.int64)
        return sums

    @cached_property
    def _slices(self) -> list[Places]:
        """For each d the places of all c b in F_q^d, a row per point b, a column per number c."""
        found = [np.zeros((0, self.prime), dtype=np.int32)]
        for d in range(1, self.dimension):
            b, powers = self._vectors(np.arange(points_below(self.prime, d)), d), self._powers(d)
            rows = np.empty((len(b), self.prime), dtype=np.int32)
            for c in range(self.prime):
                rows[:, c] = b * c % self.prime @ powers
            found.append(rows)
        return found

    @cached_property
    def _lookups(self) -> list[Places]:
        """For each d the place of every v's sum: the point of b, and -a over b's scale."""
        t = self.dimension
        found = [np.empty(self.points, dtype=np.int32) for _ in range(t)]
        for start in range(0, self.points, _CHUNK):
            v = self.vectors(np.arange(start, min(self.points, start + _CHUNK)))
            for d in range(t):
                found[d][start : start + len(v)] = self._looked_up(v[:, t - 1 - d], v[:, t - d :])
        return found

    def _looked_up(self, a: Integers, b: Integers) -> Integers:
        """Return where the sum over all x with <b, x> = -a stands among those of a block."""
        found: Integers = points_below(self.prime, b.shape[1]) * self.prime + (a == 0)
        rows = np.flatnonzero(b.any(axis=1))
        if rows.size:
            a, b = a[rows], b[rows]
            scale = b[np.arange(rows.size), (b != 0).argmax(axis=1)]
            found[rows] = self.numbers(b) * self.prime + -a * self._inverses[scale] % self.prime
        return found
