"""The design of candidates: the cells that each one sets, a sparse matrix of zeros and ones.

Model: cell number cohort * k + bit. A candidate's column has a 1 in each cell that it sets, so that
with f_v the share of people who hold candidate v, the expected observation of a cell is the sum of
f_v over the candidates that set it. Everything in this folder that decodes strings sees the
mechanism only through such lists: Bloom filters and hashed symbols alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Candidate, Floats
from deniable.mechanisms.candidates import open_keys
from deniable.mechanisms.hashing import bloom_bits, fingerprints, mix
from deniable.protocol.hashing import GOLDEN

Cells = NDArray[np.int32]
Places = NDArray[np.intp]
"""Places in a list of candidates."""
Sparse = Any
"""A scipy.sparse matrix in row form."""

_LARGEST = 2**31 - 1
"""Cells are numbered by 32-bit integers."""
BLOCK_ENTRIES = 2**21
"""Cells that are worked on at once: blocks of a few tens of megabytes."""


@dataclass(frozen=True)
class Shape:
    """The shape of hashing: a string sets `hashes` of `bits` cells in every cohort, uniformly.

    Attributes:
        cohorts: m.
        bits: k, the bits of a Bloom filter, or the symbols of a hashed alphabet.
        hashes: h.
    """

    cohorts: int
    bits: int
    hashes: int

    def __post_init__(self) -> None:
        for name in ("cohorts", "bits", "hashes"):
            _validate.integer(name, "Shape", getattr(self, name), 1, _LARGEST)
        if self.cells >= _LARGEST:
            raise InvalidParameter(
                f"Cohorts times bits must be below {_LARGEST:,}. Got {self.cells:,}: use fewer."
            )

    @property
    def cells(self) -> int:
        """The number of cells, k m."""
        return self.cohorts * self.bits

    @property
    def distinct(self) -> float:
        """The mean number of distinct bits that a string sets: k (1 - (1 - 1/k)^h)."""
        return float(self.bits * (1 - (1 - 1 / self.bits) ** self.hashes))

    def random(self, count: int, rng: np.random.Generator) -> Design:
        """Return the columns of `count` strings that nobody holds: bits drawn as hashing would."""
        drawn = rng.integers(0, self.bits, (count, self.cohorts, self.hashes), dtype=np.int32)
        return self.design(drawn)

    def design(self, bits: NDArray[np.integer[Any]]) -> Design:
        """Return the design of candidates with these bits, of shape (candidates, m, h).

        Raises:
            InvalidParameter: if the shape is another, or a bit is not in 0..k-1.
        """
        if bits.shape[1:] != (self.cohorts, self.hashes):
            raise InvalidParameter(
                f"The bits of candidates must have the shape (candidates, {self.cohorts}, "
                f"{self.hashes}). Got {bits.shape}."
            )
        if bits.size and (int(bits.min()) < 0 or int(bits.max()) >= self.bits):
            raise InvalidParameter(f"The bits of candidates must be from 0 to {self.bits - 1}.")
        cells = bits.astype(np.int32)
        repeated = _repeated(cells)
        cells += (np.arange(self.cohorts, dtype=np.int32) * self.bits)[None, :, None]
        cells[repeated] = self.cells
        return Design(cells.reshape(len(bits), self.cohorts * self.hashes), self.cells)


def _repeated(bits: Cells) -> NDArray[np.bool_]:
    """Tell which bits stand already among the earlier hash functions of the same cohort."""
    repeated = np.zeros(bits.shape, dtype=np.bool_)
    for later in range(1, bits.shape[2]):
        for earlier in range(later):
            repeated[:, :, later] |= bits[:, :, later] == bits[:, :, earlier]
    return repeated


@dataclass(frozen=True)
class Design:
    """The columns of candidates.

    Attributes:
        cells: a row per candidate, the cells that it sets; `rows` stands for no cell.
        rows: the number of cells.
    """

    cells: Cells
    rows: int

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, places: Places) -> Design:
        """Return the columns at these places."""
        return Design(self.cells[places], self.rows)

    def blocks(self) -> Iterator[tuple[slice, Design]]:
        """Yield the columns in blocks that fit the processor's caches, with their places."""
        step = max(1, BLOCK_ENTRIES // max(1, self.cells.shape[1]))
        for start in range(0, len(self), step):
            where = slice(start, min(start + step, len(self)))
            yield where, Design(self.cells[where], self.rows)

    def sums(self, *values: Floats) -> tuple[Floats, ...]:
        """Return for each vector of values over the cells its sum over every candidate's cells.

        Cost: one look-up per cell of every candidate; a few megabytes beside the result.
        """
        padded = [np.append(value, 0.0) for value in values]
        results = tuple(np.empty(len(self)) for _ in values)
        for where, block in self.blocks():
            for value, result in zip(padded, results, strict=True):
                result[where] = value[block.cells].sum(axis=1)
        return results

    def matrix(self) -> Sparse:
        """Return the columns as a sparse matrix with a row per candidate (the design's transpose).

        Cost: 12 bytes per cell of every candidate.
        """
        held = self.cells < self.rows
        starts = np.concatenate(([0], np.cumsum(held.sum(axis=1))))
        columns = self.cells[held]
        return sparse.csr_matrix(
            (np.ones(columns.size), columns, starts), shape=(len(self), self.rows)
        )

    def identical(self, live: NDArray[np.bool_]) -> list[Places]:
        """Return the groups of candidates whose cells are the same wherever there are reports.

        Cost: a 64-bit key per candidate and one sort; only candidates whose keys agree are
        compared cell by cell.

        Args:
            live: of each cell, whether there are reports.
        """
        keys = mix(np.arange(1, self.rows + 2, dtype=np.uint64) * np.uint64(GOLDEN))
        keys[~np.append(live, False)] = 0
        summed = np.empty(len(self), dtype=np.uint64)
        for where, block in self.blocks():
            summed[where] = keys[block.cells].sum(axis=1, dtype=np.uint64)
        order = np.argsort(summed, kind="stable")
        edges = np.flatnonzero(np.diff(summed[order], prepend=summed[order][:1] + np.uint64(1)))
        ends = np.append(edges[1:], len(self))
        long = np.flatnonzero(ends - edges > 1)
        suspects = [order[edges[run] : ends[run]] for run in long]
        return [group for run in suspects for group in self._same(run, live)]

    def _same(self, places: Places, live: NDArray[np.bool_]) -> list[Places]:
        held: dict[bytes, list[int]] = {}
        alive = np.append(live, False)
        for place in places:
            cells = self.cells[place]
            held.setdefault(np.sort(cells[alive[cells]]).tobytes(), []).append(int(place))
        return [np.array(group) for group in held.values() if len(group) > 1]


def design_of(shape: Shape, candidates: Sequence[Candidate]) -> Design:
    """Return the design of candidate strings under this project's hash family.

    Cost: one SHA-256 per candidate, then k-independent mixing in blocks; 4 bytes per cell, so
    256 MB for a million candidates with 32 cohorts and 2 hash functions.

    Raises:
        InvalidParameter: if there are none, or two are the same string (NFC).
    """
    words = fingerprints(open_keys(candidates))
    cohorts = np.arange(shape.cohorts)
    width = shape.cohorts * shape.hashes
    cells = np.empty((len(words), width), dtype=np.int32)
    step = max(1, BLOCK_ENTRIES // width)
    for start in range(0, len(words), step):
        part = words[start : start + step]
        bits = bloom_bits(part[:, None, :], cohorts[None, :], shape.hashes, shape.bits)
        cells[start : start + step] = shape.design(bits).cells
    return Design(cells, shape.cells)
