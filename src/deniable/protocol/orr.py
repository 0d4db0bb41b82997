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

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.declared import choice, threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import KeepParameters, answers_of
from deniable.protocol.permuting import ranks

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MAX_SYMBOLS = 65_536
MAX_COHORTS = 65_536
FIRST_HASHED = 3 << 40
"""The hash function of a cohort in the hashed form has this number plus the cohort's."""
FIRST_PERMUTED = 4 << 40
"""The hash function of a cohort in the permuted form has this number plus the cohort's."""


@frozen
class ORRParameters(KeepParameters):
    """The integers of O-RR.

    Attributes:
        form: "hashed" (strings) or "permuted" (closed domains).
        answers: S, the number of answers of a closed domain, an absent one included; 0 if hashed.
        symbols: k.
        cohorts: C.
        keep: threshold of reporting the answer's own symbol.
    """

    form: str = choice("hashed", "permuted")
    answers: int = whole(0, MAX_CATEGORIES + 1)
    symbols: int = whole(2, MAX_SYMBOLS)
    cohorts: int = whole(1, MAX_COHORTS)
    keep: int = threshold()

    mechanism: ClassVar[str] = "orr"

    def _check(self) -> None:
        if self.form == "hashed" and self.answers != 0:
            raise _validate.invalid("answers", "orr", "0 in the hashed form", self.answers)
        if self.form == "permuted":
            _validate.integer("answers", "orr", self.answers, 2, MAX_CATEGORIES + 1)
        if self.form == "permuted" and self.symbols > self.answers:
            raise InvalidParameter(
                f"orr has more symbols ({self.symbols}) than answers ({self.answers}).",
                "Lower 'symbols' (k), or leave it out.",
            )
        super()._check()

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Strings need the hashed form; a closed domain the permuted one over its answers."""
        if (answers_of(domain, absent) or 0) != self.answers:
            raise InvalidParameter(
                "orr must be hashed for strings, and permuted over exactly the answers of a "
                "closed domain."
            )

    @cached_property
    def layout(self) -> Layout:
        """Cohort, u16; symbol, u16."""
        return Layout((number("cohort", self.cohorts, 2), number("symbol", self.symbols, 2)))

    @property
    def odds(self) -> int:
        """k - 1, the other symbols; the cohort does not depend on the answer."""
        return self.symbols - 1

    def symbol(self, answer: Answer, cohort: int) -> int:
        """Return the symbol of an answer in a cohort."""
        if self.form == "hashed":
            return reduce_to(hash_word(answer.words, FIRST_HASHED + cohort), self.symbols)
        return ranks(answer.code, self.answers, [FIRST_PERMUTED + cohort])[0] % self.symbols

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own answer), and P(it supports another one), over all cohorts."""
        keep = self.kept
        move = (1 - keep) / (self.symbols - 1)
        # Another answer with the same symbol is supported alike; one with another, by a move alone.
        shared = collision(self.answers, self.symbols)
        return keep, shared * keep + (1 - shared) * move

    @cached_property
    def channel(self) -> Channel:
        """A cohort for ever, then k-RR of the symbol that it gives the answer."""
        from deniable.protocol.channel import Channel, Symbol, uniform

        cohort = uniform("cohort", self.cohorts, permanent=True)
        return Channel((cohort,), Symbol(self.kept, self.symbols), self._own, self.layout)

    def _own(self, answer: Answer, public: Public) -> int:
        return self.symbol(answer, public[0])


def collision(answers: int, symbols: int) -> Fraction:
    """Return P(two different answers share a symbol) over all cohorts; `answers` is 0 if hashed."""
    if answers == 0:
        return Fraction(1, symbols)
    # `more` symbols have each + 1 answers, the others `each`: ordered pairs with a common symbol.
    each, more = divmod(answers, symbols)
    pairs = more * (each + 1) * each + (symbols - more) * each * (each - 1)
    return Fraction(pairs, answers * (answers - 1))
