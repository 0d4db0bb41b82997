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

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon
from deniable.protocol.canonical import Json
from deniable.protocol.domain import MAX_CATEGORIES, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Written, answers_of
from deniable.protocol.thresholds import ONE, as_fraction, ceil_threshold, floor_threshold
from deniable.protocol.unary import (
    STAGES,
    TwoStage,
    UnaryParameters,
    check_members,
    check_per,
    members_of,
    read_members,
    read_stages,
    set_exponents,
)

MAX_BITS = MAX_CATEGORIES + 1
_HALF = ONE // 2
_PUBLISHED = {"bits", *STAGES}


@frozen
class OUEParameters(UnaryParameters):
    """The integers of optimised unary encoding.

    Attributes:
        bits: one per answer, an absent one included (2 to 65,537).
        permanent_one, permanent_zero, report_one, report_zero: 64-bit thresholds, as above.
        members: of a set that is reported a bit per member, the largest number of them; else 0.
    """

    bits: int
    permanent_one: int
    permanent_zero: int
    report_one: int
    report_zero: int
    members: int = 0

    mechanism: ClassVar[str] = "oue"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "1.0"),
        "epsilon_forever": Written(epsilon.wanted, "4.0"),
        "per": Written(check_per, '"bit"'),
    }

    def __post_init__(self) -> None:
        _validate.integer("bits", "oue", self.bits, 2, MAX_BITS)
        self._check_stages()

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` (with `epsilon_forever` for a permanent stage) and, of sets, `per`."""
        members = members_of("oue", wanted, domain)
        bits = _bits(domain, absent, members)
        if "epsilon" not in wanted:
            raise InvalidParameter("oue needs 'epsilon'.", "Add epsilon = 1.0.")
        pairs = set_exponents(bits, members)[0] if members else 1
        once = epsilon.wanted("epsilon", "oue", wanted["epsilon"])
        if "epsilon_forever" not in wanted:
            return cls(bits, *_one_stage(_share("epsilon", once, pairs)), members)
        forever = epsilon.wanted("epsilon_forever", "oue", wanted["epsilon_forever"])
        shares = (_share("epsilon", once, pairs), _share("epsilon_forever", forever, pairs))
        if not shares[0] < shares[1]:
            raise InvalidParameter(
                "The 'epsilon_forever' parameter of oue must be greater than 'epsilon'.",
                "Raise it, or leave it out for a question that is answered once.",
            )
        return cls(bits, *_two_stages(*shares), members)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        if set(data) - {"members"} != _PUBLISHED:
            raise InvalidParameter(f"oue has {', '.join(sorted(_PUBLISHED))}.")
        bits = _validate.integer("bits", "oue", data["bits"], 2, MAX_BITS)
        return cls(bits, *read_stages(data), read_members("oue", data))

    def published(self) -> dict[str, Json]:
        """Return the integers, thresholds as strings."""
        return {"bits": self.bits, **self._published_stages(), **self._published_members()}

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must have exactly as many answers as there are bits."""
        check_members("oue", self.members, domain)
        if self.bits != _bits(domain, absent, self.members):
            raise InvalidParameter("oue must have a bit for each of the domain's answers.")

    @cached_property
    def layout(self) -> Layout:
        """ceil(k / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8)."""
        return Layout((Item("bits", 1, (self.bits + 7) // 8),))

    def check_record(self, record: bytes) -> None:
        """The padding bits must be zero."""
        self._check_padding(self.layout.unpack(record)["bits"])

    @property
    def exponents(self) -> tuple[int, int]:
        """1 and 1, since two answers differ in two bits; for sets, see `set_exponents`."""
        return set_exponents(self.bits, self.members) if self.members else (1, 1)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one)."""
        return self.q_star, self.p_star


def _bits(domain: Domain, absent: bool, members: int) -> int:
    count = answers_of(domain, absent)
    if count is None:
        raise InvalidParameter(
            "oue needs a closed domain: boolean, categories, numbers or set.",
            'Use mechanism = "rappor" or "olh" for strings.',
        )
    return count - 1 if members else count  # a bit per member needs none for "none of them"


def _share(name: str, micros: int, pairs: int) -> int:
    """Return the part of epsilon of each pair of bits that can differ, in micros, rounded down."""
    if micros < pairs:
        raise InvalidParameter(
            f"The '{name}' parameter of oue must be at least {epsilon.as_float(pairs):f} for "
            f"{pairs} members.",
            "Raise it.",
        )
    return micros // pairs


def _zero(micros: int) -> int:
    """Return the threshold of 1/(E + 1), rounded up: beside 1/2 the ratio is (1 - q)/q."""
    zero = ceil_threshold(1 / (epsilon.exp_micros(micros) + 1))
    while not epsilon.within(Fraction(ONE - zero, zero), micros):
        zero += 1
    return zero


def _one_stage(micros: int) -> TwoStage:
    return TwoStage(ONE, 0, _HALF, _zero(micros))


def _two_stages(once: int, forever: int) -> TwoStage:
    permanent = _zero(forever)
    # p2 = (1 - q1 - q*)/(1 - 2 q1), with q1 = flip and q* = other (docs/mathematics.md, section 6).
    flip, other = as_fraction(permanent), 1 / (epsilon.exp_micros(once) + 1)
    # Where the two epsilons differ by a few micros, the probability can come out a hair above 1.
    report = min(ONE, floor_threshold((1 - flip - other) / (1 - 2 * flip)))
    while not epsilon.within(_ratio(flip, as_fraction(report)), once):
        report -= 1
    return TwoStage(_HALF, permanent, report, ONE - report)


def _ratio(flip: Fraction, report: Fraction) -> Fraction:
    """Return (1 - q)/q of the chain; its other probability is 1/2 whatever `report` is."""
    q = flip * report + (1 - flip) * (1 - report)
    return (1 - q) / q
