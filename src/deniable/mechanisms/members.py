"""Set-valued answers for whole populations: the share of people who hold each name.

Model: a set has at most `most` of k names. *Sampled*: a device fills its set up with "none" to
`most` places, draws one place uniformly and reports it through a mechanism over k + 1 answers.
With f_i the share of people who hold name i, the share of devices that draw it is f_i / most, so

    f_i = most * (the mechanism's frequency of i),
    Var(f_i) = most^2 Var(the mechanism's | the names drawn) + f_i (most - 1) / n,

the last term being the drawing itself: a holder draws the name with probability 1/most. *Per bit*:
each name has a bit, and the frequencies of the bits are the shares.

Shares of names add up to the mean number of names per person, not to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import (
    Candidate,
    Candidates,
    Codes,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.candidates import closed_labels, every_code
from deniable.mechanisms.chances import Chances
from deniable.mechanisms.coins import as_generator
from deniable.mechanisms.oue import OUE
from deniable.mechanisms.rappor import Rappor
from deniable.protocol import ABSENT, Sets


class Members(Mechanism):
    """A mechanism of single values, or of a bit per name, that reports on sets.

    Its rows are the names and, where there is one, the absent answer.

    Args:
        mechanism: of the field's parameters.
        domain: the names and the largest number of them.
        absent: whether there is an absent answer.

    Raises:
        InvalidParameter: if the mechanism's parameters do not fit the domain.
    """

    def __init__(self, mechanism: Mechanism, domain: Sets, absent: bool) -> None:
        mechanism.parameters.check_domain(domain, absent)
        self._mechanism, self._domain, self._absent = mechanism, domain, absent
        self._adopt(mechanism.parameters)

    def _identity(self) -> tuple[object, ...]:
        return (*super()._identity(), self._domain, self._absent)

    @property
    def per_bit(self) -> bool:
        """True where every name has its own bit; otherwise each report samples one member."""
        return self.parameters.per_member

    @property
    def _labels(self) -> list[Candidate]:
        names: list[Candidate] = [*self._domain.values]
        return [*names, ABSENT] if self._absent else names

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per set.

        Args:
            values: a row of `most` codes per person, as `members_matrix` makes them.
            rng: the only source of randomness.
            candidates: not used.
        """
        rng = as_generator(rng)
        members = self._checked(values)
        # A bit per name exists in these two alone.
        if self.per_bit and isinstance(self._mechanism, OUE | Rappor):
            return self._mechanism.simulate_members(self._bits(members), rng)
        drawn = rng.integers(0, self._domain.most, size=len(members))
        codes = members[np.arange(len(members)), drawn]
        return self._mechanism.simulate(codes, rng, self._asked() if self.hashed else None)

    def _checked(self, values: object) -> Codes:
        members = np.asarray(values, dtype=np.int64)
        last = len(self._domain.values) + self._absent
        shape = (len(members), self._domain.most)
        if members.shape != shape or np.any((members < 0) | (members > last)):
            raise InvalidParameter(
                f"Sets must be rows of {self._domain.most} codes from 0 to {last}.",
                "Make them with members_matrix.",
            )
        return members

    def _bits(self, members: Codes) -> Codes:
        """Return the bits that sets set: none for "none of them", the last one for absent."""
        none = len(self._domain.values)
        return np.where(members == none, -1, np.minimum(members, none))

    @property
    def hashed(self) -> bool:
        """As the mechanism; the names are known here, so that no candidates are needed."""
        return self._mechanism.hashed

    def _asked(self) -> list[Candidate]:
        """Return the candidates of the mechanism: names, none of them, absent."""
        size = len(self._domain.values) + 1
        if self.hashed:
            return every_code(size, self._absent)
        labels: list[Candidate] = [*self._domain.labels]
        return [*labels, ABSENT] if self._absent else labels

    def zero(self) -> Counts:
        """Return the mechanism's counts of no reports."""
        return self._mechanism.zero()

    def accumulate(self, reports: Records) -> Counts:
        """Return the mechanism's counts."""
        return self._mechanism.accumulate(reports)

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased share of people who hold each name, and of the absent ones.

        Guarantees: unbiased; standard errors given the people's sets.

        Edge cases: sampling says nothing about which names go together, so that the covariance is
        None. Otherwise as the mechanism's.

        Args:
            counts: of this mechanism.
            candidates: labels, one per row; the names by default.
        """
        labels = closed_labels(candidates, [str(label) for label in self._row_labels()])
        if self.per_bit:
            found = self._mechanism.estimate(counts, self._labels)
            return replace(found, candidates=labels)
        found = self._mechanism.estimate(counts, self._asked())
        most, n = self._domain.most, found.n
        rows = np.delete(np.arange(len(found.frequency)), len(self._domain.values))
        frequency, variance = found.frequency[rows], found.variance[rows]
        names = slice(0, len(self._domain.values))
        frequency[names] *= most
        variance[names] *= most**2
        if n:
            # Each of n f holders draws the name with probability 1/most: a binomial whose variance
            # n f (1/most)(1 - 1/most), times (most/n)^2, is f (most - 1)/n.
            variance[names] += frequency[names] * (most - 1) / n
        chances = None if found.chances is None else self._chances(found.chances.at(rows))
        return Estimate(labels, frequency, np.sqrt(variance), None, n, found.notes, chances)

    def _chances(self, drawn: Chances) -> Chances:
        """Return the chances of the names, which are drawn, and of the absent answer."""
        share = np.where(np.arange(drawn.gap.size) < len(self._domain.values), self._domain.most, 1)
        # r = q + (f / most)(p - q); what hash functions add to f is most times as large.
        return Chances(drawn.chance, drawn.gap / share, drawn.shared * share**2)

    def _row_labels(self) -> tuple[str, ...]:
        return closed_labels(self._labels, [""] * len(self._labels))

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """A name is no whole answer, so that it has no likelihood: see `set_likelihood`.

        Raises:
            InvalidParameter: always.
        """
        raise InvalidParameter(
            "A report's probability follows from a whole set, not from one of its names.",
            "Use set_likelihood with rows of members.",
        )

    def set_likelihood(self, reports: Records, sets: Codes) -> Floats:
        """Return P(report | set), a row per report, a column per row of `sets`.

        Cost: the mechanism's likelihood, and a sum of `most` of its columns per set.
        """
        members = self._checked(sets)
        # A bit per name exists in these two alone.
        if self.per_bit and isinstance(self._mechanism, OUE | Rappor):
            return self._mechanism.members_likelihood(reports, self._bits(members))
        single = self._mechanism.likelihood(reports, self._asked())
        # The reported place is uniform: a mixture of the members' likelihoods with equal weights.
        return np.asarray(single[:, members].mean(axis=2))

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the closed-form variance of the estimated share of a name.

        Guarantees: exact, given the people's sets, where the mechanism's is; a sample of people
        adds f (1 - f) / n.
        """
        if self.per_bit:
            return self._mechanism.variance(n, frequency)
        most, f = self._domain.most, np.asarray(frequency, dtype=np.float64)
        # A share f / most of the devices draws the name; the estimate is multiplied by most.
        noise = most**2 * self._mechanism.variance(n, f / most)
        return np.asarray(noise + f * (most - 1) / n)


def members_matrix(domain: Sets, values: Sequence[object]) -> Codes:
    """Return sets as rows of `most` codes: the members, then "none"; ABSENT all the way.

    Raises:
        InvalidAnswer: if a value is no answer of the domain; without the value.
    """
    none = len(domain.values)
    rows = np.full((len(values), domain.most), none, dtype=np.int64)
    for row, value in zip(rows, values, strict=True):
        if value is ABSENT:
            row[:] = none + 1
        else:
            members = domain.answer(value).members
            row[: len(members)] = members
    return rows
