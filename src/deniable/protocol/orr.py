"""O-RR: k-RR of a symbol that the cohort makes of the answer; parameters, epsilon and record.

Model [KBR16, section 4]: a device belongs to one of C cohorts. Its cohort maps every answer to one
of k symbols: by a hash function (strings), or by a permutation of the S answers, modulo k (closed
domains, with no more collisions than the modulus makes). The symbol x then goes through k-RR,

    P(y | x) = keep if y = x else (1 - keep) / (k - 1),   epsilon = ln(keep (k - 1) / (1 - keep))

and cohort and y are sent. Over all cohorts two different answers share a symbol with probability
c, 1/k if hashed and a little less if permuted; so a report supports its own answer with p = keep
and another with q = c keep + (1 - c) (1 - keep) / (k - 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.closed_form import mean_variance
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written, answers_of
from deniable.protocol.permuting import ranks
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MAX_SYMBOLS = 65_536
MAX_COHORTS = 65_536
FIRST_HASHED = 3 << 40
"""The hash function of a cohort in the hashed form has this number plus the cohort's."""
FIRST_PERMUTED = 4 << 40
"""The hash function of a cohort in the permuted form has this number plus the cohort's."""

_LAYOUT = Layout((Item("cohort", 2), Item("symbol", 2)))
_PUBLISHED = {"form", "answers", "symbols", "cohorts", "keep"}
LETTERS = {"k": "symbols"}


def _symbols(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 2, MAX_SYMBOLS)


def _cohorts(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 1, MAX_COHORTS)


@frozen
class ORRParameters(Parameters):
    """The integers of O-RR.

    Attributes:
        form: "hashed" (strings) or "permuted" (closed domains).
        answers: S, the number of answers of a closed domain, an absent one included; 0 if hashed.
        symbols: k.
        cohorts: C.
        keep: threshold of reporting the answer's own symbol.
    """

    form: str
    answers: int
    symbols: int
    cohorts: int
    keep: int

    mechanism: ClassVar[str] = "orr"
    authored: ClassVar[Mapping[str, Written]] = {
        **dict.fromkeys(("k", "symbols"), Written(_symbols, "4")),
        "cohorts": Written(_cohorts, "64"),
        "epsilon": Written(epsilon.wanted, "1.0"),
    }

    def __post_init__(self) -> None:
        if self.form not in ("hashed", "permuted"):
            raise _validate.invalid("form", "orr", "'hashed' or 'permuted'", self.form)
        if self.form == "hashed" and self.answers != 0:
            raise _validate.invalid("answers", "orr", "0 in the hashed form", self.answers)
        if self.form == "permuted":
            _validate.integer("answers", "orr", self.answers, 2, MAX_CATEGORIES + 1)
        _symbols("symbols", "orr", self.symbols)
        if self.form == "permuted" and self.symbols > self.answers:
            raise InvalidParameter(
                f"orr has more symbols ({self.symbols}) than answers ({self.answers}).",
                "Lower 'symbols' (k), or leave it out.",
            )
        _cohorts("cohorts", "orr", self.cohorts)
        _validate.integer("keep", "orr", self.keep, 0, thresholds.ONE)
        check_truth("keep", "orr", self.keep, self.symbols - 1)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, and where wanted `symbols` (k) and `cohorts`.

        k is by default the one of the least closed-form variance. Cohorts are by default 256 for
        strings; for a closed domain, from 64 to 8,192, enough for four times as many counts as
        answers (1 where k is the number of answers).
        """
        named = {LETTERS.get(name, name): value for name, value in wanted.items()}
        if len(named) < len(wanted):
            raise InvalidParameter("orr takes k or symbols, not both.", "Remove one.")
        if "epsilon" not in named:
            raise InvalidParameter("orr needs 'epsilon'.", "Add epsilon = 1.0.")
        micros = epsilon.wanted("epsilon", "orr", named["epsilon"])
        answers = answers_of(domain, absent) or 0
        form = "permuted" if answers else "hashed"
        symbols = _symbols("symbols", "orr", named.get("symbols", best_symbols(answers, micros)))
        cohorts = _cohorts("cohorts", "orr", named.get("cohorts", _enough(answers, symbols)))
        return cls(form, answers, symbols, cohorts, truth_threshold(symbols - 1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        if set(data) != _PUBLISHED:
            raise InvalidParameter(f"orr has {', '.join(sorted(_PUBLISHED))}.")
        return cls(
            str(data["form"]),
            _validate.integer("answers", "orr", data["answers"], 0, MAX_CATEGORIES + 1),
            _symbols("symbols", "orr", data["symbols"]),
            _cohorts("cohorts", "orr", data["cohorts"]),
            thresholds.from_text("keep", data["keep"]),
        )

    def published(self) -> dict[str, Json]:
        """Return the integers as they stand in survey.json."""
        return {
            "form": self.form,
            "answers": self.answers,
            "symbols": self.symbols,
            "cohorts": self.cohorts,
            "keep": thresholds.to_text(self.keep),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Strings need the hashed form; a closed domain the permuted one over its answers."""
        if (answers_of(domain, absent) or 0) != self.answers:
            raise InvalidParameter(
                "orr must be hashed for strings, and permuted over exactly the answers of a "
                "closed domain."
            )

    @property
    def layout(self) -> Layout:
        """Cohort, u16; symbol, u16."""
        return _LAYOUT

    def check_record(self, record: bytes) -> None:
        """The cohort must be below C and the symbol below k."""
        values = self.layout.unpack(record)
        for name, bound in (("cohort", self.cohorts), ("symbol", self.symbols)):
            value = values[name]
            if not (isinstance(value, int) and value < bound):
                raise InvalidReport("record", f"The {name} must be below {bound}.")

    def symbol(self, answer: Answer, cohort: int) -> int:
        """Return the symbol of an answer in a cohort."""
        if self.form == "hashed":
            return reduce_to(hash_word(answer.words, FIRST_HASHED + cohort), self.symbols)
        return ranks(answer.code, self.answers, [FIRST_PERMUTED + cohort])[0] % self.symbols

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own answer), and P(it supports another one), over all cohorts."""
        keep = thresholds.as_fraction(self.keep)
        move = (1 - keep) / (self.symbols - 1)
        # Another answer with the same symbol is supported alike; one with another, by a move alone.
        shared = collision(self.answers, self.symbols)
        return keep, shared * keep + (1 - shared) * move

    @cached_property
    def epsilon_once(self) -> int:
        """ln(keep (k - 1) / (1 - keep)): the cohort does not depend on the answer."""
        return epsilon.epsilon_of(truth_ratio(self.symbols - 1, self.keep))

    @property
    def epsilon_forever(self) -> int | None:
        """Unbounded: every report is drawn afresh."""
        return None


def collision(answers: int, symbols: int) -> Fraction:
    """Return P(two different answers share a symbol) over all cohorts; `answers` is 0 if hashed."""
    if answers == 0:
        return Fraction(1, symbols)
    # `more` symbols have each + 1 answers, the others `each`: ordered pairs with a common symbol.
    each, more = divmod(answers, symbols)
    pairs = more * (each + 1) * each + (symbols - more) * each * (each - 1)
    return Fraction(pairs, answers * (answers - 1))


def best_symbols(answers: int, micros: int) -> int:
    """Return the k of the least variance: near E + 1, or all S answers of a small domain."""
    e = math.exp(min(epsilon.as_float(micros), 11.5))  # beyond that k has reached its limit
    most = min(answers or MAX_SYMBOLS, MAX_SYMBOLS)
    near = {math.floor(e) + step for step in range(-1, 4)}
    # Permuted classes are of equal sizes where k divides S, or nearly: fewer collisions.
    even = {-(-answers // parts) for parts in range(1, 65)}
    tried = {min(most, max(2, k)) for k in (*near, *even, most)}
    return min(sorted(tried), key=lambda k: _variance(answers, k, e))


def best_listed_symbols(listed: int, cohorts: int, micros: int) -> int:
    """Return the k of the least `listed_variance` for `listed` listed strings."""
    e = math.exp(min(epsilon.as_float(micros), 11.5))
    tried = {round(1.1**power) for power in range(8, 100)} & set(range(2, 4 * listed))
    return min(
        sorted(tried),
        key=lambda k: listed_variance(listed, k, cohorts, e / (e + k - 1)),
    )


def listed_variance(listed: int, symbols: int, cohorts: int, keep: float) -> float:
    """Return the mean of n Var over a complete list of strings, all fitted at once.

    Model: a string shares its cell with j others, j nearly Poisson with mean (M - 1) / k, each of
    frequency 1/M. A report shows the cell with r_j = q + (p - q)(1 + j)/M; least squares weighs
    cells by 1/r_j, cohorts see differences between cells only (1 - 1/k), and fitting M strings to
    C (k - 1) numbers widens errors. Given the people's values their own drawing, 1/M, is no error.

    Accuracy: within some 20% of simulations at M = 256 from epsilon 3 on; meant for comparing.
    """
    move = (1 - keep) / (symbols - 1)
    mean = (listed - 1) / symbols
    information, weight = 0.0, math.exp(-mean)
    for j in range(int(mean + 12 * math.sqrt(mean)) + 20):
        # weight = P(j others share the cell), Poisson; r_j is the denominator.
        information += weight / (move + (keep - move) * (1 + j) / listed)
        weight *= mean / (j + 1)
    information *= (keep - move) ** 2 * (1 - 1 / symbols)
    left = max(0.01, 1 - listed / (cohorts * (symbols - 1)))
    return (1 / information - 1 / listed) / left if information > 0 else math.inf


def _variance(answers: int, symbols: int, e: float) -> float:
    keep, move = e / (e + symbols - 1), 1 / (e + symbols - 1)
    shared = float(collision(answers, symbols))
    other = shared * keep + (1 - shared) * move
    return mean_variance(keep, other, answers)


def _enough(answers: int, symbols: int) -> int:
    """Return the default number of cohorts: a power of two."""
    if answers == 0:
        return 256
    if answers == symbols:
        return 1  # nothing collides: plain k-RR
    wanted = 4 * answers / (symbols - 1)
    return min(8_192, max(64, 1 << math.ceil(math.log2(wanted))))
