"""Prefix growth: one report per person, of a beginning of the string; parameters and record.

Model: a device belongs to one of several groups, drawn once for ever with integer weights from its
secret. Group l < G, a *level*, reports the beginning of the string up to that level's length; the
last group, *verification*, reports the whole string. What is reported is a sequence of symbols,
hashed to a point of a projective geometry and randomised as in protocol/pgr.py with the whole
epsilon. Neither group nor cohort depends on the string, so that the epsilon is that of the point,

    epsilon = ln[(inside / c_set) / ((1 - inside) / q^(t-1))].

Without a coding model the symbols of a level are the string's first characters, with an end symbol
where the string is shorter than the level. With one, they are pieces of the string's arithmetic
code (protocol/coding.py), cut at the levels' lengths in binary digits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, prefixes_plan, thresholds
from deniable.protocol.canonical import Json, from_base64url, to_base64url
from deniable.protocol.coding import Coder, first_digits
from deniable.protocol.coding_model import MAX_TYPICAL, CharacterModel
from deniable.protocol.domain import ABSENT_KEY, MAX_LENGTH, Answer, Domain, Strings
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import GOLDEN, MASK, fingerprint, hash_word, mix, reduce_to
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written
from deniable.protocol.pgr import MOST_HASHED_POINTS, PGRParameters, best_geometry, odds_of
from deniable.protocol.truth_thresholds import truth_threshold

MAX_GROUPS = 255
MAX_WEIGHT = 2**16
END = 0x110000
"""The symbol that ends a string that is shorter than a level: one more than any code point."""
FIRST_INDEX = 6 << 40
"""The hash function of group g and cohort c has this number plus 2^16 g plus c."""

_LAYOUT = Layout((Item("group", 1), Item("cohort", 2), Item("point", 4)))
_PUBLISHED = {
    "length", "lengths", "weights", "model", "prime", "dimension", "cohorts", "inside",
}  # fmt: skip


def _model(name: str, owner: str, value: object) -> object:
    if isinstance(value, bytes) or (isinstance(value, str) and value):
        return value
    raise _validate.invalid(name, owner, "the name of a model file", value)


def _lengths(name: str, owner: str, value: object) -> tuple[int, ...]:
    listed = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()
    lengths = tuple(_validate.integer(name, owner, each, 1, MAX_TYPICAL) for each in listed)
    rising = all(low < high for low, high in pairwise(lengths))
    if not (rising and 1 <= len(lengths) < MAX_GROUPS):
        raise _validate.invalid(
            name, owner, f"a list of 1 to {MAX_GROUPS - 1} rising integers", value
        )
    return lengths


def _weights(name: str, owner: str, value: object) -> tuple[int, ...]:
    listed = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ()
    if not 2 <= len(listed) <= MAX_GROUPS:
        raise _validate.invalid(name, owner, "one integer per group", value)
    return tuple(_validate.integer(name, owner, each, 1, MAX_WEIGHT) for each in listed)


def _decoded(model: object) -> bytes:
    try:
        if isinstance(model, str):
            return from_base64url(model)
    except InvalidParameter:
        pass  # one message for both
    raise _validate.invalid("model", "prefixes", "base64url without padding", model)


def _share(name: str, owner: str, value: object) -> float:
    return _validate.between(name, owner, value, "0.01", "0.9")


def _people(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, 10**10)


def _cohorts(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, 65_536)


def _points(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 2, MOST_HASHED_POINTS // 4)


@frozen
class PrefixesParameters(Parameters):
    """The integers of prefix growth.

    Attributes:
        length: the most characters of a string, as its domain says.
        lengths: of the levels, rising: characters, or binary digits with a coding model.
        weights: of the groups, the levels' and last the verification group's.
        model: the coding model's bytes; empty without one.
        prime, dimension, cohorts, inside: of the points, as in pgr; cohorts are those of a group.
    """

    length: int
    lengths: tuple[int, ...]
    weights: tuple[int, ...]
    model: bytes
    prime: int
    dimension: int
    cohorts: int
    inside: int

    mechanism: ClassVar[str] = "prefixes"
    told_by: ClassVar[str] = "group and cohort"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "1.0"),
        "people": Written(_people, "1000000"),
        "model": Written(_model, '"names.model"'),
        "lengths": Written(_lengths, "[4, 6, 8, 10]"),
        "verification": Written(_share, "0.15"),
        "cohorts": Written(_cohorts, "32"),
        "points": Written(_points, "8192"),
    }

    def __post_init__(self) -> None:
        _validate.integer("length", "prefixes", self.length, 1, MAX_LENGTH)
        _lengths("lengths", "prefixes", self.lengths)
        _weights("weights", "prefixes", self.weights)
        if len(self.weights) != len(self.lengths) + 1:
            raise InvalidParameter(
                "prefixes needs a weight for each level, and one for verification."
            )
        if not self.model and self.lengths[-1] != self.length:
            raise InvalidParameter(
                f"prefixes must have levels up to the strings' length, {self.length}. "
                f"Got {self.lengths[-1]}.",
                "Let the levels reach the end of the longest string.",
            )
        _ = self.oracle, self.coder  # both check their parts

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`; choose levels, sizes and cohorts for `people` unless they are given.

        `model` holds the model's bytes here; a survey names a file (`prefixes_plan.Authored`).
        """
        if "epsilon" not in wanted:
            raise InvalidParameter("prefixes needs 'epsilon'.", "Add epsilon = 1.0.")
        strings = _strings_of(domain)
        model = wanted.get("model", b"")
        if not isinstance(model, bytes):
            raise _validate.invalid("model", "prefixes", "the bytes of a coding model", model)
        typical = CharacterModel.from_bytes(model).typical if model else 0
        people = _people("people", "prefixes", wanted.get("people", prefixes_plan.PEOPLE))
        verification = wanted.get("verification")
        if verification is not None:
            verification = _share("verification", "prefixes", verification)
        lengths = (
            _lengths("lengths", "prefixes", wanted["lengths"])
            if "lengths" in wanted
            else prefixes_plan.lengths_for(len(strings.letters), strings.length, typical)
        )
        plan = prefixes_plan.groups_for(people, len(lengths), verification)
        cohorts = _cohorts("cohorts", "prefixes", wanted.get("cohorts", plan.cohorts))
        points = _points("points", "prefixes", wanted.get("points", prefixes_plan.POINTS))
        micros = epsilon.wanted("epsilon", "prefixes", wanted["epsilon"])
        prime, dimension = best_geometry(points, micros, hashed=True, most=4 * points)
        inside = truth_threshold(odds_of(prime, dimension), micros)
        geometry = (prime, dimension, cohorts, inside)
        return cls(strings.length, lengths, plan.weights, model, *geometry)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        if set(data) != _PUBLISHED:
            raise InvalidParameter(f"prefixes has {', '.join(sorted(_PUBLISHED))}.")
        return cls(
            _validate.integer("length", "prefixes", data["length"], 1, MAX_LENGTH),
            _lengths("lengths", "prefixes", data["lengths"]),
            _weights("weights", "prefixes", data["weights"]),
            _decoded(data["model"]),
            _validate.integer("prime", "prefixes", data["prime"], 2, 65_537),
            _validate.integer("dimension", "prefixes", data["dimension"], 2, 22),
            _cohorts("cohorts", "prefixes", data["cohorts"]),
            thresholds.from_text("inside", data["inside"]),
        )

    def published(self) -> dict[str, Json]:
        """Return the integers as they stand in survey.json."""
        return {
            "length": self.length,
            "lengths": list(self.lengths),
            "weights": list(self.weights),
            "model": to_base64url(self.model),
            "prime": self.prime,
            "dimension": self.dimension,
            "cohorts": self.cohorts,
            "inside": thresholds.to_text(self.inside),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must be strings over the model's alphabet, of the same greatest length."""
        strings = _strings_of(domain)
        if strings.length != self.length:
            raise InvalidParameter("prefixes must have the 'length' of its domain.")
        if self.coder is not None and self.coder.model.letters != strings.letters:
            raise InvalidParameter(
                "The 'model' parameter of prefixes was trained for another alphabet.",
                "Train it again with the alphabet of the domain.",
            )

    @property
    def layout(self) -> Layout:
        """Group, u8; cohort, u16; point, u32."""
        return _LAYOUT

    def check_record(self, record: bytes) -> None:
        """The group must be one of the weights', the cohort below C and the point below K."""
        bounds = {"group": self.groups, "cohort": self.cohorts, "point": self.oracle.points}
        for name, value in self.layout.unpack(record).items():
            if not (isinstance(value, int) and value < bounds[name]):
                raise InvalidReport("record", f"The {name} must be below {bounds[name]}.")

    @cached_property
    def oracle(self) -> PGRParameters:
        """The frequency oracle of a point: projective geometry response."""
        return PGRParameters("hashed", 0, self.prime, self.dimension, self.cohorts, self.inside)

    @cached_property
    def coder(self) -> Coder | None:
        """The arithmetic code, where there is a model."""
        return Coder(CharacterModel.from_bytes(self.model), self.length) if self.model else None

    @property
    def groups(self) -> int:
        """The number of levels, and one."""
        return len(self.weights)

    @property
    def told_apart(self) -> int:
        """The number of classes of devices that reports tell apart: groups times cohorts."""
        return self.groups * self.cohorts

    @property
    def verification(self) -> int:
        """The group that reports whole strings: the last one."""
        return len(self.lengths)

    @cached_property
    def total_weight(self) -> int:
        """The sum of the weights: a group is drawn below it."""
        return sum(self.weights)

    def group_of(self, drawn: int) -> int:
        """Return the group to which a number below the total weight belongs."""
        return bisect_right(list(accumulate(self.weights)), drawn)

    def symbols(self, text: str, group: int) -> tuple[int, ...]:
        """Return the symbols of a string that a group reports."""
        if group == self.verification:
            return tuple(map(ord, text))
        length = self.lengths[group]
        if self.coder is not None:
            return self._pieces(self.coder.code(text), group)
        ended = (END,) if len(text) < length else ()
        return (*map(ord, text[:length]), *ended)

    def _pieces(self, code: tuple[int, int], group: int) -> tuple[int, ...]:
        """Return the first binary digits of a code, cut at the levels' lengths, a number each."""
        edges = (0, *self.lengths[: group + 1])
        digits = first_digits(code, edges[-1])
        return tuple(
            (digits >> (edges[-1] - high)) & ((1 << (high - low)) - 1)
            for low, high in pairwise(edges)
        )

    def point(self, answer: Answer, group: int, cohort: int) -> int:
        """Return the point of an answer in a group's cohort."""
        if answer.key == ABSENT_KEY:
            words = fingerprint(ABSENT_KEY)
        else:
            words = chained(self.symbols(answer.key[1:].decode("utf-8"), group))
        return reduce_to(hash_word(words, first_index(group) + cohort), self.oracle.points)

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's point), and P(it supports a given other string)."""
        return self.oracle.support

    @property
    def epsilon_once(self) -> int:
        """The epsilon of the point: neither group nor cohort depends on the answer."""
        return self.oracle.epsilon_once

    @property
    def epsilon_forever(self) -> int | None:
        """Unbounded: every report is drawn afresh."""
        return None


def chained(symbols: Sequence[int], start: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Return the two 64-bit words that stand for a sequence of symbols.

    a' = mix(a + golden (s + 1)) and b' = mix(b ^ a') for each symbol s: a sequence's words follow
    from those of its beginning, so that millions of extensions cost a few mixings each.
    """
    first, second = start
    for symbol in symbols:
        first = mix((first + GOLDEN * (symbol + 1)) & MASK)
        second = mix(second ^ first)
    return first, second


def first_index(group: int) -> int:
    """Return the number of the hash function of a group's first cohort."""
    return FIRST_INDEX | group << 16


def _strings_of(domain: Domain) -> Strings:
    if isinstance(domain, Strings) and domain.alphabet:
        return domain
    raise InvalidParameter(
        "prefixes needs strings with a declared alphabet and length.",
        'For example domain = { type = "strings", alphabet = "abcdefghijklmnopqrstuvwxyz", '
        "length = 20 }.",
    )
