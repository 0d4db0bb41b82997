"""InpEM for whole populations; the model stands in protocol/inp_em.py.

Here is the plain unbiased solution: a report's code in the bits of some attributes passes a channel
that is a Kronecker product of coins, whose inverse is known. Maximum likelihood, which the paper
uses, is in marginals/inp_em.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.closed_form import sign_variance
from deniable.mechanisms.coins import coins
from deniable.mechanisms.moments import Subset, along_axes
from deniable.mechanisms.profile_base import ProfileMechanism, Reader, Reading, summed, unknown
from deniable.mechanisms.profile_symbols import count_symbols
from deniable.protocol import thresholds
from deniable.protocol.inp_em import InpEMParameters

MOST_COUNTED = 20
"""The most bits of reports that are counted in a table; longer reports are kept, 8 bytes each."""

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Kept(Counts):
    """The reports themselves, where they are too long to be counted; the table is empty.

    Attributes:
        codes: of every report, in rising order.
    """

    codes: Words

    def merge(self, other: Self) -> Counts:
        """Return the reports of both."""
        both = np.sort(np.concatenate([self.codes, other.codes]), kind="stable")
        digest = self.same_digest(other)
        return Kept(self.reports + other.reports, self.table, both, digest=digest)


class InpEM(ProfileMechanism):
    """Every bit of the profile through a coin of its own."""

    parameters_type = InpEMParameters
    parameters: InpEMParameters

    @property
    def keep(self) -> float:
        """P(a bit is reported as it is)."""
        return float(thresholds.as_fraction(self.parameters.keep))

    @property
    def gap(self) -> float:
        """2 keep - 1, rounded once."""
        return float(2 * thresholds.as_fraction(self.parameters.keep) - 1)

    @property
    def _counted(self) -> bool:
        return self.parameters.width <= MOST_COUNTED

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write every bit of each profile, kept or flipped."""
        own = self._words(codes)
        for place in range(self.parameters.width):
            flipped = ~coins(rng, self.parameters.keep, own.size)
            own ^= flipped.astype(np.uint64) << np.uint64(place)
        reports["bits"] = _bytes_of(own)[:, : self.dtype["bits"].itemsize]

    def _words(self, codes: Codes) -> Words:
        """Return profiles in binary, in 64 bits without a sign."""
        own, place = np.zeros(len(codes), dtype=np.uint64), 0
        for column, width in enumerate(self.parameters.bits):
            own |= codes[:, column].astype(np.uint64) << np.uint64(place)
            place += width
        return own

    def zero(self) -> Counts:
        """Return the counts of no reports: a column per code of D bits, or no codes."""
        none = np.zeros(1, dtype=np.int64)
        if self._counted:
            return Counts(none, np.zeros((1, 1 << self.parameters.width), dtype=np.int64))
        return Kept(none, np.zeros((1, 0), dtype=np.int64), np.zeros(0, dtype=np.uint64))

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each code was reported; above 20 bits the sorted codes.

        Cost: linear (counted), or n log n.

        Raises:
            InvalidReport: if a padding bit is set.
        """
        packed, width = self.records(reports)["bits"], self.parameters.width
        number = np.array([len(packed)], dtype=np.int64)
        codes = _codes_of(packed)
        if codes.size and width < 64 and int(codes.max()) >> width:
            raise InvalidReport("record", f"The bits from {width} on must be zero.")
        if not self._counted:
            return Kept(number, np.zeros((1, 0), dtype=np.int64), np.sort(codes).astype(np.uint64))
        return Counts(number, count_symbols(codes, 1 << width)[None, :])

    def observed(self, counts: Counts, attributes: Subset) -> Floats:
        """Return how often each code of some attributes was reported, flat in C order."""
        bits = self.parameters.bits
        if not isinstance(counts, Kept):
            return summed(counts.table[0], bits, attributes)
        places = np.zeros(counts.codes.size, dtype=np.int64)
        for i in attributes:
            shift = np.uint64(sum(bits[:i]))
            code = (counts.codes >> shift) & np.uint64((1 << bits[i]) - 1)
            places = (places << bits[i]) | code.astype(np.int64)
        size = 1 << sum(bits[i] for i in attributes)
        return np.bincount(places, minlength=size).astype(np.float64)

    def channel(self, attributes: Subset) -> Floats:
        """Return P(code reported | code), codes of some attributes in C order."""
        keep = self.keep
        coin = np.array([[keep, 1 - keep], [1 - keep, keep]])
        result = np.ones((1, 1))
        for _ in range(sum(self.parameters.bits[i] for i in attributes)):
            result = np.kron(result, coin)
        return result

    def reader(self, counts: Counts) -> Reader:
        """Return tables through the inverse of the channel.

        Cost: O(2^D), or O(n) above 20 bits, and O(4^b) for b bits, per table.
        """
        gap, keep, n = self.gap, self.keep, counts.n
        # The inverse of the coin [[keep, 1 - keep], [1 - keep, keep]], of determinant 2 keep - 1.
        undo = np.array([[keep, keep - 1], [keep - 1, keep]]) / gap

        def read(attributes: Subset) -> Reading:
            observed = self.observed(counts, attributes)
            if n == 0:
                return unknown(observed.size)
            width = sum(self.parameters.bits[i] for i in attributes)
            share = observed / n
            # Reported codes are multinomial, with covariance (diag(r) - r r')/n. With U the
            # inverse channel the cells are U r, of covariance U (diag(r) - r r') U'/n.
            cells = along_axes(share.reshape((2,) * width), [undo] * width).reshape(-1)
            covariance = (np.diag(share) - np.outer(share, share)) / n
            turned = along_axes(covariance.reshape((2,) * 2 * width), [undo] * 2 * width)
            return cells, turned.reshape(covariance.shape)

        return read

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        codes = _codes_of(self.records(reports)["bits"])
        own = self._words(self.every_profile())
        flipped = np.bitwise_count(codes.astype(np.uint64)[:, None] ^ own).astype(np.float64)
        kept = self.parameters.width - flipped
        result: Floats = kept * np.log(self.keep) + flipped * np.log1p(-self.keep)
        return result if log else np.exp(result)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute.

        (1 - (gap theta)^2)/(4 n gap^2) - f (1 - f)/n, theta = 1 - 2 f, which does not depend on f.

        Guarantees: exact, given the people's values.
        """
        # Since theta^2 is 1 - 4 f (1 - f), this is (1/gap^2 - 1)/(4 n), whatever f is.
        return sign_variance(self.gap, 1.0, n, frequency)


def _codes_of(packed: NDArray[np.uint8]) -> NDArray[np.unsignedinteger[np.typing.NBitBase]]:
    """Return rows of at most 8 bytes as integers, the first byte lowest."""
    size = packed.shape[1]
    if size in (1, 2, 4, 8):
        return np.ascontiguousarray(packed).view(f"<u{size}").reshape(-1)
    wide = np.zeros((len(packed), 8), dtype=np.uint8)
    wide[:, :size] = packed
    return wide.view("<u8").reshape(-1)


def _bytes_of(codes: Words) -> NDArray[np.uint8]:
    return codes.astype("<u8").view(np.uint8).reshape(-1, 8)
