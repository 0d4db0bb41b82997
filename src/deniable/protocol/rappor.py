"""RAPPOR: parameters, epsilon and wire record [EPK14].

Model: an answer sets bits of a k-bit array B: in the *bloom* form, h bits chosen by the hash
functions of the client's cohort; in the *basic* form, its own bit (a boolean has one bit, set for
yes). Each bit then passes two stages:

    P(B'_i = 1) = permanent_one if B_i else permanent_zero        the same B' for ever
    P(S_i  = 1) = report_one if B'_i else report_zero             fresh in every report

where, in the paper's letters, permanent_one = 1 - f/2, permanent_zero = f/2, report_one = q and
report_zero = p. One-time forms leave a stage out: f = 0, or p = 0 and q = 1.

The chain has q* = P(S_i = 1 | B_i = 1) and p* = P(S_i = 1 | B_i = 0). Two answers differ in at most
h bits that go from 1 to 0 and h that go from 0 to 1, so that

    eps_forever = h ln[(1 - f/2)^2 / (f/2)^2]        [EPK14, theorem 1]
    eps_once    = h ln[q* (1 - p*) / (p* (1 - q*))]  [EPK14, theorem 2]

and a single yes/no bit, of which only one can differ, costs the larger of its two factors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import MAX_CATEGORIES, Domain
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written, answers_of
from deniable.protocol.rappor_tuning import from_epsilon, from_letters

MAX_BITS = MAX_CATEGORIES + 1
MAX_HASHES = 16
MAX_COHORTS = 65_536
LETTERS = {"k": "bits", "h": "hashes", "m": "cohorts"}
_THRESHOLDS = ("permanent_one", "permanent_zero", "report_one", "report_zero")
_PUBLISHED = {"form", "bits", "hashes", "cohorts", *_THRESHOLDS}


def _bits(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_BITS)


def _hashes(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_HASHES)


def _cohorts(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_COHORTS)


@dataclass(frozen=True)
class RapporParameters(Parameters):
    """The integers of RAPPOR.

    Attributes:
        form: "bloom" (hashed strings, cohorts) or "basic" (one bit per answer, one cohort).
        bits: k. hashes: h. cohorts: m. Basic has h = m = 1.
        permanent_one, permanent_zero, report_one, report_zero: 64-bit thresholds, as above.
    """

    form: str
    bits: int
    hashes: int
    cohorts: int
    permanent_one: int
    permanent_zero: int
    report_one: int
    report_zero: int

    mechanism: ClassVar[str] = "rappor"
    authored: ClassVar[Mapping[str, Written]] = {
        **dict.fromkeys(("k", "bits"), Written(_bits, "128")),
        **dict.fromkeys(("h", "hashes"), Written(_hashes, "2")),
        **dict.fromkeys(("m", "cohorts"), Written(_cohorts, "64")),
        "f": Written(_validate.probability, "0.5"),
        "p": Written(_validate.probability, "0.5"),
        "q": Written(_validate.probability, "0.75"),
        "epsilon": Written(epsilon.wanted, "1.0"),
        "epsilon_forever": Written(epsilon.wanted, "4.0"),
    }

    def __post_init__(self) -> None:
        if self.form not in ("bloom", "basic"):
            raise _validate.invalid("form", "rappor", "'bloom' or 'basic'", self.form)
        _bits("bits", "rappor", self.bits)
        _hashes("hashes", "rappor", self.hashes)
        _cohorts("cohorts", "rappor", self.cohorts)
        if self.form == "basic" and (self.hashes, self.cohorts) != (1, 1):
            raise InvalidParameter("Basic rappor has one hash and one cohort.")
        if self.form == "bloom" and self.bits < 2:
            raise _validate.invalid("bits", "rappor", "2 or more in the bloom form", self.bits)
        for name in _THRESHOLDS:
            _validate.integer(name, "rappor", getattr(self, name), 0, thresholds.ONE)
        if not (self.permanent_one > self.permanent_zero and self.report_one > self.report_zero):
            raise InvalidParameter(
                "rappor needs q > p and f < 1: otherwise a report says nothing about the answer.",
                "Raise q or 'epsilon', or lower p or f.",
            )
        if not (self.p_star > 0 and self.q_star < 1):
            raise InvalidParameter(
                "rappor would sometimes reveal the answer for certain.",
                "Raise p above 0 and keep q below 1, or raise f above 0.",
            )

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read f, p, q, or the wanted `epsilon` (with `epsilon_forever` for a permanent stage).

        Strings take the bloom form with k, h and m (128, 1 and 64 unless said); closed domains
        take the basic form, whose k follows from the domain.
        """
        named = {LETTERS.get(name, name): value for name, value in wanted.items()}
        if len(named) < len(wanted):
            raise InvalidParameter(
                "rappor takes k, h, m or bits, hashes, cohorts, not both.", "Remove one of each."
            )
        form, bits, hashes, cohorts = _shape(named, domain, absent)
        single = bits == 1
        probabilities = named.keys() & {"f", "p", "q"}
        if probabilities and named.keys() & {"epsilon", "epsilon_forever"}:
            raise InvalidParameter(
                "rappor takes either f, p and q, or epsilon, not both.", "Remove one or the other."
            )
        stages = from_letters(named) if probabilities else from_epsilon(named, hashes, single)
        return cls(form, bits, hashes, cohorts, *stages)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        if set(data) != _PUBLISHED:
            raise InvalidParameter(f"rappor has {', '.join(sorted(_PUBLISHED))}.")
        return cls(
            str(data["form"]),
            _bits("bits", "rappor", data["bits"]),
            _hashes("hashes", "rappor", data["hashes"]),
            _cohorts("cohorts", "rappor", data["cohorts"]),
            *(thresholds.from_text(name, data[name]) for name in _THRESHOLDS),
        )

    def published(self) -> dict[str, Json]:
        """Return the integers, thresholds as strings."""
        return {
            "form": self.form,
            "bits": self.bits,
            "hashes": self.hashes,
            "cohorts": self.cohorts,
            **{name: thresholds.to_text(getattr(self, name)) for name in _THRESHOLDS},
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Strings need the bloom form; a closed domain the basic one, with a bit per answer."""
        if domain.size is None:
            if self.form != "bloom":
                raise InvalidParameter("rappor of strings must have the bloom form.")
        elif self.form != "basic" or self.bits != _basic_bits(domain, absent):
            raise InvalidParameter("rappor of a closed domain must be basic, a bit per answer.")

    @cached_property
    def layout(self) -> Layout:
        """Cohort, u16; then ceil(k / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8)."""
        return Layout((Item("cohort", 2), Item("bits", 1, (self.bits + 7) // 8)))

    def check_record(self, record: bytes) -> None:
        """The cohort must be below m and the padding bits zero."""
        values = self.layout.unpack(record)
        cohort, bits = values["cohort"], values["bits"]
        if not (isinstance(cohort, int) and cohort < self.cohorts):
            raise InvalidReport("record", f"The cohort must be below {self.cohorts}.")
        if self.bits % 8 and isinstance(bits, bytes) and bits[-1] >> (self.bits % 8):
            raise InvalidReport("record", "The padding bits of the last byte must be zero.")

    @property
    def memoised(self) -> bool:
        """Whether there is a permanent stage."""
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
        one = thresholds.as_fraction(permanent)
        report_one = thresholds.as_fraction(self.report_one)
        return one * report_one + (1 - one) * thresholds.as_fraction(self.report_zero)

    @cached_property
    def epsilon_once(self) -> int:
        """Theorem 2, or the larger factor of a single bit."""
        return epsilon.epsilon_of(
            worst_ratio(self.q_star, self.p_star, self.hashes, self.bits == 1)
        )

    @cached_property
    def epsilon_forever(self) -> int | None:
        """Theorem 1, or the larger factor of a single bit."""
        if not self.memoised:
            return None
        one = thresholds.as_fraction(self.permanent_one)
        zero = thresholds.as_fraction(self.permanent_zero)
        return epsilon.epsilon_of(worst_ratio(one, zero, self.hashes, self.bits == 1))


def worst_ratio(one: Fraction, zero: Fraction, hashes: int, single: bool) -> Fraction:
    """Return the largest ratio of the probabilities of one bit array under two answers."""
    up, down = one / zero, (1 - zero) / (1 - one)
    return max(up, down) if single else (up * down) ** hashes


def _basic_bits(domain: Domain, absent: bool) -> int:
    """Return the bits of the basic form: one for a plain boolean, else one per answer."""
    count = answers_of(domain, absent)
    if count is None:
        raise InvalidParameter("Basic rappor needs a closed domain.")
    return 1 if domain.kind == "boolean" and not absent else count


def _shape(named: Mapping[str, object], domain: Domain, absent: bool) -> tuple[str, int, int, int]:
    """Return form, k, h and m."""
    if domain.size is not None:
        bits = _basic_bits(domain, absent)
        for name, value in (("bits", bits), ("hashes", 1), ("cohorts", 1)):
            if named.get(name, value) != value:
                raise _validate.invalid(
                    name, "rappor", f"{value} for this closed domain, or left out", named[name]
                )
        return "basic", bits, 1, 1
    return (
        "bloom",
        _validate.integer("bits (k)", "rappor", named.get("bits", 128), 2, MAX_BITS),
        _hashes("hashes (h)", "rappor", named.get("hashes", 1)),
        _cohorts("cohorts (m)", "rappor", named.get("cohorts", 64)),
    )
