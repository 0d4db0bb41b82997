"""Prefix growth: one report per person, of a beginning of the string; parameters and record.

Model: a device belongs to one of several groups, drawn once for ever with integer weights from its
secret. Group l < G, a *level*, reports the beginning of the string up to that level's length; the
last group, *verification*, reports the whole string. What is reported is a sequence of symbols,
hashed to a point of a projective geometry and randomised as in protocol/pgr.py with the whole
epsilon. Neither group nor cohort depends on the string, so that the epsilon is that of the point,

    epsilon = ln[(keep / c_set) / ((1 - keep) / q^(t-1))].

Without a coding model the symbols of a level are the string's first characters, with an end symbol
where the string is shorter than the level. With one, they are pieces of the string's arithmetic
code (protocol/coding.py), cut at the levels' lengths in binary digits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, ClassVar

from deniable.errors import InvalidParameter
from deniable.protocol.coding import Coder, first_digits
from deniable.protocol.coding_model import MAX_TYPICAL, CharacterModel
from deniable.protocol.declared import encoded, many, threshold, whole
from deniable.protocol.domain import ABSENT_KEY, MAX_LENGTH, Answer, Domain, Strings
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import GOLDEN, MASK, fingerprint, hash_word, mix, reduce_to
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import Parameters
from deniable.protocol.pgr import (
    MAX_COHORTS,
    MAX_DIMENSION,
    MAX_PRIME,
    PGRParameters,
)

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MAX_GROUPS = 255
MAX_WEIGHT = 2**16
END = 0x110000
"""The symbol that ends a string that is shorter than a level: one more than any code point."""
FIRST_INDEX = 6 << 40
"""The hash function of group g and cohort c has this number plus 2^16 g plus c."""


@frozen
class PrefixesParameters(Parameters):
    """The integers of prefix growth.

    Attributes:
        length: the most characters of a string, as its domain says.
        lengths: of the levels, rising: characters, or binary digits with a coding model.
        weights: of the groups, the levels' and last the verification group's.
        model: the coding model's bytes; empty without one.
        prime, dimension, cohorts, keep: of the points, as in pgr; cohorts are those of a group.
    """

    length: int = whole(1, MAX_LENGTH)
    lengths: tuple[int, ...] = many(
        whole(1, MAX_TYPICAL), 1, MAX_GROUPS - 1, "rising integers", rising=True
    )
    weights: tuple[int, ...] = many(whole(1, MAX_WEIGHT), 2, MAX_GROUPS, "weights of groups")
    model: bytes = encoded()
    prime: int = whole(2, MAX_PRIME)
    dimension: int = whole(2, MAX_DIMENSION)
    cohorts: int = whole(1, MAX_COHORTS)
    keep: int = threshold()

    mechanism: ClassVar[str] = "prefixes"
    told_by: ClassVar[str] = "group and cohort"

    def _check(self) -> None:
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

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must be strings over the model's alphabet, of the same greatest length."""
        strings = strings_of(domain)
        if strings.length != self.length:
            raise InvalidParameter("prefixes must have the 'length' of its domain.")
        if self.coder is not None and self.coder.model.letters != strings.letters:
            raise InvalidParameter(
                "The 'model' parameter of prefixes was trained for another alphabet.",
                "Train it again with the alphabet of the domain.",
            )

    @cached_property
    def layout(self) -> Layout:
        """Group, u8; cohort, u16; point, u32."""
        shown = number("group", self.groups), number("cohort", self.cohorts, 2)
        return Layout((*shown, number("point", self.oracle.points, 4)))

    @cached_property
    def oracle(self) -> PGRParameters:
        """The frequency oracle of a point: projective geometry response."""
        return PGRParameters("hashed", 0, self.prime, self.dimension, self.cohorts, self.keep)

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
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's point), and P(it supports a given other string)."""
        return self.oracle.support

    @property
    def epsilon_once(self) -> int:
        """The epsilon of the point: neither group nor cohort depends on the answer."""
        return self.oracle.epsilon_once

    finds: ClassVar[bool] = True

    @cached_property
    def channel(self) -> Channel:
        """A group by its weight and a cohort, both for ever, then a point of the beginning."""
        from deniable.protocol.channel import Channel, Number, uniform

        law = tuple((1, Fraction(weight, self.total_weight)) for weight in self.weights)
        group = Number("group", law, permanent=True)
        cohort = uniform("cohort", self.cohorts, permanent=True)
        return Channel((group, cohort), self.oracle.channel.typical, self._own, self.layout)

    def _own(self, answer: Answer, public: Public) -> int:
        return self.point(answer, *public)


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


def strings_of(domain: Domain) -> Strings:
    """Return the domain if its strings can be grown, else raise InvalidParameter."""
    if isinstance(domain, Strings) and domain.alphabet:
        return domain
    raise InvalidParameter(
        "prefixes needs strings with a declared alphabet and length.",
        'For example domain = { type = "strings", alphabet = "abcdefghijklmnopqrstuvwxyz", '
        "length = 20 }.",
    )
