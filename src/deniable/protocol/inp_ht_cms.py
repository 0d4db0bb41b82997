"""InpHTCMS: Hadamard count-mean sketch of whole profiles [CKS18, appendix B.2; protocol/hcms.py].

The profile itself is hashed, by its canonical bytes: no cell stands for a code that no level has.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable.protocol import thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.hcms import FIRST_INDEX, check_rows, check_width
from deniable.protocol.layout import Layout
from deniable.protocol.parameters import Written
from deniable.protocol.profile_parameters import (
    AUTHORED,
    WHOLE,
    check_count,
    read_shape,
    read_symbol,
    symbol_layout,
    wanted_shape,
)
from deniable.protocol.profile_sign import SignParameters
from deniable.protocol.truth_thresholds import truth_threshold

MOST_RECORDS = 2**20
"""To estimate a table, every possible profile is looked up in every row."""
MOST_SKETCH = 2**21
"""The largest g w: the counts hold two numbers for each."""
ROWS, WIDTH = 5, 256
"""The sketch of the paper's comparison."""


@frozen
class InpHTCMSParameters(SignParameters):
    """The integers of InpHTCMS.

    Attributes:
        levels, order, keep: as of every mechanism that reports a sign.
        rows: g, the number of hash functions.
        width: w, the number of buckets, a power of two.
    """

    rows: int = ROWS
    width: int = WIDTH

    mechanism: ClassVar[str] = "inp_ht_cms"
    authored: ClassVar[Mapping[str, Written]] = {
        **AUTHORED,
        "rows": Written(check_rows, "5"),
        "width": Written(check_width, "256"),
    }
    members_published: ClassVar[tuple[str, ...]] = ("rows", "width", "keep")

    def _check_size(self) -> None:
        check_count("inp_ht_cms", "possible profiles", self.profiles, MOST_RECORDS, WHOLE)
        check_rows("rows", "inp_ht_cms", self.rows)
        check_width("width", "inp_ht_cms", self.width)
        smaller = "Lower 'rows' or 'width'."
        check_count("inp_ht_cms", "coefficients", self.rows * self.width, MOST_SKETCH, smaller)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` and `order`, and where wanted `rows` (5) and `width` (256)."""
        levels, order, micros = wanted_shape("inp_ht_cms", wanted, domain, absent)
        rows = check_rows("rows", "inp_ht_cms", wanted.get("rows", ROWS))
        width = check_width("width", "inp_ht_cms", wanted.get("width", WIDTH))
        return cls(levels, order, truth_threshold(1, micros), rows, width)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        levels, order = read_shape(cls, data)
        keep = thresholds.from_text("keep", data["keep"])
        rows = check_rows("rows", "inp_ht_cms", data["rows"])
        return cls(levels, order, keep, rows, check_width("width", "inp_ht_cms", data["width"]))

    def published(self) -> dict[str, Json]:
        """Return the integers, the threshold as a string."""
        return {**super().published(), "rows": self.rows, "width": self.width}

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.levels)

    def bucket(self, answer: Answer, row: int) -> int:
        """Return the bucket of a profile in a row."""
        return reduce_to(hash_word(answer.words, FIRST_INDEX + row), self.width)

    @cached_property
    def layout(self) -> Layout:
        """The symbol 2 (row * w + coefficient) + sign (0 is +1, 1 is -1), in 1, 2 or 4 bytes."""
        return symbol_layout(2 * self.rows * self.width)

    def check_record(self, record: bytes) -> None:
        """The symbol must be below 2 g w."""
        read_symbol(self.layout, record, 2 * self.rows * self.width)

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own profile), and P(it supports another one), over all hashes."""
        # As in protocol/hcms.py: a shared bucket, or half of the signs.
        keep, shared = thresholds.as_fraction(self.keep), Fraction(1, self.width)
        return keep, keep * shared + (1 - shared) / 2
