"""The joint distribution of two places in the limit of many reports: a normal model, fitted fast.

Model: what n people say of n-grams i and j at two places adds up to independent normal numbers

    z_ij ~ N(x_ij, V_i V_j / n),    a_i ~ N(r_i, V_i / n),    b_j ~ N(c_j, V_j / n),

x_ij the share of the pair, r_i and c_j the shares of the n-grams, V their n Var at one place. The
likeliest table has no share below 0: neither of a pair, nor of n-gram i with any other one,
r_i - sum_j x_ij, nor of any other with any other, 1 - sum r - sum c + sum x. With multipliers
l_i, m_j and u of these conditions, all at least 0 and scaled by V^2 / n,

    x_ij = max(0, z_ij - l_i - m_j + u),    r_i = a_i + (l_i - u) / V,    c_j = b_j + (m_j - u) / V,

so that a pair is seen only if it exceeds what its row and its column must give up: the noise of
pairs that nobody has takes a part of the n-grams' shares. This, not the noise of the pair alone,
decides which pairs `joint` finds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.discover.ngrams.joint import Mask
from deniable.mechanisms.base import Floats

_SWEEPS = 200
_NEAR = 3e-3
"""Of the largest number: sweeps end when no multiplier moves by more."""
_FURTHER = 1.3
"""Over-relaxation: the length of a step, in multiples of what its own condition asks for."""
_NEVER = -1e6
"""A pair that cannot be: far below what any noise reaches."""


@dataclass(frozen=True)
class Seen:
    """The observations of T pairs of places: T x K x L, T x K and T x L numbers.

    Attributes:
        pairs: z.
        rows: a.
        columns: b.
        row_real: which rows there are; the others fill up the shape.
        column_real: the same of columns.
        noise: V of one place, taken to be the same for all n-grams where z, a and b are weighed.
    """

    pairs: Floats
    rows: Floats
    columns: Floats
    row_real: Mask
    column_real: Mask
    noise: float


def likeliest(seen: Seen, possible: Mask, near: float = _NEAR, sweeps: int = _SWEEPS) -> Floats:
    """Return the shares x of the likeliest tables.

    Each multiplier is raised in turn to where its own condition holds.

    Cost: about 40 sweeps over all tables, at most 200.

    Args:
        seen: the numbers.
        possible: which pairs can be.
        near: how exactly the multipliers are wanted, as a part of the largest number.
        sweeps: the most sweeps.
    """
    inner = possible & seen.row_real[:, :, None] & seen.column_real[:, None, :]
    sweep = _Sweep(seen, np.where(inner, seen.pairs, _NEVER))
    close = near * float(np.abs(seen.pairs[inner]).max(initial=0.0))
    for _ in range(sweeps):
        if sweep.once() <= close:
            break
    return sweep.shares()[0]


class _Sweep:
    """The multipliers l, m and u, and how they are raised."""

    def __init__(self, seen: Seen, z: Floats) -> None:
        self._seen, self._z = seen, z
        self._rows, self._columns = np.zeros_like(seen.rows), np.zeros_like(seen.columns)
        self._rest = np.zeros(len(z))
        self._sides = seen.row_real.sum(axis=1) + seen.column_real.sum(axis=1)

    def shares(self) -> tuple[Floats, Mask]:
        """Return x, and which of it are above 0."""
        given = self._rows[:, :, None] + self._columns[:, None, :] - self._rest[:, None, None]
        x = self._z - given
        return np.maximum(x, 0.0), x > 0

    def once(self) -> float:
        """Raise all of them once; return how far the one that moved most has moved."""
        before = self._rows, self._columns, self._rest
        x, free = self.shares()
        self._rows = self._raised(self._rows, x.sum(2), self._seen.rows, free.sum(2))
        x, free = self.shares()
        self._columns = self._raised(self._columns, x.sum(1), self._seen.columns, free.sum(1))
        x, free = self.shares()
        left = 1 - self._all(self._rows, self._seen.rows, self._seen.row_real)
        left -= self._all(self._columns, self._seen.columns, self._seen.column_real)
        slope = np.maximum(free.sum(axis=(1, 2)) + self._sides / self._seen.noise, 1e-12)
        self._rest = np.maximum(0.0, self._rest - _FURTHER * (left + x.sum(axis=(1, 2))) / slope)
        after = self._rows, self._columns, self._rest
        return max(float(np.abs(a - b).max()) for a, b in zip(before, after, strict=True))

    def _raised(self, given: Floats, held: Floats, seen: Floats, free: Floats) -> Floats:
        """Return Newton's step to where n-grams hold no more than their share, not below 0."""
        # The condition sum_j x_ij <= r_i = a_i + (l_i - u)/V. Raising l_i lowers each free x_ij
        # by as much, and raises r_i by 1/V of it.
        over = held - seen - (given - self._rest[:, None]) / self._seen.noise
        return np.asarray(np.maximum(0.0, given + _FURTHER * over / (free + 1 / self._seen.noise)))

    def _all(self, given: Floats, seen: Floats, real: Mask) -> Floats:
        """Return the sum of the shares of all n-grams of one place."""
        shares = seen + (given - self._rest[:, None]) / self._seen.noise
        return np.asarray(np.where(real, shares, 0.0).sum(axis=1))
