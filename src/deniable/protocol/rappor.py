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

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon
from deniable.protocol.canonical import Json
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import bloom_bits
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Written, answers_of
from deniable.protocol.permuting import ranks
from deniable.protocol.rappor_tuning import from_epsilon, from_letters
from deniable.protocol.unary import (
    STAGES,
    UnaryParameters,
    check_members,
    check_per,
    members_of,
    read_members,
    read_stages,
    set_exponents,
)

MAX_BITS = MAX_CATEGORIES + 1
MAX_HASHES = 16
MAX_COHORTS = 65_536
LETTERS = {"k": "bits", "h": "hashes", "m": "cohorts"}
FORMS = ("bloom", "permuted", "basic")
_PUBLISHED = {"form", "bits", "hashes", "cohorts", *STAGES}


def _bits(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_BITS)


def _hashes(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_HASHES)


def _cohorts(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_COHORTS)


def _form(name: str, owner: str, value: object) -> str:
    if not (isinstance(value, str) and value in FORMS):
        raise _validate.invalid(name, owner, "'bloom', 'permuted' or 'basic'", value)
    return value


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

    form: str
    bits: int
    hashes: int
    cohorts: int
    permanent_one: int
    permanent_zero: int
    report_one: int
    report_zero: int
    members: int = 0
    answers: int = 0

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
        "per": Written(check_per, '"bit"'),
        "form": Written(_form, '"permuted"'),
    }

    def __post_init__(self) -> None:
        _form("form", "rappor", self.form)
        _bits("bits", "rappor", self.bits)
        _hashes("hashes", "rappor", self.hashes)
        _cohorts("cohorts", "rappor", self.cohorts)
        if self.form == "basic" and (self.hashes, self.cohorts) != (1, 1):
            raise InvalidParameter("Basic rappor has one hash and one cohort.")
        if self.form != "basic" and self.bits < 2:
            must = f"2 or more in the {self.form} form"
            raise _validate.invalid("bits", "rappor", must, self.bits)
        if self.form == "permuted":
            _validate.integer("answers", "rappor", self.answers, 2, MAX_CATEGORIES + 1)
        if self.members and (self.form != "basic" or self.bits < 2):
            raise InvalidParameter("rappor of a bit per member must be basic, of 2 bits or more.")
        self._check_stages()

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read f, p, q, or the wanted `epsilon` (with `epsilon_forever` for a permanent stage).

        Strings take the bloom form with k, h and m (by default 128, 1 and 64); closed domains
        take the basic form, whose k follows from the domain, or where `form` says so the permuted
        one with k, h and m (k is 16, or the number of answers if they are fewer).
        """
        named = {LETTERS.get(name, name): value for name, value in wanted.items()}
        if len(named) < len(wanted):
            raise InvalidParameter(
                "rappor takes k, h, m or bits, hashes, cohorts, not both.", "Remove one of each."
            )
        members = members_of("rappor", named, domain)
        shape = _shape(named, domain, absent, members)
        probabilities = named.keys() & {"f", "p", "q"}
        if probabilities and named.keys() & {"epsilon", "epsilon_forever"}:
            raise InvalidParameter(
                "rappor takes either f, p and q, or epsilon, not both.", "Remove one or the other."
            )
        differ = _exponents(*shape[1:3], members)
        stages = from_letters(named) if probabilities else from_epsilon(named, *differ)
        permuted = answers_of(domain, absent) if shape[0] == "permuted" else None
        return cls(*shape, *stages, members, permuted or 0)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        permuted = {"answers"} if data.get("form") == "permuted" else set()
        if set(data) - {"members"} != _PUBLISHED | permuted:
            raise InvalidParameter(f"rappor has {', '.join(sorted(_PUBLISHED | permuted))}.")
        return cls(
            str(data["form"]),
            _bits("bits", "rappor", data["bits"]),
            _hashes("hashes", "rappor", data["hashes"]),
            _cohorts("cohorts", "rappor", data["cohorts"]),
            *read_stages(data),
            read_members("rappor", data),
            _validate.integer("answers", "rappor", data.get("answers", 0), 0, MAX_CATEGORIES + 1),
        )

    def published(self) -> dict[str, Json]:
        """Return the integers, thresholds as strings."""
        return {
            "form": self.form,
            "bits": self.bits,
            "hashes": self.hashes,
            "cohorts": self.cohorts,
            **self._published_stages(),
            **self._published_members(),
            **({"answers": self.answers} if self.form == "permuted" else {}),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Strings need the bloom form; a closed domain the basic one, with a bit per answer."""
        check_members("rappor", self.members, domain)
        if domain.size is None:
            if self.form != "bloom":
                raise InvalidParameter("rappor of strings must have the bloom form.")
        elif self.form == "permuted":
            if answers_of(domain, absent) != self.answers:
                raise InvalidParameter("rappor must permute exactly the answers of its domain.")
        elif self.form != "basic" or self.bits != _basic_bits(domain, absent, self.members):
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
        self._check_padding(bits)

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
        return _exponents(self.bits, self.hashes, self.members)


def _exponents(bits: int, hashes: int, members: int) -> tuple[int, int]:
    if members:
        return set_exponents(bits, members)
    return (1, 0) if bits == 1 else (hashes, hashes)


def _basic_bits(domain: Domain, absent: bool, members: int) -> int:
    """Return the bits of the basic form: one for a plain boolean, else one per answer.

    Where each member of a set has a bit, there is none for "none of them".
    """
    count = answers_of(domain, absent)
    if count is None:
        raise InvalidParameter("Basic rappor needs a closed domain.")
    if members:
        return count - 1
    return 1 if domain.kind == "boolean" and not absent else count


def _shape(
    named: Mapping[str, object], domain: Domain, absent: bool, members: int
) -> tuple[str, int, int, int]:
    """Return form, k, h and m."""
    form = named.get("form", "bloom" if domain.size is None else "basic")
    if (form == "bloom") != (domain.size is None) or (members and form != "basic"):
        raise InvalidParameter(
            f"rappor cannot have the form {form!r:.20} here: strings have 'bloom', closed domains "
            "'basic' or 'permuted'.",
            "Leave 'form' out, or change it.",
        )
    if form == "basic":
        bits = _basic_bits(domain, absent, members)
        for name, value in (("bits", bits), ("hashes", 1), ("cohorts", 1)):
            if named.get(name, value) != value:
                raise _validate.invalid(
                    name, "rappor", f"{value} for this closed domain, or left out", named[name]
                )
        return "basic", bits, 1, 1
    usual = 128 if form == "bloom" else min(16, answers_of(domain, absent) or 2)
    return (
        str(form),
        _validate.integer("bits (k)", "rappor", named.get("bits", usual), 2, MAX_BITS),
        _hashes("hashes (h)", "rappor", named.get("hashes", 1)),
        _cohorts("cohorts (m)", "rappor", named.get("cohorts", 64)),
    )
