"""RAPPOR: parameters, epsilon and wire record [EPK14].

Model: an answer sets bits of a k-bit array B: in the *bloom* form, h bits chosen by the hash
functions of the client's cohort; in the *permuted* form (closed domains), h bits chosen by the
cohort's permutations of the answers, modulo k (O-RAPPOR of [KBR16]); in the *basic* form, its own
bit (a boolean has one bit, set for yes). Each bit then passes two stages:

    P(B'_i = 1) = permanent_one if B_i else permanent_zero        the same B' for ever
    P(S_i  = 1) = report_one if B'_i else report_zero             fresh in every report

where, in the paper's letters, permanent_one = 1 - f/2, permanent_zero = f/2, report_one = q and
report_zero = p. One-time forms leave a stage out: f = 0, or p = 0 and q = 1.

The chain has q* = P(S_i = 1 | B_i = 1) and p* = P(S_i = 1 | B_i = 0). Two answers differ in at most
h bits that go from 1 to 0 and h that go from 0 to 1, so that

    eps_forever = h ln[(1 - f/2)^2 / (f/2)^2]        [EPK14, theorem 1]
    eps_once    = h ln[q* (1 - p*) / (p* (1 - q*))]  [EPK14, theorem 2]

and a single yes/no bit, where two answers differ in one bit, costs the larger of its two factors.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.declared import choice, threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import bloom_bits
from deniable.protocol.layout import Layout, number, packed
from deniable.protocol.parameters import answers_of
from deniable.protocol.permuting import ranks
from deniable.protocol.unary import (
    MOST_MEMBERS,
    UnaryParameters,
    check_members,
    set_exponents,
)

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MAX_BITS = MAX_CATEGORIES + 1
MAX_HASHES = 16
MAX_COHORTS = 65_536


@frozen
class RapporParameters(UnaryParameters):
    """The integers of RAPPOR.

    Attributes:
        form: "bloom" (hashed strings, cohorts), "permuted" (answers of a closed domain, cohorts) or
            "basic" (one bit per answer, one cohort).
        bits: k. hashes: h. cohorts: m. Basic has h = m = 1.
        permanent_one, permanent_zero, report_one, report_zero: 64-bit thresholds, as above.
        members: of a set that is reported a bit per member, the largest number of them; else 0.
        answers: of the permuted form, the number of answers, an absent one included; else 0.
    """

    form: str = choice("bloom", "permuted", "basic")
    bits: int = whole(1, MAX_BITS)
    hashes: int = whole(1, MAX_HASHES)
    cohorts: int = whole(1, MAX_COHORTS)
    permanent_one: int = threshold()
    permanent_zero: int = threshold()
    report_one: int = threshold()
    report_zero: int = threshold()
    members: int = whole(1, MOST_MEMBERS, default=0)
    answers: int = whole(2, MAX_CATEGORIES + 1, default=0)

    mechanism: ClassVar[str] = "rappor"

    def _check(self) -> None:
        if self.form == "basic" and (self.hashes, self.cohorts) != (1, 1):
            raise InvalidParameter("Basic rappor has one hash and one cohort.")
        if self.form != "basic" and self.bits < 2:
            must = f"2 or more in the {self.form} form"
            raise _validate.invalid("bits", "rappor", must, self.bits)
        if (self.form == "permuted") != bool(self.answers):
            must = "2 or more in the permuted form, and left out in the others"
            raise _validate.invalid("answers", "rappor", must, self.answers)
        if self.members and (self.form != "basic" or self.bits < 2):
            raise InvalidParameter("rappor of a bit per member must be basic, of 2 bits or more.")
        super()._check()

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Strings need the bloom form; a closed domain the basic one, with a bit per answer."""
        check_members("rappor", self.members, domain)
        if domain.size is None:
            if self.form != "bloom":
                raise InvalidParameter("rappor of strings must have the bloom form.")
        elif self.form == "permuted":
            if answers_of(domain, absent) != self.answers:
                raise InvalidParameter("rappor must permute exactly the answers of its domain.")
        elif self.form != "basic" or self.bits != basic_bits(domain, absent, self.members):
            raise InvalidParameter("rappor of a closed domain must be basic, a bit per answer.")

    @cached_property
    def layout(self) -> Layout:
        """Cohort, u16; then ceil(k / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8)."""
        return Layout((number("cohort", self.cohorts, 2), packed("bits", self.bits)))

    def places(self, answer: Answer, cohort: int) -> list[int]:
        """Return the bits that an answer sets in a cohort, in the forms with cohorts.

        One per hash function; they may repeat.
        """
        if self.form == "bloom":
            return bloom_bits(answer.words, cohort, self.hashes, self.bits)
        indices = [(cohort << 16) | i for i in range(self.hashes)]
        return [rank % self.bits for rank in ranks(answer.code, self.answers, indices)]

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """q* and p*."""
        return self.q_star, self.p_star

    @property
    def rare_variance(self) -> float:
        """n Var of the frequency of a rare string, in the forms with cohorts.

        It sets d = k (1 - (1 - 1/k)^h) bits on average; any bit is then set by a share d/k of the
        people, and reported with probability r = p* + (q* - p*) d/k:
        n Var = r (1 - r) / (d (1 - d/k) (q* - p*)^2), as `mechanisms.Rappor.variance` at f = 0.
        """
        filled = 1 - (1 - 1 / self.bits) ** self.hashes
        gap = float(self.q_star - self.p_star)
        r = float(self.p_star) + gap * filled
        return r * (1 - r) / (self.bits * filled * (1 - filled) * gap**2)

    @property
    def exponents(self) -> tuple[int, int]:
        """h and h (theorems 1 and 2); 1 and 0 for a single bit; as many as sets can differ in."""
        return exponents_of(self.bits, self.hashes, self.members)

    @cached_property
    def channel(self) -> Channel:
        """A cohort for ever, then a row of bits."""
        from deniable.protocol.channel import Channel, uniform

        cohort = uniform("cohort", self.cohorts, permanent=True)
        direct = self.form == "basic"
        return Channel((cohort,), self._rest(), self._own, self.layout, direct=direct)

    @property
    def _held(self) -> tuple[int, int]:
        """One per hash function; basic: one per answer or member, and a lone bit for yes alone."""
        if self.form != "basic":
            return self.hashes, self.hashes
        return (1, 0) if self.bits == 1 else super()._held

    def _own(self, answer: Answer, public: Public) -> int:
        from deniable.protocol.channel import as_mask

        if self.form != "basic":
            return as_mask(self.places(answer, public[0]))
        if self.bits == 1:  # a plain boolean: one bit, set for yes
            return int(answer.code == 1)
        return super()._own(answer, public)


def exponents_of(bits: int, hashes: int, members: int) -> tuple[int, int]:
    """Return a and b of protocol/unary.py."""
    if members:
        return set_exponents(bits, members)
    return (1, 0) if bits == 1 else (hashes, hashes)


def basic_bits(domain: Domain, absent: bool, members: int) -> int:
    """Return the bits of the basic form: one for a plain boolean, else one per answer.

    Where each member of a set has a bit, there is none for "none of them".
    """
    count = answers_of(domain, absent)
    if count is None:
        raise InvalidParameter("Basic rappor needs a closed domain.")
    if members:
        return count - 1
    return 1 if domain.kind == "boolean" and not absent else count
