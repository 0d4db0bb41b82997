"""Hadamard count-mean sketch: parameters, epsilon and wire record.

Model: one of g hash functions ("rows"), drawn for each report, maps the answer to one of w buckets,
w a power of two. The report is one coefficient a, drawn uniformly, of the bucket's row b of the
Hadamard matrix: the sign (-1)^<a, b>, <a, b> the number of ones in a & b, kept with probability
`keep` and flipped otherwise. So a report supports its own answer with p = keep. Another answer
shares the bucket with probability 1/w, and otherwise has the same sign in exactly half of the
coefficients, whence

    q = keep / w + (1 - 1/w) / 2,        epsilon = ln(keep / (1 - keep)).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.declared import power_of_two, threshold, whole
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain, code_key
from deniable.protocol.frozen import frozen
from deniable.protocol.hadamard import sign_of
from deniable.protocol.hashing import fingerprint, hash_word, reduce_to
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import KeepParameters, answers_of

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MAX_ROWS = 65_536
MAX_WIDTH = 2**20
MAX_CELLS = 2**24
"""The largest g w: the counts hold two numbers for each."""
FIRST_INDEX = 2 << 40
"""The hash function of a row has this number plus the row's."""


@frozen
class HCMSParameters(KeepParameters):
    """The integers of the Hadamard count-mean sketch.

    Attributes:
        answers: of a closed domain, an absent one included; 0 for strings.
        rows: g.
        width: w.
        keep: threshold of reporting the true sign.
    """

    answers: int = whole(0, MAX_CATEGORIES + 1)
    rows: int = whole(1, MAX_ROWS)
    width: int = power_of_two(2, MAX_WIDTH)
    keep: int = threshold()

    mechanism: ClassVar[str] = "hcms"

    def _check(self) -> None:
        if self.answers == 1:
            raise _validate.invalid("answers", "hcms", "0 for strings, else 2 or more", 1)
        if self.rows * self.width > MAX_CELLS:
            raise InvalidParameter(
                f"hcms must have at most {MAX_CELLS:,} cells, rows times width.",
                "Lower 'rows' or 'width'.",
            )
        super()._check()

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """A closed domain must have exactly as many answers; strings have none listed."""
        if (answers_of(domain, absent) or 0) != self.answers:
            raise InvalidParameter("hcms must have exactly the answers of its domain, 0 if open.")

    @cached_property
    def layout(self) -> Layout:
        """Row, u16; coefficient, u32; sign, u8 (0 is +1, 1 is -1)."""
        sketch = number("row", self.rows, 2), number("coefficient", self.width, 4)
        return Layout((*sketch, number("sign", 2)))

    @property
    def odds(self) -> int:
        """1: there are two signs; row and coefficient do not depend on the answer."""
        return 1

    def bucket(self, answer: Answer, row: int) -> int:
        """Return the bucket of an answer in a row."""
        words = fingerprint(code_key(answer.code)) if self.answers else answer.words
        return reduce_to(hash_word(words, FIRST_INDEX + row), self.width)

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own answer), and P(it supports another one), over all hashes."""
        # Another answer shares the bucket with probability 1/w; else half of the signs agree.
        shared = Fraction(1, self.width)
        return self.kept, self.kept * shared + (1 - shared) / 2

    @cached_property
    def channel(self) -> Channel:
        """A row and a coefficient for every report, then the sign of the answer's bucket."""
        from deniable.protocol.channel import Channel, Sign, uniform

        numbers = (uniform("row", self.rows), uniform("coefficient", self.width))
        return Channel(numbers, Sign(2 * self.kept - 1), self._own, self.layout)

    def _own(self, answer: Answer, public: Public) -> int:
        row, coefficient = public
        return 1 - 2 * sign_of(coefficient, self.bucket(answer, row))
