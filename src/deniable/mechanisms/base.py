"""The mechanism contract: the methods of every mechanism, for whole populations.

    values -> simulate -> reports -> accumulate -> counts -> estimate -> estimate

Anything that works on *any* mechanism (projection, intervals, mixtures, audits) lives elsewhere
and uses only what stands on this page.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable._validate import nearest
from deniable.authoring import resolve
from deniable.authoring.resolving import authoring_of
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms.packed import PackedAnswers
from deniable.protocol import Parameters
from deniable.protocol.canonical import Json, canonical
from deniable.protocol.domain import Absent, Categories, Domain
from deniable.protocol.epsilon import as_float

if TYPE_CHECKING:
    from deniable.mechanisms.chances import Chances

Reports = NDArray[Any]
"""A structured array whose dtype is the mechanism's wire record."""

Records = Reports | bytes | memoryview
"""Reports as such an array, or as the bytes of whole records, one after the other."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Code:
    """An answer of a closed domain by its number; hashed mechanisms take it as a candidate."""

    number: int

    def __str__(self) -> str:
        return str(self.number)


Candidate = str | Absent | Code
"""A string to test for, the label of an answer, an answer's code, or ABSENT."""

Candidates = Sequence[Candidate] | None
"""The answers that are asked about, in their order; None for every answer of a closed domain."""

Values = (
    Sequence[Candidate] | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_ | np.str_]
)
"""True values for simulation: strings, or codes into a list that is given beside them."""

LARGEST_COVARIANCE = 4_096
"""The most candidates whose covariance is kept; one more would take over 128 MiB."""


@dataclass(frozen=True)
class Counts:
    """Mergeable sufficient statistics of reports.

    Attributes:
        reports: the number of reports, per cohort (length 1 where there are no cohorts).
        table: counts of integers; rows are cohorts, columns bits or symbols.
        digest: of the mechanism and its integers (`Mechanism.digest`); empty if it is not known.

    Guarantees: `merge` is associative and commutative, `mechanism.zero()` is its identity.

    Example:
        >>> import numpy as np
        >>> one = Counts(np.array([2]), np.array([[1, 1]]))
        >>> two = Counts(np.array([3]), np.array([[3, 0]]))
        >>> one.merge(two).table.tolist(), one.merge(two).n
        ([[4, 1]], 5)
    """

    reports: NDArray[np.int64]
    table: NDArray[np.int64]
    digest: bytes = field(default=b"", kw_only=True)

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self.reports.sum())

    def merge(self, other: Self) -> Counts:
        """Return the counts of both sets of reports together.

        Raises:
            InvalidParameter: if the two come from different mechanisms or parameters: of another
                digest, or another shape.
        """
        digest = self.same_digest(other)
        if self.table.shape != other.table.shape:
            raise InvalidParameter(
                f"Only counts of one shape can be merged. Got {self.table.shape} and "
                f"{other.table.shape}: they come from different parameters."
            )
        return Counts(self.reports + other.reports, self.table + other.table, digest=digest)

    def same_digest(self, other: Counts) -> bytes:
        """Return the digest of both.

        Raises:
            InvalidParameter: if both are known and differ.
        """
        if self.digest and other.digest and self.digest != other.digest:
            raise InvalidParameter(
                "Only counts of one mechanism with the same parameters go together. Got those of "
                "different digests: another epsilon, or another mechanism."
            )
        return self.digest or other.digest


@dataclass(frozen=True)
class Estimate:
    """Unbiased frequencies with their error, before any projection.

    Attributes:
        candidates: what each entry is about: labels of a closed domain, or candidate strings.
        frequency: unbiased share of the population, may be below 0 or above 1.
        std_error: one standard deviation of `frequency`; NaN where nothing can be learned.
        covariance: of `frequency`; None where it is too large to keep.
        n: the number of reports.
        notes: caveats for the reader (not identifiable, cohorts without reports, ...).
        chances: how often reports support each answer; None where answers have no such count.
        told: the number of reports that each frequency is estimated from, fewer than n where
            reports are about drawn attributes; None where all are.

    Guarantees: where `frequency` and `std_error` are NaN, a note says why.
    """

    candidates: tuple[str, ...]
    frequency: Floats
    std_error: Floats
    covariance: Floats | None
    n: int
    notes: tuple[str, ...] = ()
    chances: Chances | None = None
    told: Floats | None = None

    @property
    def variance(self) -> Floats:
        """The squares of the standard errors."""
        return self.std_error**2


class Mechanism(ABC):
    """A mechanism for whole populations, over the same integers that clients use.

    Subclasses have a constructor that reads as people think (probabilities or epsilons); it
    resolves them into `parameters` exactly as a survey does.

    Attributes:
        parameters: the integers.
        dtype: the wire record as a NumPy dtype.
        adds_bits: whether counts follow from how many reports with the same numbers have each bit
            set; else bits count together, like numbers.
    """

    parameters_type: ClassVar[type[Parameters]]
    adds_bits: ClassVar[bool] = False
    parameters: Parameters
    dtype: np.dtype[Any]

    def __init_subclass__(cls, **more: Any) -> None:
        """Let every mechanism's counts know its digest, without a word of its own."""
        super().__init_subclass__(**more)
        for name in ("zero", "accumulate"):
            if name in cls.__dict__:
                setattr(cls, name, _stamped(cls.__dict__[name]))

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the mechanism's name and its integers."""
        own = self.parameters
        named: Json = {"mechanism": own.mechanism, "parameters": own.published()}
        return hashlib.sha256(canonical(named)).digest()

    def __init__(self, answers: int | Sequence[str], **wanted: object) -> None:
        """Make the mechanism of a closed domain; a mechanism of its own kind has its own words.

        Args:
            answers: their number, or their names.
            wanted: epsilon and the like, as `parameters` of a survey has them.

        Raises:
            InvalidParameter: naming the parameter, the allowed values and the given one.
        """
        names = [str(code) for code in range(answers)] if isinstance(answers, int) else answers
        self._adopt(self._wanted(wanted, Categories(tuple(names))))

    @classmethod
    def _wanted(cls, wanted: Mapping[str, object], domain: Domain) -> Parameters:
        """Return the integers for what a constructor was given, by the keys of a survey.

        Raises:
            InvalidParameter: also if there is no such key.
        """
        owner = cls.parameters_type.mechanism
        keys = authoring_of(owner).keys
        for name, value in wanted.items():
            if name not in keys:
                raise InvalidParameter(
                    f"{cls.__name__} has no parameter {name!r:.80}.{nearest(name, keys)} It has: "
                    f"{', '.join(sorted(keys))}."
                )
            keys[name].check(name, owner, value)
        return resolve(cls.parameters_type, wanted, domain, absent=False)

    def _identity(self) -> tuple[object, ...]:
        """Return everything that makes two mechanisms of a class equal."""
        return (self.digest,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self), self._identity()))

    def _adopt(self, parameters: Parameters) -> None:
        """Take the integers; every constructor ends here."""
        self.parameters = parameters
        self.dtype = np.dtype(parameters.layout.descr)

    @classmethod
    def from_parameters(cls, parameters: Parameters) -> Self:
        """Return the mechanism that runs with a survey's integers.

        Raises:
            InvalidParameter: if they are the parameters of another mechanism.
        """
        if not isinstance(parameters, cls.parameters_type):
            raise InvalidParameter(
                f"{cls.__name__} takes the parameters of '{cls.parameters_type.mechanism}'. "
                f"Got those of '{parameters.mechanism}'."
            )
        mechanism = cls.__new__(cls)
        mechanism._adopt(parameters)
        return mechanism

    def _shape(self) -> dict[str, object]:
        """Return the parameters beside the epsilons, as the constructor names them."""
        return dict(self.parameters.published())

    def __repr__(self) -> str:
        """Show what people choose a mechanism by; its thresholds are in `parameters`."""
        if "parameters" not in vars(self):  # a constructor that did not end in `_adopt`
            return f"{type(self).__name__}(<without parameters>)"
        told = {name: one for name, one in self._shape().items() if _said(one)}
        told["epsilon"] = self.epsilon
        if self.epsilon_forever not in (None, self.epsilon):
            told["epsilon_forever"] = self.epsilon_forever
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in told.items())})"

    @property
    def epsilon(self) -> float:
        """The epsilon of one report, from the integers, rounded up."""
        return as_float(self.parameters.epsilon_once)

    @property
    def epsilon_forever(self) -> float | None:
        """The epsilon of all reports of one value; None where nothing is permanent."""
        forever = self.parameters.epsilon_forever
        return None if forever is None else as_float(forever)

    @property
    def hashed(self) -> bool:
        """True where reports hold hashes of answers alone, so that estimates need candidates."""
        return False

    @abstractmethod
    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value, equal in distribution to what clients send.

        Every value belongs to another person: permanent stage and cohort are drawn anew for each.

        Args:
            values: strings (open alphabets), or codes. With `candidates`, codes index that list;
                without, they index the closed domain 0..k-1.
            rng: the only source of randomness, or the seed of one; see `coins.as_generator`.
            candidates: the strings that codes stand for.
        """

    @abstractmethod
    def zero(self) -> Counts:
        """Return the counts of no reports."""

    @abstractmethod
    def accumulate(self, reports: Records) -> Counts:
        """Return the counts of reports (a structured array, or the bytes of whole records).

        Raises:
            InvalidReport: if a record could not have come from a client.
        """

    @abstractmethod
    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return unbiased frequencies of the candidates (closed domains: of every answer)."""

    @abstractmethod
    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | candidate), a row per report, a column per candidate.

        A cohort is part of the report: the probability includes the cohort's 1/m. So each
        candidate's probabilities sum to 1 over all possible records. With `log`, natural
        logarithms: the probability itself underflows for records of many bits.
        """

    def packed_answers(self, _: Records, __: Candidates = None, /) -> PackedAnswers | None:
        """Return reports as bytes that say all about a few answers each; None if they are not so.

        The same likelihoods as `likelihood` gives, but for a factor per report, in a 40th to a 64th
        of the memory.

        Raises:
            InvalidReport: if a record could not have come from a client.
        """
        return None

    @abstractmethod
    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the closed-form variance of an estimated frequency, given the people's values."""

    def records(self, reports: Records) -> Reports:
        """Return reports as a flat array of this mechanism's records, without copying.

        Raises:
            InvalidReport: if they are not whole records of this mechanism.
        """
        if not isinstance(reports, np.ndarray):
            size = memoryview(reports).nbytes
            if size % self.dtype.itemsize:
                raise InvalidReport(
                    "record",
                    f"Records of {self.dtype.itemsize} bytes cannot fill {size} bytes: "
                    "pass whole records.",
                )
            return np.frombuffer(reports, dtype=self.dtype) if size else np.empty(0, self.dtype)
        if reports.dtype != self.dtype or reports.ndim != 1:
            raise InvalidReport(
                "record",
                f"Reports must be a flat array of dtype {self.dtype}. "
                f"Got dtype {reports.dtype} in {reports.ndim} dimensions.",
            )
        return reports

    def _checked(self, reports: Records) -> Reports:
        """Return reports as records whose numbers are within the bounds of the layout.

        Raises:
            InvalidReport: naming the number and its bound.
        """
        records = self.records(reports)
        self._check_bounds(records)
        return records

    def _check_bounds(self, records: Reports) -> None:
        for item in self.parameters.layout.items:
            if not item.count and records.size and int(records[item.name].max()) >= item.below:
                raise InvalidReport("record", f"The {item.name} must be below {item.below}.")

    def _check_counts(self, counts: Counts) -> None:
        expected = self.zero()
        expected.same_digest(counts)
        if (counts.table.shape, counts.reports.shape) != (
            expected.table.shape,
            expected.reports.shape,
        ):
            raise InvalidParameter(
                f"The counts must have a table of shape {expected.table.shape}. Got "
                f"{counts.table.shape}: they come from different parameters."
            )


_DEFAULTS = ("", "0", "bloom", "closed", "hashed", "permuted")
"""Texts that only say what the other members say too."""


def _said(member: object) -> bool:
    """Tell whether a member is one that people chose: no threshold (long digits), no default."""
    if isinstance(member, str):
        return len(member) <= 16 and member not in _DEFAULTS
    if member == 0:
        return False
    return isinstance(member, int) or (
        isinstance(member, list) and len(member) <= 8 and all(isinstance(x, int) for x in member)
    )


def _stamped(method: Callable[..., Counts]) -> Callable[..., Counts]:
    """Return a method whose counts have the digest of its mechanism."""

    @wraps(method)
    def counted(self: Mechanism, *given: Any, **named: Any) -> Counts:
        return replace(method(self, *given, **named), digest=self.digest)

    return counted
