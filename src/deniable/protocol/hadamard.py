"""Hadamard response of one bit: parameters, epsilon and wire record.

Model: with K the smallest power of two that holds the answers, a device draws a coefficient a
uniformly from 0..K-1 and reports it with the sign (-1)^<a, x>, <a, x> the number of ones in a & x,
flipped with probability 1/(E + 1), epsilon = ln E. A report supports the answers v whose sign
under a is the reported one: its sender's with probability E/(E + 1), and any other with
probability 1/2 exactly, because <a, x ^ v> is odd for half of all a.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.errors import InvalidParameter
from deniable.protocol.declared import threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import KeepParameters, answers_of

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public


@frozen
class HadamardParameters(KeepParameters):
    """The integers of Hadamard response.

    Attributes:
        answers: the number of answers (2 to 65,537: an absent answer may be added).
        keep: threshold of reporting the true sign.
    """

    answers: int = whole(2, MAX_CATEGORIES + 1)
    keep: int = threshold()

    mechanism: ClassVar[str] = "hadamard"

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly as many answers."""
        if answers_of(domain, absent) != self.answers:
            raise InvalidParameter("hadamard must have as many answers as its domain.")

    @cached_property
    def size(self) -> int:
        """K, the smallest power of two that holds the answers."""
        return 1 << (self.answers - 1).bit_length()

    @cached_property
    def layout(self) -> Layout:
        """Coefficient, u32; sign, u8: 0 for +1 and 1 for -1."""
        return Layout((number("coefficient", self.size, 4), number("sign", 2)))

    @property
    def odds(self) -> int:
        """1: there are two signs."""
        return 1

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one)."""
        return self.kept, Fraction(1, 2)

    @cached_property
    def channel(self) -> Channel:
        """A coefficient for every report, then the answer's sign in it."""
        from deniable.protocol.channel import Channel, Sign, uniform

        coefficient = uniform("coefficient", self.size)
        return Channel((coefficient,), Sign(2 * self.kept - 1), self._own, self.layout)

    def _own(self, answer: Answer, public: Public) -> int:
        return 1 - 2 * sign_of(public[0], answer.code)


def sign_of(coefficient: int, code: int) -> int:
    """Return 0 where a coefficient has the sign +1 for an answer, and 1 where it has -1."""
    return (coefficient & code).bit_count() & 1
