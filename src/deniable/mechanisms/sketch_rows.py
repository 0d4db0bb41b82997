"""The rows of a count-mean sketch, and what they say about the answers that are asked about.

Model: report i of row r is a coefficient a and a sign s; z_b = s (-1)^<a, b> for every bucket b is
+1 where it supports b. The coefficient is uniform, so that z has E[z z'] = I, and a holder of v has
E[z_b] = gap where b is v's bucket, else 0, gap = 2 keep - 1. With N_r reports in row r, A_r the
sum of their z, W_r = N_r / n, and S_uv the sum of W_r over rows in which u and v share a bucket,

    y_u = sum_r A_r[bucket of u] / (n gap),        E[y] = S f + (1 - sum f)/w,

where people whose answers are not listed are spread evenly over the w buckets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from deniable.mechanisms.base import Floats

Buckets = Callable[[int], NDArray[np.integer]]
"""The buckets of all answers in row number i of those with reports."""

_BLOCK = 2**22
"""Buckets of answers in rows that are multiplied at once."""


@dataclass(frozen=True)
class SketchRows:
    """The rows with reports.

    Attributes:
        agreed: A, a row per row of the sketch, a column per bucket.
        reports: N of each row.
        buckets: of the answers.
        answers: the number of answers that are asked about, M.
        gap: 2 keep - 1.
    """

    agreed: NDArray[np.int64]
    reports: NDArray[np.int64]
    buckets: Buckets
    answers: int
    gap: float

    @property
    def width(self) -> int:
        """w."""
        return int(self.agreed.shape[1])

    @property
    def n(self) -> int:
        """The number of all reports."""
        return int(self.reports.sum())

    @property
    def weights(self) -> Floats:
        """W, the share of the reports that each row has."""
        return np.asarray(self.reports / self.n)

    @property
    def repeated(self) -> float:
        """The sum of W^2, 1/g where all g rows have as many reports."""
        return float((self.weights**2).sum())

    @property
    def load(self) -> float:
        """Answers per bucket of all rows: M / (g w), with 1 / sum W^2 for g."""
        return self.answers * self.repeated / self.width

    @cached_property
    def observed(self) -> Floats:
        """y, the agreement of every answer's buckets."""
        total = np.zeros(self.answers)
        for row, sums in enumerate(self.agreed):
            total += sums[self.buckets(row)]
        return total / (self.n * self.gap)

    def shared(self, places: NDArray[np.intp]) -> Any:
        """Return the columns of S about some answers: the weight of rows that share a bucket.

        Cost: a sparse matrix; M/w numbers per row and column, at most M.
        """
        found, step = 0, max(1, _BLOCK // max(1, self.answers))
        for start in range(0, len(self.agreed), step):
            rows = np.arange(start, min(start + step, len(self.agreed)))
            roots = np.repeat(np.sqrt(self.weights[rows]), self.answers)
            cells = np.concatenate([self.buckets(int(row)) for row in rows]).astype(np.int64)
            cells += np.repeat(np.arange(rows.size) * self.width, self.answers)
            columns = np.tile(np.arange(self.answers), rows.size)
            shape = (self.answers, rows.size * self.width)
            design = sparse.csr_matrix((roots, (columns, cells)), shape=shape)
            found = found + design @ design[places].T
        return found

    def about(self, places: NDArray[np.intp]) -> SketchRows:
        """Return the same of some answers alone."""
        buckets = self.buckets
        return SketchRows(
            self.agreed, self.reports, lambda row: buckets(row)[places], places.size, self.gap
        )

    @cached_property
    def squares(self) -> float:
        """The unbiased sum over rows of W^2 sum f^2, f the shares of all answers, listed or not.

        A bucket of share s has A = N gap s on average, and the variances of all w of them add up to
        N (w - gap^2): so the squares less that, over N^2 gap^2, sum to s^2. Over hash functions
        E[sum s^2] = sum f^2 (1 - 1/w) + 1/w.
        """
        people = self.reports.astype(np.float64)
        even = (people * self.gap) ** 2 / self.width
        # Both known parts, the noise of the agreements and the even 1/w, are taken off.
        noise = people * (self.width - self.gap**2) + even
        found = np.square(self.agreed.astype(np.float64)).sum(axis=1) - noise
        return float(found.sum()) / (self.n * self.gap) ** 2 / (1 - 1 / self.width)
