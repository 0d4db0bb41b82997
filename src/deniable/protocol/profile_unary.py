"""Parallel randomised response of the cells of a table: one bit each, two probabilities.

Model: the bit of the profile's own cell is 1 with probability `one`, any other with probability
`zero`. Symmetric: one = sqrt(E)/(sqrt(E) + 1) and zero = 1 - one, half of epsilon = ln E for each
of the two bits in which two profiles differ [CKS18, section 3.1]. Asymmetric: one = 1/2 and zero =
1/(E + 1), whose variance of a rare cell is less.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import InvalidParameter
from deniable.protocol import epsilon, thresholds
from deniable.protocol.declared import threshold
from deniable.protocol.frozen import frozen
from deniable.protocol.profile_parameters import (
    ProfileParameters,
)
from deniable.protocol.unary import worst_ratio

if TYPE_CHECKING:
    from deniable.protocol.channel import Bits


@frozen
class ParallelParameters(ProfileParameters):
    """Parameters of one bit per cell.

    Attributes:
        answers, order: as of every profile.
        one: threshold of reporting 1 for the profile's own cell.
        zero: threshold of reporting 1 for any other cell.
    """

    one: int = threshold()
    zero: int = threshold()

    def _check(self) -> None:
        super()._check()
        if not self.one > self.zero:
            raise InvalidParameter(
                f"{self.mechanism} needs one > zero: otherwise a report says nothing.",
                "Raise 'epsilon'.",
            )
        if not (self.zero > 0 and self.one < thresholds.ONE):
            raise InvalidParameter(
                f"{self.mechanism} would sometimes reveal the answer for certain.",
                "Use a smaller 'epsilon'.",
            )

    @cached_property
    def epsilon_once(self) -> int:
        """ln( one/zero (1 - zero)/(1 - one) ): two profiles differ in two bits."""
        return epsilon.epsilon_of(worst_ratio(*self.support, 1, 1))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """one and zero."""
        return thresholds.as_fraction(self.one), thresholds.as_fraction(self.zero)

    def _bits_of(self, cells: int) -> Bits:
        """Return a bit for each of some cells."""
        from deniable.protocol.channel import Bits

        return Bits(*self.support, cells, 1, 1)
