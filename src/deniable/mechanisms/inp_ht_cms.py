"""InpHTCMS for whole populations; the model stands in protocol/inp_ht_cms.py.

Many possible profiles share a bucket, so that their estimates are not independent. A table's cell
is the sum over its profiles of the support of their buckets: with W_b of them in bucket b of a row,
a report of coefficient a with sign s adds (m + s W^_a)/2 to it, W^ the Walsh-Hadamard transform of
W and m the number of profiles. So the covariance is that of known numbers over the reports.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.closed_form import checked
from deniable.mechanisms.coins import coins
from deniable.mechanisms.hashing import Words
from deniable.mechanisms.hcms import HCMS
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import ProfileMechanism, Reader, Reading, unknown
from deniable.mechanisms.profile_symbols import count_symbols
from deniable.mechanisms.profile_words import profile_numbers, profile_words
from deniable.protocol import HCMSParameters, Parameters
from deniable.protocol.inp_ht_cms import InpHTCMSParameters


class InpHTCMS(ProfileMechanism):
    """Hadamard count-mean sketch of the whole profile; counts as HCMS's."""

    parameters_type = InpHTCMSParameters
    parameters: InpHTCMSParameters
    shares_hashes: ClassVar[bool] = True
    sketch: HCMS
    """The same without attributes: it knows the buckets."""

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        shape = self.parameters
        self.sketch = HCMS.from_parameters(HCMSParameters(0, shape.rows, shape.width, shape.keep))

    @property
    def inner(self) -> tuple[int, ...]:
        """The answers themselves: profiles that cannot occur are not hashed."""
        return self.answers

    @cached_property
    def _words(self) -> Words:
        return profile_words(self.answers)

    @cached_property
    def _buckets(self) -> NDArray[np.int64]:
        """The bucket of every possible profile in every row."""
        rows = np.arange(self.parameters.rows, dtype=np.uint64)[:, None]
        return self.sketch.buckets(self._words[None, :, :], rows).astype(np.int64)

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write the sign of a drawn coefficient of a drawn row; a SHA-256 per possible profile."""
        shape, numbers = self.parameters, profile_numbers(self.answers, codes)
        row = rng.integers(0, shape.rows, size=numbers.size)
        drawn = rng.integers(0, shape.width, size=numbers.size)
        odd = np.bitwise_count(drawn & self._buckets[row, numbers]) & 1
        sign = odd ^ ~coins(rng, shape.keep, numbers.size)
        reports["symbol"] = 2 * (row * shape.width + drawn) + sign

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per hash function, as HCMS's."""
        return self.sketch.zero()

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each coefficient of each row was reported with either sign.

        Cost: linear; a few megabytes and two integers per coefficient.

        Raises:
            InvalidReport: if a symbol is out of range.
        """
        rows, width = self.parameters.rows, self.parameters.width
        symbols = self.records(reports)["symbol"]
        counted = count_symbols(symbols, 2 * rows * width).reshape(rows, width, 2)
        table = np.concatenate([counted[:, :, 0], counted[:, :, 1]], axis=1)
        return Counts(table.sum(axis=1), table)

    def reader(self, counts: Counts) -> Reader:
        """Return tables as sums over profiles of their buckets' support.

        The variance includes collisions with the profiles of other cells: sum f^2 / (g w) for each
        profile of a cell. This part does not fall with n.

        Cost: O(profiles g) per table, and a transform of g w numbers per cell.
        """
        width, n = self.parameters.width, counts.n
        plus, minus = counts.table[:, :width], counts.table[:, width:]
        signed = (plus - minus).astype(np.float64).reshape(-1)
        seen = (plus + minus).astype(np.float64).reshape(-1)
        shared = self._collisions(counts) if n else 0.0

        def read(attributes: Subset) -> Reading:
            weights = self._weights(attributes)
            merged, cells = int(np.prod(self.answers)) // len(weights), len(weights)
            if n == 0:
                return unknown(cells)
            pure = self.sketch.pure
            # A report supports (m + s W^_a)/2 of a cell's m profiles, of which m q are expected by
            # chance. Only s W^/2 varies: its covariance is (E[W^ W^'] - mean mean')/4.
            mean = weights @ signed / n
            products = (weights * seen) @ weights.T / n - np.outer(mean, mean)
            # A pure oracle's frequency, summed over the m merged profiles.
            found = (merged / 2 + mean / 2 - merged * pure.q) / pure.gap
            covariance = products / (4 * n * pure.gap**2)
            return found, covariance + np.diag(np.full(cells, merged * shared))

        return read

    def _collisions(self, counts: Counts) -> float:
        """Return the variance that sharing buckets adds: sum over rows of W^2 sum f^2 / (w - 1)."""
        squares = self.sketch.rows(counts, self._words[:0]).squares
        return max(0.0, squares) / (self.parameters.width - 1)

    def _weights(self, attributes: Subset) -> Floats:
        """Return W^ of each cell of a table, a row each, over all coefficients of all rows."""
        # Imported here: Numba takes a second, and only estimates need it.
        from deniable.kernels.walsh import transform

        rows, width = self.parameters.rows, self.parameters.width
        answers = [self.answers[i] for i in attributes]
        cell = np.indices(self.answers).reshape(len(self.answers), -1)[list(attributes)]
        cell_numbers = np.ravel_multi_index(tuple(cell), tuple(answers))
        held = np.zeros((int(np.prod(answers)), rows, width))
        for row in range(rows):
            places = cell_numbers * width + self._buckets[row]
            held[:, row, :] = np.bincount(places, minlength=len(held) * width).reshape(-1, width)
        return transform(held).reshape(len(held), -1)

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        shape, symbols = self.parameters, self.records(reports)["symbol"].astype(np.int64)
        self.every_profile()
        row, drawn = np.divmod(symbols // 2, shape.width)
        odd = np.bitwise_count(drawn[:, None] & self._buckets[row]) & 1
        keep = self.sketch.pure.p
        same = odd == (symbols % 2)[:, None]
        # Row and coefficient are uniform; the sign is the profile's own with probability keep.
        result: Floats = np.where(same, keep, 1 - keep) / (shape.rows * shape.width)
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of the first attribute's first answer.

        n Var = (mean of W^2 - ((2 q - 1) m + 2 gap f)^2)/(4 gap^2), the mean of W^2 over all
        coefficients of the sketch, less f (1 - f).

        Guarantees: given the hash functions, whose collisions add what does not fall with n.
        """
        n, f = checked(n, frequency)
        weights, pure = self._weights((0,))[0], self.sketch.pure
        merged = int(np.prod(self.answers[1:]))
        # From f = (m/2 + mean/2 - m q)/gap, solved for the mean of s W^.
        mean = (2 * pure.q - 1) * merged + 2 * pure.gap * f
        noise = (float(np.mean(weights**2)) - mean**2) / (4 * pure.gap**2)
        return np.asarray((noise - f * (1 - f)) / n)
