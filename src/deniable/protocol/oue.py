"""Optimised unary encoding: parameters, epsilon and wire record.

Model: every answer has a bit; the bit of the answer is 1 with probability 1/2, any other with
probability 1/(E + 1), epsilon = ln E. Among unary responses this has the least variance for rare
answers [WBLJ17]. With a permanent stage (docs/mathematics.md, section 6)

    permanent_one = 1/2      permanent_zero = 1/(e^eps_forever + 1)
    report_one = (1 - permanent_zero - q) / (1 - 2 permanent_zero)      report_zero = 1 - report_one

where q = 1/(e^eps_once + 1): the chain is again 1/2 and q, so that the permanent stage costs a
single report nothing.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.errors import InvalidParameter
from deniable.protocol.declared import threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, packed
from deniable.protocol.parameters import answers_of
from deniable.protocol.unary import (
    MOST_MEMBERS,
    UnaryParameters,
    check_members,
    set_exponents,
)

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel


@frozen
class OUEParameters(UnaryParameters):
    """The integers of optimised unary encoding.

    Attributes:
        answers: their number, an absent one included (2 to 65,537), and that of the bits; of a
            set that is reported a bit per member, the number of its possible members.
        permanent_one, permanent_zero, report_one, report_zero: 64-bit thresholds, as above.
        members: of a set that is reported a bit per member, the largest number of them; else 0.
    """

    answers: int = whole(2, MAX_CATEGORIES + 1)
    permanent_one: int = threshold()
    permanent_zero: int = threshold()
    report_one: int = threshold()
    report_zero: int = threshold()
    members: int = whole(1, MOST_MEMBERS, default=0)

    mechanism: ClassVar[str] = "oue"

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly as many answers as there are bits."""
        check_members("oue", self.members, domain)
        if self.answers != bits_of(domain, absent, self.members):
            raise InvalidParameter("oue must have a bit for each of the domain's answers.")

    @property
    def bits(self) -> int:
        """One for each answer."""
        return self.answers

    @cached_property
    def layout(self) -> Layout:
        """ceil(k / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8)."""
        return Layout((packed("bits", self.bits),))

    @property
    def exponents(self) -> tuple[int, int]:
        """1 and 1, since two answers differ in two bits; for sets, see `set_exponents`."""
        return set_exponents(self.bits, self.members) if self.members else (1, 1)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one)."""
        return self.q_star, self.p_star

    @cached_property
    def channel(self) -> Channel:
        """A bit per answer, or per member of a set."""
        from deniable.protocol.channel import Channel

        return Channel((), self._rest(), self._own, self.layout, direct=True)


def bits_of(domain: Domain, absent: bool, members: int) -> int:
    """Return the number of bits: one per answer, or one per possible member of a set."""
    count = answers_of(domain, absent)
    if count is None:
        raise InvalidParameter(
            "oue needs a closed domain: boolean, categories, numbers or set.",
            'Use mechanism = "rappor" or "olh" for strings.',
        )
    return count - 1 if members else count  # a bit per member needs none for "none of them"
