"""Hadamard response of one bit: parameters, epsilon and wire record.

Model: with K a power of two, at least the number of answers, a device draws a coefficient a
uniformly from 0..K-1 and reports it with the sign (-1)^<a, x>, <a, x> the number of ones in a & x,
flipped with probability 1/(E + 1), epsilon = ln E. A report supports the answers v whose sign
under a is the reported one: its sender's with probability E/(E + 1), and any other with
probability 1/2 exactly, because <a, x ^ v> is odd for half of all a.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written, answers_of
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MAX_SIZE = 2**17
"""The power of two that holds 65,536 answers and an absent one."""

_LAYOUT = Layout((Item("coefficient", 4), Item("sign", 1)))


@frozen
class HadamardParameters(Parameters):
    """The integers of Hadamard response.

    Attributes:
        size: K, a power of two, at least the number of answers.
        keep: threshold of reporting the true sign.
    """

    size: int
    keep: int

    mechanism: ClassVar[str] = "hadamard"
    authored: ClassVar[Mapping[str, Written]] = {"epsilon": Written(epsilon.wanted, "1.0")}

    def __post_init__(self) -> None:
        _validate.integer("size", "hadamard", self.size, 2, MAX_SIZE)
        if self.size & (self.size - 1):
            raise _validate.invalid("size", "hadamard", "a power of two", self.size)
        _validate.integer("keep", "hadamard", self.keep, 0, thresholds.ONE)
        check_truth("keep", "hadamard", self.keep, 1)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`; the size is the smallest power of two that holds the answers."""
        count = answers_of(domain, absent)
        if count is None:
            raise InvalidParameter(
                "hadamard needs a closed domain: boolean, categories, numbers or set.",
                'Use mechanism = "rappor" or "olh" for strings.',
            )
        if "epsilon" not in wanted:
            raise InvalidParameter("hadamard needs 'epsilon'.", "Add epsilon = 1.0.")
        micros = epsilon.wanted("epsilon", "hadamard", wanted["epsilon"])
        return cls(1 << (count - 1).bit_length(), truth_threshold(1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the two integers of survey.json."""
        if set(data) != {"size", "keep"}:
            raise InvalidParameter("hadamard has size and keep.")
        size = _validate.integer("size", "hadamard", data["size"], 2, MAX_SIZE)
        return cls(size, thresholds.from_text("keep", data["keep"]))

    def published(self) -> dict[str, Json]:
        """Return the two integers, the threshold as a string."""
        return {"size": self.size, "keep": thresholds.to_text(self.keep)}

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Every answer must have a code below the size."""
        count = answers_of(domain, absent)
        if count is None or count > self.size:
            raise InvalidParameter(
                "hadamard must have a size of at least the number of the domain's answers."
            )

    @property
    def layout(self) -> Layout:
        """Coefficient, u32; sign, u8: 0 for +1 and 1 for -1."""
        return _LAYOUT

    def check_record(self, record: bytes) -> None:
        """The coefficient must be below the size, and the sign 0 or 1."""
        values = self.layout.unpack(record)
        coefficient, sign = values["coefficient"], values["sign"]
        if not (isinstance(coefficient, int) and coefficient < self.size):
            raise InvalidReport("record", f"The coefficient must be below {self.size}.")
        if sign not in (0, 1):
            raise InvalidReport("record", "The sign must be 0 or 1.")

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @property
    def epsilon_once(self) -> int:
        """ln(keep / (1 - keep))."""
        return epsilon.epsilon_of(truth_ratio(1, self.keep))

    @property
    def epsilon_forever(self) -> int | None:
        """Every report draws afresh: unbounded."""
        return None

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one)."""
        return thresholds.as_fraction(self.keep), Fraction(1, 2)


def sign_of(coefficient: int, code: int) -> int:
    """Return 0 where a coefficient has the sign +1 for an answer, and 1 where it has -1."""
    return (coefficient & code).bit_count() & 1
