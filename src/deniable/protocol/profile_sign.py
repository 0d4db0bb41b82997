"""Parameters of the mechanisms of profiles that report one sign: the coin that keeps it.

Model: which function of the profile is reported is drawn independently of the profile; its value
+-1 is kept with probability `keep` = E/(E + 1), epsilon = ln E, and flipped otherwise. So a report
says nothing but the coin, and the largest ratio is keep/(1 - keep).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.protocol.declared import threshold
from deniable.protocol.frozen import frozen
from deniable.protocol.parameters import KeepParameters
from deniable.protocol.profile_parameters import (
    ProfileParameters,
)

if TYPE_CHECKING:
    from deniable.protocol.channel import Rest

MOST_COEFFICIENTS = 2**21
"""The most coefficients of a question: each is a count, and an estimate, on the other side."""


@frozen
class SignParameters(ProfileParameters, KeepParameters):
    """Parameters whose only probability is that of the true sign.

    Attributes:
        answers, order: as of every profile.
        keep: threshold of reporting the true sign.
    """

    keep: int = threshold()

    @property
    def odds(self) -> int:
        """1: there are two signs."""
        return 1

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(the sign is the profile's), and P(it is that of an unrelated one)."""
        return self.kept, Fraction(1, 2)

    def _rest(self) -> Rest:
        """Return the sign, kept or flipped."""
        from deniable.protocol.channel import Sign

        return Sign(2 * self.kept - 1)
