"""InpEM: every bit of the profile through a coin of its own [CKS18, section 4.4; FPE16].

Model: each of the D bits is kept with probability E/(E + 1), where ln E = epsilon/D, and flipped
otherwise. Tables are found by expectation maximisation.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol import epsilon
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, packed
from deniable.protocol.profile_parameters import WHOLE, check_count, code_of
from deniable.protocol.profile_sign import SignParameters
from deniable.protocol.truth_thresholds import truth_ratio

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MOST_BITS = 64


@frozen
class InpEMParameters(SignParameters):
    """The integers of InpEM: answers, order, and the threshold `keep` of the true bit."""

    mechanism: ClassVar[str] = "inp_em"

    def _check_size(self) -> None:
        check_count("inp_em", "bits", self.width, MOST_BITS, WHOLE)

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.answers)

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
        return Layout((packed("bits", self.width),))

    @cached_property
    def epsilon_once(self) -> int:
        """D ln(keep / (1 - keep)): some two profiles differ in every bit."""
        return epsilon.epsilon_of(truth_ratio(1, self.keep) ** self.width)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a bit is reported as it is), and P(it is not)."""
        return self.kept, 1 - self.kept

    @cached_property
    def channel(self) -> Channel:
        """The bits of the code, each kept or flipped."""
        from deniable.protocol.channel import Bits, Channel

        return Channel(
            (), Bits(*self.support, self.width, self.width, 0), self._own, self.layout, direct=True
        )

    def _own(self, answer: Answer, public: Public) -> int:
        return self.cell(answer.codes)
