"""InpEM: every bit of the profile through a coin of its own [CKS18, section 4.4; FPE16].

Model: each of the D bits is kept with probability E/(E + 1), where ln E = epsilon/D, and flipped
otherwise. Tables are found by expectation maximisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.protocol import epsilon, thresholds
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Item, Layout
from deniable.protocol.profile_parameters import WHOLE, check_count, code_of, wanted_shape
from deniable.protocol.profile_sign import SignParameters
from deniable.protocol.profile_unary import check_bits
from deniable.protocol.truth_thresholds import truth_ratio, truth_threshold

MOST_BITS = 64


@frozen
class InpEMParameters(SignParameters):
    """The integers of InpEM: levels, order, and the threshold `keep` of the true bit."""

    mechanism: ClassVar[str] = "inp_em"

    def _check_size(self) -> None:
        check_count("inp_em", "bits", self.width, MOST_BITS, WHOLE)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` and `order`. Every bit gets the same part of epsilon."""
        levels, order, micros = wanted_shape("inp_em", wanted, domain, absent)
        width = sum((count - 1).bit_length() for count in levels)
        if micros < width:
            must = f"at least {epsilon.as_float(width):f} for {width} bits"
            raise _validate.invalid("epsilon", "inp_em", must, epsilon.as_float(micros))
        return cls(levels, order, truth_threshold(1, micros // width))

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.levels)

    @cached_property
    def width(self) -> int:
        """D, the number of bits of a profile."""
        return sum(self.bits)

    def cell(self, codes: tuple[int, ...]) -> int:
        """Return the profile's code in D bits."""
        return code_of(codes, self.bits)

    @cached_property
    def layout(self) -> Layout:
        """ceil(D / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8)."""
        return Layout((Item("bits", 1, (self.width + 7) // 8),))

    def check_record(self, record: bytes) -> None:
        """The padding bits must be zero."""
        check_bits(self.layout.unpack(record)["bits"], self.width)

    @cached_property
    def epsilon_once(self) -> int:
        """D ln(keep / (1 - keep)): some two profiles differ in every bit."""
        return epsilon.epsilon_of(truth_ratio(1, self.keep) ** self.width)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a bit is reported as it is), and P(it is not)."""
        keep = thresholds.as_fraction(self.keep)
        return keep, 1 - keep
