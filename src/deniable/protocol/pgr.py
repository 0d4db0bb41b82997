"""Projective geometry response: parameters, epsilon and wire record.

Model [FNNT22; docs/mathematics.md, section 2]: answers are points v of a projective geometry over
F_q of dimension t. There are K = (q^t - 1) / (q - 1) points; the report is a point u. The set of
v is its hyperplane S_v = {u : <u, v> = 0}, of c_set = (q^(t-1) - 1) / (q - 1) points; two of them
share c_int = (q^(t-2) - 1) / (q - 1). With probability `inside` the report is uniform in S_v, else
uniform outside, where there are K - c_set = q^(t-1) points. So a report supports its own answer
with p = inside and another with

    q_ = inside c_int / c_set + (1 - inside) (c_set - c_int) / q^(t-1),
    epsilon = ln[(inside / c_set) / ((1 - inside) / q^(t-1))].

Strings are hashed to points, differently in each of C cohorts: two strings are then two uniform
points, and a report supports another string with probability c_set / K. t = 2 is k-RR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.closed_form import mean_variance
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written, answers_of
from deniable.protocol.projective import points_below
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MAX_POINTS = 2**22
"""Decoding takes about 50 bytes for each of K points."""
MAX_PRIME = 65_537
MAX_DIMENSION = 22
"""With q = 2, more would be more points than allowed."""
MAX_COHORTS = 65_536
HASHED_POINTS = 16_384
"""The least number of points into which strings are hashed by default."""
MOST_HASHED_POINTS = 2**18
"""The most points that are chosen for strings: every cohort has a count for each."""
FIRST_INDEX = 5 << 40
"""The hash function of a cohort has this number plus the cohort's."""

_POINT = Item("point", 4)
_NEARLY = 1.001
"""Of geometries whose variances differ by less, the smallest is taken: it is decoded faster."""
_PUBLISHED = {"form", "answers", "prime", "dimension", "cohorts", "inside"}


def _cohorts(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_COHORTS)


def _points(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 2, MOST_HASHED_POINTS // 2)


@frozen
class PGRParameters(Parameters):
    """The integers of projective geometry response.

    Attributes:
        form: "closed" (an answer is the point of its code) or "hashed" (strings).
        answers: of a closed domain, an absent one included; 0 if hashed.
        prime: q. dimension: t.
        cohorts: C; 1 if closed.
        inside: threshold of reporting a point of the answer's hyperplane.
    """

    form: str
    answers: int
    prime: int
    dimension: int
    cohorts: int
    inside: int

    mechanism: ClassVar[str] = "pgr"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "1.0"),
        "cohorts": Written(_cohorts, "32"),
        "points": Written(_points, "16384"),
    }

    def __post_init__(self) -> None:
        if self.form not in ("closed", "hashed"):
            raise _validate.invalid("form", "pgr", "'closed' or 'hashed'", self.form)
        _validate.integer("prime", "pgr", self.prime, 2, MAX_PRIME)
        if not is_prime(self.prime):
            raise _validate.invalid("prime", "pgr", "a prime number", self.prime)
        _validate.integer("dimension", "pgr", self.dimension, 2, MAX_DIMENSION)
        if self.points > MAX_POINTS:
            raise InvalidParameter(
                f"pgr must have at most {MAX_POINTS:,} points: a smaller prime or dimension."
            )
        _cohorts("cohorts", "pgr", self.cohorts)
        if self.form == "hashed" and self.answers != 0:
            raise _validate.invalid("answers", "pgr", "0 in the hashed form", self.answers)
        if self.form == "closed":
            most = min(self.points, MAX_CATEGORIES + 1)
            _validate.integer("answers", "pgr", self.answers, 2, most)
            if self.cohorts != 1:
                raise _validate.invalid("cohorts", "pgr", "1 in the closed form", self.cohorts)
        _validate.integer("inside", "pgr", self.inside, 0, thresholds.ONE)
        check_truth("inside", "pgr", self.inside, self._odds)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, and for strings `cohorts` (32) and the fewest `points` (16,384).

        Prime and dimension are those of the least closed-form variance among all geometries with
        enough points.
        """
        if "epsilon" not in wanted:
            raise InvalidParameter("pgr needs 'epsilon'.", "Add epsilon = 1.0.")
        micros = epsilon.wanted("epsilon", "pgr", wanted["epsilon"])
        answers = answers_of(domain, absent) or 0
        if answers and wanted.keys() & {"cohorts", "points"}:
            raise InvalidParameter(
                "pgr takes 'cohorts' and 'points' for strings only.", "Leave them out."
            )
        cohorts = _cohorts("cohorts", "pgr", wanted.get("cohorts", 1 if answers else 32))
        fewest = answers or _points("points", "pgr", wanted.get("points", HASHED_POINTS))
        prime, dimension = best_geometry(fewest, micros, hashed=not answers)
        odds = odds_of(prime, dimension)
        form = "closed" if answers else "hashed"
        return cls(form, answers, prime, dimension, cohorts, truth_threshold(odds, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        if set(data) != _PUBLISHED:
            raise InvalidParameter(f"pgr has {', '.join(sorted(_PUBLISHED))}.")
        return cls(
            str(data["form"]),
            _validate.integer("answers", "pgr", data["answers"], 0, MAX_CATEGORIES + 1),
            _validate.integer("prime", "pgr", data["prime"], 2, MAX_PRIME),
            _validate.integer("dimension", "pgr", data["dimension"], 2, MAX_DIMENSION),
            _cohorts("cohorts", "pgr", data["cohorts"]),
            thresholds.from_text("inside", data["inside"]),
        )

    def published(self) -> dict[str, Json]:
        """Return the integers as they stand in survey.json."""
        return {
            "form": self.form,
            "answers": self.answers,
            "prime": self.prime,
            "dimension": self.dimension,
            "cohorts": self.cohorts,
            "inside": thresholds.to_text(self.inside),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Strings need the hashed form; a closed domain the closed one with its answers."""
        if (answers_of(domain, absent) or 0) != self.answers:
            raise InvalidParameter(
                "pgr must be hashed for strings, and have exactly the answers of a closed domain."
            )

    @cached_property
    def layout(self) -> Layout:
        """Point, u32; in the hashed form cohort, u16, before it."""
        return Layout((_POINT,) if self.answers else (Item("cohort", 2), _POINT))

    def check_record(self, record: bytes) -> None:
        """The point must be below K, and the cohort below C."""
        values = self.layout.unpack(record)
        bounds = {"point": self.points, "cohort": self.cohorts}
        for name, value in values.items():
            if not (isinstance(value, int) and value < bounds[name]):
                raise InvalidReport("record", f"The {name} must be below {bounds[name]}.")

    def point(self, answer: Answer, cohort: int) -> int:
        """Return the point of an answer in a cohort."""
        if self.answers:
            return answer.code
        return reduce_to(hash_word(answer.words, FIRST_INDEX + cohort), self.points)

    @property
    def points(self) -> int:
        """K, the number of points."""
        return points_below(self.prime, self.dimension)

    @property
    def inner(self) -> int:
        """c_set, the number of points of a hyperplane."""
        return points_below(self.prime, self.dimension - 1)

    @property
    def outer(self) -> int:
        """q^(t-1), the number of points outside of a hyperplane."""
        return self.points - self.inner

    @property
    def _odds(self) -> Fraction:
        return odds_of(self.prime, self.dimension)

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own answer), and P(it supports another one), over all hashes."""
        inside = thresholds.as_fraction(self.inside)
        if not self.answers:
            return inside, Fraction(self.inner, self.points)
        return self.support_of_points

    @cached_property
    def support_of_points(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own point), and P(it supports a given other one)."""
        inside = thresholds.as_fraction(self.inside)
        shared = points_below(self.prime, self.dimension - 2)
        # q_ of the model above: c_int of the c_set points inside, c_set - c_int of those outside.
        apart = Fraction(self.inner - shared, self.outer)
        return inside, inside * Fraction(shared, self.inner) + (1 - inside) * apart

    @cached_property
    def epsilon_once(self) -> int:
        """ln of the ratio of one point's probability inside and outside."""
        return epsilon.epsilon_of(truth_ratio(self._odds, self.inside))

    @property
    def epsilon_forever(self) -> int | None:
        """Unbounded: every report is drawn afresh."""
        return None


def odds_of(prime: int, dimension: int) -> Fraction:
    """Return the ratio of the points outside of a hyperplane to those inside."""
    return Fraction(prime ** (dimension - 1), points_below(prime, dimension - 1))


def is_prime(number: int) -> bool:
    """Tell whether a number is prime, by trial division."""
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))


def best_geometry(
    fewest: int, micros: int, hashed: bool = False, most: int | None = None
) -> tuple[int, int]:
    """Return the prime and dimension of nearly the least mean variance with enough points.

    Of the geometries with `fewest` to `most` points whose variance is within a factor `_NEARLY` of
    the least, it is the one with the fewest points. `most` is by default 262,144 for hashed strings
    and 4,194,304 otherwise.

    Raises:
        InvalidParameter: if there is none, which cannot be up to 65,538 points.
    """
    e = float(epsilon.exp_micros(min(micros, 20 * epsilon.MICRO)))
    most = most or (MOST_HASHED_POINTS if hashed else MAX_POINTS)
    tried = [
        (prime, dimension)
        for dimension in range(2, MAX_DIMENSION + 1)
        for prime in _primes(fewest, most, dimension)
    ]
    if not tried:
        raise InvalidParameter(f"pgr cannot have {fewest:,} points.", "Lower 'points'.")
    variances = {shape: _variance(*shape, e, 0 if hashed else fewest) for shape in tried}
    good = min(variances.values()) * _NEARLY
    return min((s for s in tried if variances[s] <= good), key=lambda s: points_below(*s))


def _primes(fewest: int, most: int, dimension: int) -> Iterator[int]:
    """Yield the primes of geometries that have enough points, and not too many."""
    prime = max(2, int((fewest / 2) ** (1 / (dimension - 1))))
    while prime <= MAX_PRIME and points_below(prime, dimension) <= most:
        if points_below(prime, dimension) >= fewest and is_prime(prime):
            yield prime
            if dimension == 2:
                return  # k-RR: the fewest symbols are the best
        prime += 1


def _variance(prime: int, dimension: int, e: float, answers: int) -> float:
    """Return the mean n Var of the answers; of a rare string if `answers` is 0."""
    # A point inside has e times the probability `each` of one outside, and all of them sum to 1;
    # p and q follow as in docs/mathematics.md, section 2.
    points, inner = points_below(prime, dimension), points_below(prime, dimension - 1)
    shared = points_below(prime, dimension - 2)
    each = 1 / ((e - 1) * inner + points)
    p = e * inner * each
    q = (e * shared + inner - shared) * each if answers else inner / points
    return mean_variance(p, q, answers)
