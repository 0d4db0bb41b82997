"""n-grams: the whole string and some of its n-grams, each as a Bloom report [FPE16, section 4].

Model: a string of at most M characters is filled up with a padding character and cut at P places,
`step` characters apart, into n-grams of n characters:

    P = ceil(max(0, M - n) / step) + 1,     n-gram i = characters i step, ..., i step + n - 1.

A device draws once for ever r of the P places and a cohort, and reports the whole string and the r
n-grams at those places, each through one-time RAPPOR (protocol/rappor.py) in that cohort, with

    epsilon = epsilon(whole) + r epsilon(n-gram).

Neither places nor cohort depend on the string, and the coins of the r + 1 parts are independent;
so the largest ratio is the product of the parts', reached by two strings that share no n-gram.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon
from deniable.protocol.declared import threshold, whole
from deniable.protocol.domain import ABSENT_KEY, MAX_LENGTH, Answer, Domain, Strings
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, number, packed
from deniable.protocol.parameters import Parameters
from deniable.protocol.rappor import MAX_COHORTS, MAX_HASHES, RapporParameters
from deniable.protocol.thresholds import ONE
from deniable.protocol.unary import worst_ratio

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Product, Public

PADDING = "\0"
"""Fills a string up to the end of its last n-gram."""
MAX_BITS = 4_096
MAX_CHOICES = 65_536
"""The most ways to choose the places of a report: their number is a u16."""
MAX_DICTIONARY = 10_000_000
"""The most possible n-grams of a question: a collector estimates every one at every place."""


@frozen
class NGramsParameters(Parameters):
    """The integers of n-grams.

    Attributes:
        length: M, the most characters of a string, as its domain says.
        n: characters of an n-gram.
        step: from the start of one n-gram to that of the next; below n they overlap.
        grams: r, how many n-grams a device reports.
        bits, hashes, cohorts: k, h and m of every part.
        whole_one, whole_zero: thresholds of a reported 1, for a set bit and another one, in the
            report of the whole string.
        gram_one, gram_zero: the same in those of n-grams.
    """

    length: int = whole(1, MAX_LENGTH)
    n: int = whole(1, MAX_LENGTH)
    step: int = whole(1, MAX_LENGTH)
    grams: int = whole(1, MAX_LENGTH)
    bits: int = whole(2, MAX_BITS)
    hashes: int = whole(1, MAX_HASHES)
    cohorts: int = whole(1, MAX_COHORTS)
    whole_one: int = threshold()
    whole_zero: int = threshold()
    gram_one: int = threshold()
    gram_zero: int = threshold()

    mechanism: ClassVar[str] = "ngrams"
    told_by: ClassVar[str] = "cohort and choice of places"

    def _check(self) -> None:
        if self.step > self.n:
            raise _validate.invalid("step", "ngrams", f"at most n = {self.n}", self.step)
        least = min(2, self.places)
        if not least <= self.grams <= self.places:
            must = f"from {least} to {self.places}, the number of places"
            raise _validate.invalid("grams", "ngrams", must, self.grams)
        if self.choices > MAX_CHOICES:
            raise InvalidParameter(
                f"ngrams can choose {self.grams} of {self.places} places in {self.choices:,} ways. "
                f"At most {MAX_CHOICES:,} are allowed.",
                "Lower 'grams' or 'length', or raise 'n' and 'step'.",
            )
        _ = self.whole, self.gram  # both check their parts

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must be strings over an alphabet without U+0000, of the same length."""
        if strings_of(domain).length != self.length:
            raise InvalidParameter("ngrams must have the 'length' of its domain.")

    @cached_property
    def layout(self) -> Layout:
        """Places, u16; cohort, u16; then ceil(k / 8) bytes for each of the r + 1 parts."""
        parts = (packed(f"bits_{i}", self.bits) for i in range(self.grams + 1))
        shown = number("places", self.choices, 2), number("cohort", self.cohorts, 2)
        return Layout((*shown, *parts))

    @property
    def places(self) -> int:
        """P, the number of n-grams of a string."""
        return places_of(self.length, self.n, self.step)

    @property
    def choices(self) -> int:
        """The number of ways to choose r of the P places."""
        return comb(self.places, self.grams)

    @property
    def told_apart(self) -> int:
        """The number of classes of devices that reports tell apart: choices times cohorts."""
        return self.choices * self.cohorts

    @cached_property
    def chosen(self) -> tuple[tuple[int, ...], ...]:
        """The places of every choice, rising: the choices in lexicographic order."""
        return tuple(combinations(range(self.places), self.grams))

    @cached_property
    def whole(self) -> RapporParameters:
        """The RAPPOR parameters of the whole string."""
        return self._part(self.whole_one, self.whole_zero)

    @cached_property
    def gram(self) -> RapporParameters:
        """The RAPPOR parameters of an n-gram."""
        return self._part(self.gram_one, self.gram_zero)

    def _part(self, one: int, zero: int) -> RapporParameters:
        return RapporParameters("bloom", self.bits, self.hashes, self.cohorts, ONE, 0, one, zero)

    def gram_of(self, text: str, place: int) -> str:
        """Return the n-gram of a string at a place."""
        start = place * self.step
        return text[start : start + self.n].ljust(self.n, PADDING)

    def parts(self, answer: Answer, places: tuple[int, ...]) -> list[Answer]:
        """Return the reported parts of an answer: the whole, then the n-grams at these places."""
        if answer.key == ABSENT_KEY:
            return [answer] * (1 + len(places))
        text = answer.key[1:].decode("utf-8")
        grams = (self.gram_of(text, place) for place in places)
        return [answer, *(Answer(b"s" + gram.encode("utf-8")) for gram in grams)]

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """q* and p* of the whole string's report."""
        return self.whole.support

    @cached_property
    def epsilon_once(self) -> int:
        """The product of the parts' largest ratios."""
        whole, gram = (
            worst_ratio(part.q_star, part.p_star, *part.exponents)
            for part in (self.whole, self.gram)
        )
        return epsilon.epsilon_of(whole * gram**self.grams)

    finds: ClassVar[bool] = True

    @cached_property
    def channel(self) -> Channel:
        """Places and a cohort for ever, then a row of bits of the whole string and each n-gram."""
        from deniable.protocol.channel import Channel, uniform

        places = uniform("places", self.choices, permanent=True)
        cohort = uniform("cohort", self.cohorts, permanent=True)
        return Channel((places, cohort), self._rest(), self._own, self.layout)

    def _rest(self) -> Product:
        from deniable.protocol.channel import Bits, Product

        shapes = (self.whole, *(self.gram,) * self.grams)
        sizes = (self.bits, self.hashes, self.hashes)
        return Product(tuple(Bits(shape.q_star, shape.p_star, *sizes) for shape in shapes))

    def _own(self, answer: Answer, public: Public) -> tuple[int, ...]:
        from deniable.protocol.channel import as_mask

        choice, cohort = public
        parts = self.parts(answer, self.chosen[choice])
        return tuple(as_mask(self.whole.places(part, cohort)) for part in parts)


def places_of(length: int, n: int, step: int) -> int:
    """Return P, the number of n-grams of a string."""
    return -(-max(0, length - n) // step) + 1


def possible_grams(letters: int, n: int) -> int:
    """Return the number of possible n-grams: of letters alone, or with padding behind them."""
    return sum(letters**size for size in range(n + 1))


def strings_of(domain: Domain) -> Strings:
    """Return the domain if its strings have n-grams, else raise InvalidParameter."""
    if isinstance(domain, Strings) and domain.alphabet and PADDING not in domain.alphabet:
        return domain
    raise InvalidParameter(
        "ngrams needs strings with a declared alphabet, without U+0000, and length.",
        'For example domain = { type = "strings", alphabet = "abcdefghijklmnopqrstuvwxyz", '
        "length = 20 }.",
    )
