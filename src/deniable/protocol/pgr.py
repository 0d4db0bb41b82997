"""Projective geometry response: parameters, epsilon and wire record.

Model [FNNT22; docs/mathematics.md, section 2]: answers are points v of a projective geometry over
F_q of dimension t. There are K = (q^t - 1) / (q - 1) points; the report is a point u. The set of
v is its hyperplane S_v = {u : <u, v> = 0}, of c_set = (q^(t-1) - 1) / (q - 1) points; two of them
share c_int = (q^(t-2) - 1) / (q - 1). With probability `keep` the report is uniform in S_v, else
uniform outside, where there are K - c_set = q^(t-1) points. So a report supports its own answer
with p = keep and another with

    q_ = keep c_int / c_set + (1 - keep) (c_set - c_int) / q^(t-1),
    epsilon = ln[(keep / c_set) / ((1 - keep) / q^(t-1))].

Strings are hashed to points, differently in each of C cohorts: two strings are then two uniform
points, and a report supports another string with probability c_set / K. t = 2 is k-RR.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.declared import choice, threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import KeepParameters, answers_of
from deniable.protocol.projective import points_below

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MAX_POINTS = 2**22
"""Decoding takes about 50 bytes for each of K points."""
MAX_PRIME = 65_537
MAX_DIMENSION = 22
"""With q = 2, more would be more points than allowed."""
MAX_COHORTS = 65_536
FIRST_INDEX = 5 << 40
"""The hash function of a cohort has this number plus the cohort's."""


@frozen
class PGRParameters(KeepParameters):
    """The integers of projective geometry response.

    Attributes:
        form: "closed" (an answer is the point of its code) or "hashed" (strings).
        answers: of a closed domain, an absent one included; 0 if hashed.
        prime: q. dimension: t.
        cohorts: C; 1 if closed.
        keep: threshold of reporting a point of the answer's hyperplane.
    """

    form: str = choice("closed", "hashed")
    answers: int = whole(0, MAX_CATEGORIES + 1)
    prime: int = whole(2, MAX_PRIME)
    dimension: int = whole(2, MAX_DIMENSION)
    cohorts: int = whole(1, MAX_COHORTS)
    keep: int = threshold()

    mechanism: ClassVar[str] = "pgr"

    def _check(self) -> None:
        if not is_prime(self.prime):
            raise _validate.invalid("prime", "pgr", "a prime number", self.prime)
        if self.points > MAX_POINTS:
            raise InvalidParameter(
                f"pgr must have at most {MAX_POINTS:,} points: a smaller prime or dimension."
            )
        if self.form == "hashed" and self.answers != 0:
            raise _validate.invalid("answers", "pgr", "0 in the hashed form", self.answers)
        if self.form == "closed":
            most = min(self.points, MAX_CATEGORIES + 1)
            _validate.integer("answers", "pgr", self.answers, 2, most)
            if self.cohorts != 1:
                raise _validate.invalid("cohorts", "pgr", "1 in the closed form", self.cohorts)
        super()._check()

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Strings need the hashed form; a closed domain the closed one with its answers."""
        if (answers_of(domain, absent) or 0) != self.answers:
            raise InvalidParameter(
                "pgr must be hashed for strings, and have exactly the answers of a closed domain."
            )

    @cached_property
    def layout(self) -> Layout:
        """Point, u32; in the hashed form cohort, u16, before it."""
        point = number("point", self.points, 4)
        return Layout((point,) if self.answers else (number("cohort", self.cohorts, 2), point))

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
    def odds(self) -> Fraction:
        """The points outside of a hyperplane for each one inside."""
        return odds_of(self.prime, self.dimension)

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own answer), and P(it supports another one), over all hashes."""
        if not self.answers:
            return self.kept, Fraction(self.inner, self.points)
        return self.support_of_points

    @cached_property
    def support_of_points(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own point), and P(it supports a given other one)."""
        keep = self.kept
        shared = points_below(self.prime, self.dimension - 2)
        # q_ of the model above: c_int of the c_set points inside, c_set - c_int of those outside.
        apart = Fraction(self.inner - shared, self.outer)
        return keep, keep * Fraction(shared, self.inner) + (1 - keep) * apart

    @cached_property
    def channel(self) -> Channel:
        """A point; of strings, in a cohort for ever."""
        from deniable.protocol.channel import Channel, Points, uniform

        cohort = uniform("cohort", self.cohorts, permanent=True)
        numbers = () if self.answers else (cohort,)
        direct = bool(self.answers)
        point = Points(self.kept, self.prime, self.dimension)
        return Channel(numbers, point, self._own, self.layout, direct=direct)

    def _own(self, answer: Answer, public: Public) -> int:
        return self.point(answer, *public or (0,))


def odds_of(prime: int, dimension: int) -> Fraction:
    """Return the ratio of the points outside of a hyperplane to those inside."""
    return Fraction(prime ** (dimension - 1), points_below(prime, dimension - 1))


def is_prime(number: int) -> bool:
    """Tell whether a number is prime, by trial division."""
    return number > 1 and all(number % d for d in range(2, isqrt(number) + 1))
