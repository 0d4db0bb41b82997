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
