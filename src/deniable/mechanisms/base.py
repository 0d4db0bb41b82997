"""The mechanism contract: what every mechanism does for a whole population.

    values -> simulate -> reports -> accumulate -> counts -> estimate -> estimate

Anything that works on *any* mechanism (projection, intervals, mixtures, audits) lives elsewhere
and uses only what stands on this page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deniable.protocol import Domain, Parameters
from deniable.protocol.epsilon import as_float

Reports = NDArray[Any]
"""A structured array whose dtype is the mechanism's wire record."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Values = Sequence[str] | Codes
"""True values for simulation: strings, or codes into a list that is given beside them."""


@dataclass(frozen=True)
class Counts:
    """Mergeable sufficient statistics of reports.

    Attributes:
        reports: the number of reports, per cohort (length 1 where there are no cohorts).
        table: counts of integers; rows are cohorts, columns bits or symbols.

    Guarantees: `merge` is associative and commutative, `mechanism.zero()` is its identity.
    """

    reports: NDArray[np.int64]
    table: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self.reports.sum())

    def merge(self, other: Self) -> Counts:
        """Return the counts of both sets of reports together."""
        if self.table.shape != other.table.shape:
            raise ValueError(f"Counts of shapes {self.table.shape} and {other.table.shape} differ.")
        return Counts(self.reports + other.reports, self.table + other.table)


@dataclass(frozen=True)
class Estimate:
    """Unbiased frequencies with their error, before any projection.

    Attributes:
        candidates: what each entry is about: labels of a closed domain, or candidate strings.
        frequency: unbiased share of the population, may be below 0 or above 1.
        std_error: one standard deviation of `frequency`; NaN where nothing can be learned.
        covariance: of `frequency`; None where it is too large to keep.
        n: the number of reports.
        notes: what a reader must know (not identifiable, cohorts without reports, ...).
    """

    candidates: tuple[str, ...]
    frequency: Floats
    std_error: Floats
    covariance: Floats | None
    n: int
    notes: tuple[str, ...] = ()

    @property
    def variance(self) -> Floats:
        """The squares of the standard errors."""
        return self.std_error**2


class Mechanism(ABC):
    """A mechanism for whole populations, over the same integers that clients use."""

    parameters_type: ClassVar[type[Parameters]]

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.dtype: np.dtype[Any] = np.dtype(parameters.layout.descr)

    @property
    def epsilon(self) -> float:
        """The epsilon of one report, from the integers, rounded up."""
        return as_float(self.parameters.epsilon_once)

    @property
    def epsilon_forever(self) -> float | None:
        """The epsilon of all reports of one value; None where nothing is permanent."""
        forever = self.parameters.epsilon_forever
        return None if forever is None else as_float(forever)

    @abstractmethod
    def simulate(
        self,
        values: Values,
        rng: np.random.Generator,
        candidates: Sequence[str] | None = None,
    ) -> Reports:
        """Return one report per value, equal in distribution to what clients send.

        Args:
            values: strings (open alphabets), or codes. With `candidates`, codes index that list;
                without, they index the closed domain 0..k-1.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.
        """

    @abstractmethod
    def zero(self) -> Counts:
        """Return the counts of no reports."""

    @abstractmethod
    def accumulate(self, reports: Reports) -> Counts:
        """Return the counts of reports (a structured array, or any buffer viewed as one)."""

    @abstractmethod
    def estimate(self, counts: Counts, candidates: Sequence[str] | None = None) -> Estimate:
        """Return unbiased frequencies of the candidates (closed domains: of every answer)."""

    @abstractmethod
    def likelihood(self, reports: Reports, candidates: Sequence[str] | None = None) -> Floats:
        """Return P(report | candidate), a row per report, a column per candidate."""

    @abstractmethod
    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the closed-form variance of an estimated frequency, given the people's values."""


def candidate_keys(domain: Domain, candidates: Sequence[str]) -> list[bytes]:
    """Return the canonical bytes of candidates in a domain of strings."""
    return [domain.answer(candidate).key for candidate in candidates]
