"""Mechanisms that report an array of bits: two stages per bit, their chain and epsilon.

Model: each bit of an array passes two stages,

    P(B'_i = 1) = permanent_one if B_i else permanent_zero        the same B' for ever
    P(S_i  = 1) = report_one if B'_i else report_zero             fresh in every report

whose chain has q* = P(S_i = 1 | B_i = 1) and p* = P(S_i = 1 | B_i = 0). If two answers differ in
at most `a` bits that only one of them sets and `b` that only the other sets, the probabilities of
any report under the two differ at most by the factor

    max( up^a down^b, up^b down^a ),    up = q*/p*,    down = (1 - p*)/(1 - q*).
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import InvalidParameter
from deniable.protocol import epsilon, thresholds
from deniable.protocol.domain import Answer, Domain, Sets
from deniable.protocol.parameters import Parameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Bits, Public


MOST_MEMBERS = 16
"""The largest set whose members can be reported a bit each."""


class UnaryParameters(Parameters):
    """Parameters with the four thresholds above; subclasses are dataclasses that hold them.

    Attributes:
        members: 0 where an answer is one value; else the most values of an answer, which is a
            set with a bit for each value.
        permanent_one, permanent_zero, report_one, report_zero: 64-bit thresholds, as above.
    """

    members: int
    permanent_one: int
    permanent_zero: int
    report_one: int
    report_zero: int

    @property
    @abstractmethod
    def bits(self) -> int:
        """The number of bits of a report."""

    @property
    @abstractmethod
    def exponents(self) -> tuple[int, int]:
        """a and b: the most bits that only one of two answers sets, the larger number first."""

    @property
    def memoised(self) -> bool:
        """True if there is a permanent stage."""
        return self.permanent_zero > 0 and self.permanent_one < thresholds.ONE

    @cached_property
    def q_star(self) -> Fraction:
        """P(a reported bit is 1 | it was set), both stages together."""
        return self._chain(self.permanent_one)

    @cached_property
    def p_star(self) -> Fraction:
        """P(a reported bit is 1 | it was not set), both stages together."""
        return self._chain(self.permanent_zero)

    def _chain(self, permanent: int) -> Fraction:
        # Two unary stages are one (docs/mathematics.md, section 6).
        one = thresholds.as_fraction(permanent)
        report_one = thresholds.as_fraction(self.report_one)
        return one * report_one + (1 - one) * thresholds.as_fraction(self.report_zero)

    @cached_property
    def epsilon_once(self) -> int:
        """ln of the model's factor for the chain: both stages, seen once."""
        return epsilon.epsilon_of(worst_ratio(self.q_star, self.p_star, *self.exponents))

    @cached_property
    def epsilon_forever(self) -> int | None:
        """ln of the model's factor for the permanent stage alone; None without one."""
        if not self.memoised:
            return None
        one = thresholds.as_fraction(self.permanent_one)
        zero = thresholds.as_fraction(self.permanent_zero)
        return epsilon.epsilon_of(worst_ratio(one, zero, *self.exponents))

    def _check(self) -> None:
        """Raise InvalidParameter unless reports say something, and never for certain."""
        owner = self.mechanism
        if not (self.permanent_one > self.permanent_zero and self.report_one > self.report_zero):
            raise InvalidParameter(
                f"{owner} needs q > p and f < 1: otherwise a report says nothing about the answer.",
                "Raise q or 'epsilon', or lower p or f.",
            )
        if not (self.p_star > 0 and self.q_star < 1):
            raise InvalidParameter(
                f"{owner} would sometimes reveal the answer for certain.",
                "Raise p above 0 and keep q below 1, or raise f above 0.",
            )

    @cached_property
    def per_member(self) -> bool:
        """True if an answer is a set whose members have a bit each."""
        return self.members > 0

    def _rest(self) -> Bits:
        """Return the two stages, and their chain."""
        from deniable.protocol.channel import Bits

        most, drawn = self._held
        pairs = (
            (self.permanent_one, self.permanent_zero),
            (self.report_one, self.report_zero),
        )
        first, then = (
            Bits(thresholds.as_fraction(q), thresholds.as_fraction(p), self.bits, most, drawn)
            for q, p in pairs
        )
        return Bits(self.q_star, self.p_star, self.bits, most, drawn, (first, then))

    @property
    def _held(self) -> tuple[int, int]:
        """The most bits that an answer sets, and how many uniform draws choose them."""
        return (self.members, 0) if self.members else (1, 1)

    def _own(self, answer: Answer, public: Public) -> int:
        """Return the answer's bits: its own, or one per member of a set, whose absent has the last.

        A row of bits per member has none for "none of them".
        """
        from deniable.protocol.channel import as_mask

        if not self.members:
            return 1 << answer.code
        return 1 << self.bits - 1 if answer.code >= 0 else as_mask(answer.members)


def worst_ratio(one: Fraction, zero: Fraction, most: int, least: int) -> Fraction:
    """Return the largest ratio of the probabilities of one bit array under two answers."""
    # The worst report shows a 1 wherever only the first answer sets the bit, and a 0 wherever only
    # the second one does (docs/mathematics.md, section 1).
    up, down = one / zero, (1 - zero) / (1 - one)
    return max(up**most * down**least, up**least * down**most)


def set_exponents(bits: int, members: int) -> tuple[int, int]:
    """Return a and b for two sets of at most `members` members, a bit for each possible member."""
    most = min(members, bits)
    return most, min(members, bits - most)


def check_members(owner: str, members: int, domain: Domain) -> None:
    """Raise InvalidParameter unless a set of as many members is reported a bit each."""
    if members and not (isinstance(domain, Sets) and domain.most == members):
        raise InvalidParameter(f"{owner} of a bit per member needs a set of as many members.")
