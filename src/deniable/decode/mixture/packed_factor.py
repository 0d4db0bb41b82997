"""A factor of a product that is kept as bytes, and read as floats a block of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats
from deniable.mechanisms.packed import PackedAnswers

if TYPE_CHECKING:
    from deniable.kernels.byte_products import Side


_BLOCK = 2**16


@dataclass(frozen=True)
class PackedFactor:
    """The likelihoods of a variable's answers, as an array of answers x rows that is not there.

    Guarantees: the numbers of `PackedAnswers.lines`, then those of `rest`.

    Cost: memory of a byte per few answers and row, in place of eight per answer; a look-up for
        every number that is read.

    Attributes:
        wide: the reports.
        rest: the likelihoods of one more answer, its last; None if there is none.
    """

    wide: PackedAnswers
    rest: Floats | None = None
    _cohorts: NDArray[np.uint16] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        own, rows = self.wide.cohorts, len(self.wide.packed)
        object.__setattr__(self, "_cohorts", np.zeros(rows, np.uint16) if own is None else own)

    @property
    def side(self) -> Side:
        """The field as `kernels/byte_products.py` takes it."""
        rest = np.empty(0) if self.rest is None else self.rest
        return self.wide.packed, self._cohorts, self.wide.values, self.wide.scale, rest

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of answers and of rows."""
        return self.wide.answers + (self.rest is not None), len(self.wide.packed)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, places: tuple[slice, slice]) -> Floats:
        # Imported here because Numba takes most of a second to load.
        from deniable.kernels.byte_lines import byte_lines

        answers, rows = places
        wide, rest = self.wide, self.rest
        cohorts = np.ascontiguousarray(self._cohorts[rows])
        packed = np.ascontiguousarray(wide.packed[rows])
        lines = byte_lines(packed, wide.values, wide.scale, cohorts, int(rest is not None))
        if rest is not None:
            lines[-1] = rest[rows]
        return np.asarray(lines[answers], np.float64)

    def mixed(self, x: Floats) -> Floats:
        """Return for each row the sum of its likelihoods, each times that of x."""
        from deniable.kernels.byte_sums import summed_bytes

        wide, listed = self.wide, self.wide.answers
        width, each = wide.packed.shape[1], wide.values.shape[1]
        padded = np.zeros((len(wide.scale), width * each))
        padded[:, :listed] = wide.scale * x[:listed]
        # A byte's value stands for the sum of x times its likelihoods.
        table = np.zeros((len(wide.scale), width, 256))
        table[:, :, : len(wide.values)] = padded.reshape(-1, width, each) @ wide.values.T
        found: Floats = np.asarray(summed_bytes(wide.packed, self._cohorts, table), np.float64)
        if self.rest is not None:
            for start in range(0, found.size, _BLOCK):  # a product of all rows would be as large
                some = slice(start, start + _BLOCK)
                found[some] += self.rest[some] * x[listed]
        return found

    def pulled(self, r: Floats) -> Floats:
        """Return for each answer the sum of its likelihoods, each times that of r."""
        from deniable.kernels.byte_sums import added_bytes

        wide = self.wide
        weights = np.ascontiguousarray(r)
        table = added_bytes(wide.packed, self._cohorts, weights, len(wide.scale))
        sums = (table[:, :, : len(wide.values)] @ wide.values).reshape(len(wide.scale), -1)
        found = (sums[:, : wide.answers] * wide.scale).sum(axis=0)
        return found if self.rest is None else np.append(found, weights @ self.rest)

    def curvature(self, r: Floats) -> Floats:
        """Return for each two answers the sum of the products of their likelihoods and r."""
        wide, found = self.wide, np.zeros((len(self), len(self)))
        for cohort, scale in enumerate(wide.scale):
            every = wide.cohorts is None
            own = slice(None) if every else np.flatnonzero(self._cohorts == cohort)
            rest = None if self.rest is None else self.rest[own]
            found += squares_of_bytes(wide.packed[own], wide.values, scale, r[own], rest)
        return found


def squares_of_bytes(
    packed: NDArray[np.uint8], values: Floats, scale: Floats, r: Floats, rest: Floats | None
) -> Floats:
    """Return the sum of r_i A_i A_i' over reports of one cohort, from their bytes.

    Args:
        packed: reports x bytes.
        values: what the values of a byte stand for, as in `PackedAnswers`.
        scale: of the listed answers.
        r: of the reports, at least 0.
        rest: the likelihoods of one more answer; None if there is none.
    """
    from deniable.kernels.byte_pairs import paired_bytes
    from deniable.kernels.byte_sums import added_bytes

    square = paired_bytes(packed, r, values, len(scale)) * np.outer(scale, scale)
    if rest is None:
        return np.asarray(square)
    table = added_bytes(packed, np.zeros(len(packed), np.uint16), r * rest, 1)[0]
    cross = (table[:, : len(values)] @ values).reshape(-1)[: len(scale)] * scale
    return np.block([[square, cross[:, None]], [cross[None, :], np.array([[r @ rest**2]])]])
