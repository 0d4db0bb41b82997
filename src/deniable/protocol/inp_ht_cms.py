"""InpHTCMS: Hadamard count-mean sketch of whole profiles [CKS18, appendix B.2; protocol/hcms.py].

The profile itself is hashed, by its canonical bytes: no cell stands for a code that no answer has.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol.declared import power_of_two, whole
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.hadamard import sign_of
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.hcms import FIRST_INDEX, MAX_ROWS, MAX_WIDTH
from deniable.protocol.layout import Layout
from deniable.protocol.profile_parameters import (
    WHOLE,
    check_count,
    symbol_layout,
)
from deniable.protocol.profile_sign import SignParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MOST_RECORDS = 2**20
"""To estimate a table, every possible profile is looked up in every row."""
MOST_SKETCH = 2**21
"""The largest g w: the counts hold two numbers for each."""


@frozen
class InpHTCMSParameters(SignParameters):
    """The integers of InpHTCMS.

    Attributes:
        answers, order, keep: as of every mechanism that reports a sign.
        rows: g, the number of hash functions.
        width: w, the number of buckets, a power of two.
    """

    rows: int = whole(1, MAX_ROWS)
    width: int = power_of_two(2, MAX_WIDTH)

    mechanism: ClassVar[str] = "inp_ht_cms"

    def _check_size(self) -> None:
        check_count("inp_ht_cms", "possible profiles", self.profiles, MOST_RECORDS, WHOLE)
        smaller = "Lower 'rows' or 'width'."
        check_count("inp_ht_cms", "coefficients", self.rows * self.width, MOST_SKETCH, smaller)

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.answers)

    def bucket(self, answer: Answer, row: int) -> int:
        """Return the bucket of a profile in a row."""
        return reduce_to(hash_word(answer.words, FIRST_INDEX + row), self.width)

    @cached_property
    def layout(self) -> Layout:
        """The symbol 2 (row * w + coefficient) + sign (0 is +1, 1 is -1), in 1, 2 or 4 bytes."""
        return symbol_layout(2 * self.rows * self.width)

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own profile), and P(it supports another one), over all hashes."""
        # As in protocol/hcms.py: a shared bucket, or half of the signs.
        shared = Fraction(1, self.width)
        return self.kept, self.kept * shared + (1 - shared) / 2

    @cached_property
    def channel(self) -> Channel:
        """A row and a coefficient for every report, then the sign of the profile's bucket."""
        from deniable.protocol.channel import Channel, uniform

        numbers = (uniform("row", self.rows), uniform("coefficient", self.width))
        digits = (self.width, 2)
        return Channel(numbers, self._rest(), self._own, self.layout, digits)

    def _own(self, answer: Answer, public: Public) -> int:
        row, coefficient = public
        return 1 - 2 * sign_of(coefficient, self.bucket(answer, row))
