"""InpOLH for whole populations; the model stands in protocol/inp_olh.py.

Supports of two profiles are uncorrelated given the people's values, over the seeds: a table's cell,
the sum of its profiles' estimates, has the sum of their variances.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.cells import moved
from deniable.mechanisms.hashing import Words
from deniable.mechanisms.inp_rr import cell_sums, summed_variance
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.olh import OLH
from deniable.mechanisms.profile_base import ProfileMechanism, Reader, Reading, unknown
from deniable.mechanisms.profile_words import profile_numbers, profile_words
from deniable.protocol import OLHParameters, Parameters
from deniable.protocol.inp_olh import InpOLHParameters


class InpOLH(ProfileMechanism):
    """Optimised local hashing of the whole profile."""

    parameters_type = InpOLHParameters
    parameters: InpOLHParameters
    shares_hashes: ClassVar[bool] = True
    oracle: OLH
    """The same without attributes: it counts reports and finds the support of profiles."""

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        shape = self.parameters
        self.oracle = OLH.from_parameters(OLHParameters(shape.symbols, shape.seeds, shape.keep))

    @property
    def inner(self) -> tuple[int, ...]:
        """The answers themselves: profiles that cannot occur are not hashed."""
        return self.answers

    @cached_property
    def _words(self) -> Words:
        return profile_words(self.answers)

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write a seed and the hashed profile after k-RR; a SHA-256 per possible profile."""
        shape, numbers = self.parameters, profile_numbers(self.answers, codes)
        seeds = rng.integers(0, shape.seeds, size=numbers.size, dtype=np.int64)
        own = self.oracle.symbols_of(self._words[numbers], seeds)
        reports["seed"] = seeds
        reports["symbol"] = moved(own, shape.symbols, shape.keep, rng)

    def zero(self) -> Counts:
        """Return the counts of no reports: as OLH's."""
        return self.oracle.zero()

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each pair of seed and symbol was reported, as OLH does.

        Raises:
            InvalidReport: if a seed is not one of the pool, or a symbol not below g.
        """
        return self.oracle.counted(self.records(reports))

    def reader(self, counts: Counts) -> Reader:
        """Return tables as sums of the profiles' estimates.

        A pool's hash functions are the same for everybody, which adds sum f^2 / ((g - 1) K) to the
        variance of every profile (mechanisms/olh.py); it is included.

        Cost: a hash per seed (or report) and possible profile, once; then O(profiles) per table.
        """
        n, pure = counts.n, self.oracle.pure
        support = self.oracle.support(counts, self._words) if n else np.zeros(self._cells)
        share = support.reshape(self.answers) / max(n, 1)
        found = pure.frequency(share)
        # E[f_hat^2] = f^2 + Var: the difference estimates the sum of f^2 without bias.
        squares = float(np.sum(found**2 - pure.variance_observed(share, max(n, 1))))
        places = (self.parameters.symbols - 1) * self.parameters.seeds
        shared = max(0.0, squares) / places

        def read(attributes: Subset) -> Reading:
            others = tuple(i for i in range(len(self.answers)) if i not in attributes)
            table = share.sum(axis=others).reshape(-1)
            if n == 0:
                return unknown(table.size)
            merged = self._cells // table.size
            cells, covariance = cell_sums(pure, table, merged, n)
            return cells, covariance + np.diag(np.full(table.size, merged * shared))

        return read

    @property
    def _cells(self) -> int:
        return int(np.prod(self.answers))

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        records, shape = self.records(reports), self.parameters
        self.every_profile()
        seeds = records["seed"].astype(np.int64)[:, None]
        own = self.oracle.symbols_of(self._words[None, :, :], seeds)
        move = (1 - self.oracle.pure.p) / (shape.symbols - 1)
        same = own == records["symbol"][:, None]
        result: Floats = np.where(same, self.oracle.pure.p, move) / shape.seeds
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute.

        n Var = c/2 q (1 - q)/(p - q)^2 + f (1 - p - q)/(p - q), c the number of possible profiles.

        Guarantees: exact, given the people's values and over the seeds; a pool adds a little.
        """
        return summed_variance(self.oracle.pure, self._cells // 2, n, frequency)
