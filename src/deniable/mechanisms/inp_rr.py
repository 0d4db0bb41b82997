"""InpRR for whole populations; the model stands in protocol/profile_unary.py.

Bits are independent given the people's values, so that a table's cell, the sum of its cells'
estimates, has the sum of their variances.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from deniable.mechanisms import bitmaps, unary
from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.cells import no_counts, one_row
from deniable.mechanisms.closed_form import Pure, checked
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import ProfileMechanism, Reader, Reading, summed, unknown
from deniable.protocol.inp_rr import InpRRParameters

_AT_ONCE = 2**17


class InpRR(ProfileMechanism):
    """One bit for each cell of the whole profile."""

    parameters_type = InpRRParameters
    adds_bits = True
    parameters: InpRRParameters

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write a bit for each cell: O(2^D) bit operations per profile, 64 at a time."""
        # Imported here because Numba takes most of a second to load and few commands simulate.
        from deniable.kernels.simulate_bits import simulate_basic

        noise = (self.parameters.zero, self.parameters.one)
        sent = simulate_basic(self.packed(codes), self.parameters.cells, noise, rng)
        reports["bits"] = sent["bits"]

    @property
    def _at_once(self) -> int:
        return bits_at_once(self.parameters.cells)

    def zero(self) -> Counts:
        """Return the counts of no reports: one row, a column per bit."""
        return no_counts(1, self.parameters.cells)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each bit was reported.

        Cost: linear in the bytes.

        Raises:
            InvalidReport: if a padding bit is set.
        """
        records = self.records(reports)
        table = bitmaps.count_bits(records["bits"], self.parameters.cells)
        return one_row(records.size, table)

    def reader(self, counts: Counts) -> Reader:
        """Return tables as sums of the cells' estimates.

        Cost: O(2^D) per table.
        """
        n, bits = counts.n, self.parameters.bits

        def read(attributes: Subset) -> Reading:
            observed = summed(counts.table[0], bits, attributes)
            if n == 0:
                return unknown(observed.size)
            return cell_sums(self.pure, observed / n, self.parameters.cells // observed.size, n)

        return read

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        packed, cells = self.records(reports)["bits"], self.parameters.cells
        bitmaps.check_padding(packed, cells)
        ones = bitmaps.unpacked(packed, cells).astype(np.float64)
        held = np.eye(cells)[self.packed(self.every_profile())]
        result = unary.log_likelihood(self.pure, ones, held)
        return result if log else np.exp(result)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute: 2^(D-1) cells.

        n Var = 2^(D-1) q (1 - q)/(p - q)^2 + f (1 - p - q)/(p - q), p = one, q = zero.

        Guarantees: exact, given the people's values.
        """
        return summed_variance(self.pure, self.parameters.cells // 2, n, frequency)


def bits_at_once(bits: int) -> int:
    """Return the number of reports that are simulated at a time: at most 16 MB of them."""
    return max(1, min(_AT_ONCE, 2**27 // bits))


def cell_sums(pure: Pure, share: Floats, merged: int, n: int) -> Reading:
    """Return tables whose cells are sums of `merged` uncorrelated estimates of a pure oracle.

    Args:
        pure: the two probabilities.
        share: the sums of the shares of reports that support each of the merged cells.
        merged: the number of cells in each sum.
        n: the number of reports.
    """
    found = (share - merged * pure.q) / pure.gap
    # `Pure.variance_observed`, p q + r (1 - p - q), added up over the merged cells.
    noise = merged * pure.p * pure.q + share * (1 - pure.p - pure.q)
    # The people are a multinomial sample: (D - f f')/n more than given their values.
    sampling = (np.diag(found) - np.outer(found, found)) / n
    return found, np.diag(noise / (n * pure.gap**2)) + sampling


def summed_variance(pure: Pure, merged: int, n: int, frequency: float | Floats) -> Floats:
    """Return the variance of a sum of `merged` estimated cells whose total share is f."""
    n, f = checked(n, frequency)
    # Each cell has the variance of a pure oracle (docs/mathematics.md, section 2); the part that
    # is proportional to the cell's share adds up to that of f.
    rare = merged * pure.q * (1 - pure.q) / pure.gap**2
    return np.asarray((rare + f * (1 - pure.p - pure.q) / pure.gap) / n)
