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

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import MAX_CATEGORIES, Answer, Domain, code_key
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import fingerprint, hash_word, reduce_to
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written, answers_of
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MAX_ROWS = 65_536
MAX_WIDTH = 2**20
MAX_CELLS = 2**24
"""The largest g w: the counts hold two numbers for each."""
FIRST_INDEX = 2 << 40
"""The hash function of a row has this number plus the row's."""

_LAYOUT = Layout((Item("row", 2), Item("coefficient", 4), Item("sign", 1)))
_PUBLISHED = {"answers", "rows", "width", "keep"}


def check_rows(name: str, owner: str, value: object) -> int:
    """Return a number of rows, else raise InvalidParameter."""
    return _validate.integer(name, owner, value, 1, MAX_ROWS)


def check_width(name: str, owner: str, value: object) -> int:
    """Return a power of two that a sketch can be wide, else raise InvalidParameter."""
    width = _validate.integer(name, owner, value, 2, MAX_WIDTH)
    if width & (width - 1):
        raise _validate.invalid(name, owner, f"a power of two from 2 to {MAX_WIDTH}", value)
    return width


@frozen
class HCMSParameters(Parameters):
    """The integers of the Hadamard count-mean sketch.

    Attributes:
        answers: of a closed domain, an absent one included; 0 for strings.
        rows: g.
        width: w.
        keep: threshold of reporting the true sign.
    """

    answers: int
    rows: int
    width: int
    keep: int

    mechanism: ClassVar[str] = "hcms"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "1.0"),
        "rows": Written(check_rows, "32"),
        "width": Written(check_width, "4096"),
    }

    def __post_init__(self) -> None:
        _validate.integer("answers", "hcms", self.answers, 0, MAX_CATEGORIES + 1)
        if self.answers == 1:
            raise _validate.invalid("answers", "hcms", "0 for strings, else 2 or more", 1)
        check_rows("rows", "hcms", self.rows)
        check_width("width", "hcms", self.width)
        if self.rows * self.width > MAX_CELLS:
            raise InvalidParameter(
                f"hcms must have at most {MAX_CELLS:,} cells, rows times width.",
                "Lower 'rows' or 'width'.",
            )
        _validate.integer("keep", "hcms", self.keep, 0, thresholds.ONE)
        check_truth("keep", "hcms", self.keep, 1)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, and where wanted `rows` (32) and `width` (4,096).

        A report costs the same whatever their number, and collisions add variance
        sum f^2 / (g w): so both are large.
        """
        if "epsilon" not in wanted:
            raise InvalidParameter("hcms needs 'epsilon'.", "Add epsilon = 1.0.")
        micros = epsilon.wanted("epsilon", "hcms", wanted["epsilon"])
        rows = check_rows("rows", "hcms", wanted.get("rows", 32))
        width = check_width("width", "hcms", wanted.get("width", 4_096))
        return cls(answers_of(domain, absent) or 0, rows, width, truth_threshold(1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        if set(data) != _PUBLISHED:
            raise InvalidParameter(f"hcms has {', '.join(sorted(_PUBLISHED))}.")
        return cls(
            _validate.integer("answers", "hcms", data["answers"], 0, MAX_CATEGORIES + 1),
            check_rows("rows", "hcms", data["rows"]),
            check_width("width", "hcms", data["width"]),
            thresholds.from_text("keep", data["keep"]),
        )

    def published(self) -> dict[str, Json]:
        """Return the integers as they stand in survey.json."""
        return {
            "answers": self.answers,
            "rows": self.rows,
            "width": self.width,
            "keep": thresholds.to_text(self.keep),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """A closed domain must have exactly as many answers; strings have none listed."""
        if (answers_of(domain, absent) or 0) != self.answers:
            raise InvalidParameter("hcms must have exactly the answers of its domain, 0 if open.")

    @property
    def layout(self) -> Layout:
        """Row, u16; coefficient, u32; sign, u8 (0 is +1, 1 is -1)."""
        return _LAYOUT

    def check_record(self, record: bytes) -> None:
        """The row must be below g, the coefficient below w, the sign 0 or 1."""
        values = self.layout.unpack(record)
        for name, bound in self.bounds.items():
            value = values[name]
            if not (isinstance(value, int) and value < bound):
                raise InvalidReport("record", f"The {name} must be below {bound}.")

    @property
    def bounds(self) -> dict[str, int]:
        """The exclusive upper bound of each item of a record."""
        return {"row": self.rows, "coefficient": self.width, "sign": 2}

    def bucket(self, answer: Answer, row: int) -> int:
        """Return the bucket of an answer in a row."""
        words = fingerprint(code_key(answer.code)) if self.answers else answer.words
        return reduce_to(hash_word(words, FIRST_INDEX + row), self.width)

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its own answer), and P(it supports another one), over all hashes."""
        keep = thresholds.as_fraction(self.keep)
        # Another answer shares the bucket with probability 1/w; else half of the signs agree.
        shared = Fraction(1, self.width)
        return keep, keep * shared + (1 - shared) / 2

    @cached_property
    def epsilon_once(self) -> int:
        """ln(keep / (1 - keep)): row and coefficient do not depend on the answer."""
        return epsilon.epsilon_of(truth_ratio(1, self.keep))

    @property
    def epsilon_forever(self) -> int | None:
        """Unbounded: every report is drawn afresh."""
        return None
