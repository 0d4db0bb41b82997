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

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import ABSENT_KEY, MAX_LENGTH, Answer, Domain, Strings
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written
from deniable.protocol.rappor import MAX_COHORTS, MAX_HASHES, RapporParameters
from deniable.protocol.rappor_tuning import from_epsilon, from_letters
from deniable.protocol.thresholds import ONE
from deniable.protocol.unary import TwoStage, worst_ratio

PADDING = "\0"
"""Fills a string up to the end of its last n-gram."""
MAX_BITS = 4_096
MAX_CHOICES = 65_536
"""The most ways to choose the places of a report: their number is a u16."""
MAX_DICTIONARY = 10_000_000
"""The most possible n-grams of a question: a collector estimates every one at every place."""
STAGES = ("whole_one", "whole_zero", "gram_one", "gram_zero")
LETTERS = {"k": "bits", "h": "hashes", "m": "cohorts"}
_SIZES = ("length", "n", "step", "grams", "bits", "hashes", "cohorts")


def _n(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_LENGTH)


def _bits(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 2, MAX_BITS)


def _hashes(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_HASHES)


def _cohorts(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_COHORTS)


def _share(name: str, owner: str, value: object) -> float:
    return _validate.between(name, owner, value, "0.01", "0.99")


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

    length: int
    n: int
    step: int
    grams: int
    bits: int
    hashes: int
    cohorts: int
    whole_one: int
    whole_zero: int
    gram_one: int
    gram_zero: int

    mechanism: ClassVar[str] = "ngrams"
    told_by: ClassVar[str] = "cohort and choice of places"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "4.0"),
        "n": Written(_n, "2"),
        "step": Written(_n, "2"),
        "grams": Written(_n, "2"),
        "whole": Written(_share, "0.33"),
        **dict.fromkeys(("k", "bits"), Written(_bits, "128")),
        **dict.fromkeys(("h", "hashes"), Written(_hashes, "1")),
        **dict.fromkeys(("m", "cohorts"), Written(_cohorts, "64")),
        "p": Written(_validate.probability, "0.25"),
        "q": Written(_validate.probability, "0.75"),
    }

    def __post_init__(self) -> None:
        for name in ("length", "n", "step", "grams"):
            _n(name, "ngrams", getattr(self, name))
        _bits("bits", "ngrams", self.bits)
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

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` and how it is divided, or p and q of every part.

        Each of the r + 1 parts gets an equal share of epsilon; `whole` gives the whole string
        another one, and the n-grams share the rest. Defaults: n = 2, `step` = n, `grams` = 2 (1 if
        there is one place), k = 128, h = 1 and m = 64.
        """
        named = {LETTERS.get(name, name): value for name, value in wanted.items()}
        if len(named) < len(wanted):
            raise InvalidParameter(
                "ngrams takes k, h, m or bits, hashes, cohorts, not both.", "Remove one of each."
            )
        strings = _strings_of(domain)
        n = _n("n", "ngrams", named.get("n", 2))
        step = _n("step", "ngrams", named.get("step", n))
        places = _places(strings.length, n, step)
        grams = _n("grams", "ngrams", named.get("grams", min(2, places)))
        shape = (
            _bits("bits (k)", "ngrams", named.get("bits", 128)),
            _hashes("hashes (h)", "ngrams", named.get("hashes", 1)),
            _cohorts("cohorts (m)", "ngrams", named.get("cohorts", 64)),
        )
        _check_dictionary(len(strings.letters), n)
        stages = _stages(named, grams, shape[1])
        return cls(strings.length, n, step, grams, *shape, *stages)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        if set(data) != {*_SIZES, *STAGES}:
            raise InvalidParameter(f"ngrams has {', '.join(sorted({*_SIZES, *STAGES}))}.")
        sizes = (_validate.integer(x, "ngrams", data[x], 1, MAX_COHORTS) for x in _SIZES)
        return cls(*sizes, *(thresholds.from_text(name, data[name]) for name in STAGES))

    def published(self) -> dict[str, Json]:
        """Return the integers, thresholds as strings."""
        return {
            **{name: getattr(self, name) for name in _SIZES},
            **{name: thresholds.to_text(getattr(self, name)) for name in STAGES},
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """The domain must be strings over an alphabet without U+0000, of the same length."""
        if _strings_of(domain).length != self.length:
            raise InvalidParameter("ngrams must have the 'length' of its domain.")

    @cached_property
    def layout(self) -> Layout:
        """Places, u16; cohort, u16; then ceil(k / 8) bytes for each of the r + 1 parts."""
        width = (self.bits + 7) // 8
        parts = (Item(f"bits_{i}", 1, width) for i in range(self.grams + 1))
        return Layout((Item("places", 2), Item("cohort", 2), *parts))

    def check_record(self, record: bytes) -> None:
        """The places must be a choice, the cohort below m, and padding bits zero."""
        values = self.layout.unpack(record)
        places = values["places"]
        if not (isinstance(places, int) and places < self.choices):
            raise InvalidReport("record", f"The places must be below {self.choices}.")
        for part in range(self.grams + 1):
            packed = {"cohort": values["cohort"], "bits": values[f"bits_{part}"]}
            self.whole.check_record(self.whole.layout.pack(packed))

    @property
    def places(self) -> int:
        """P, the number of n-grams of a string."""
        return _places(self.length, self.n, self.step)

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
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

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

    @property
    def epsilon_forever(self) -> int | None:
        """Unbounded: every report is drawn afresh."""
        return None


def _places(length: int, n: int, step: int) -> int:
    return -(-max(0, length - n) // step) + 1


def possible_grams(letters: int, n: int) -> int:
    """Return the number of possible n-grams: of letters alone, or with padding behind them."""
    return sum(letters**size for size in range(n + 1))


def _check_dictionary(letters: int, n: int) -> None:
    if n > 1 and possible_grams(letters, n) > MAX_DICTIONARY:
        raise InvalidParameter(
            f"There are {possible_grams(letters, n):,} possible n-grams of {n} of {letters} "
            f"letters. At most {MAX_DICTIONARY:,} are allowed.",
            "Lower 'n', or use a smaller alphabet.",
        )


def _stages(named: Mapping[str, object], grams: int, hashes: int) -> tuple[int, int, int, int]:
    """Return the thresholds of the whole string and of n-grams."""
    if named.keys() & {"p", "q"}:
        if named.keys() & {"epsilon", "whole"}:
            raise InvalidParameter(
                "ngrams takes either p and q, or epsilon, not both.", "Remove one or the other."
            )
        both = from_letters(named)
        return _two(both) + _two(both)
    if "epsilon" not in named:
        raise InvalidParameter(
            "ngrams needs 'epsilon', or the probabilities 'p' and 'q'.", "Add epsilon = 4.0."
        )
    micros = epsilon.wanted("epsilon", "ngrams", named["epsilon"])
    first = micros // (grams + 1)
    if "whole" in named:
        first = int(micros * _share("whole", "ngrams", named["whole"]))
    other = (micros - first) // grams
    found = (
        from_epsilon({"epsilon": epsilon.as_float(part)}, hashes, hashes) for part in (first, other)
    )
    return _two(next(found)) + _two(next(found))


def _two(stages: TwoStage) -> tuple[int, int]:
    return stages.report_one, stages.report_zero


def _strings_of(domain: Domain) -> Strings:
    if isinstance(domain, Strings) and domain.alphabet and PADDING not in domain.alphabet:
        return domain
    raise InvalidParameter(
        "ngrams needs strings with a declared alphabet, without U+0000, and length.",
        'For example domain = { type = "strings", alphabet = "abcdefghijklmnopqrstuvwxyz", '
        "length = 20 }.",
    )
