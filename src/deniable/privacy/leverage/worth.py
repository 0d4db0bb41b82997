"""What one crafted report is worth, in honest people."""

from __future__ import annotations

from dataclasses import dataclass

from deniable import _validate


@dataclass(frozen=True)
class Leverage:
    """What one crafted report is worth.

    Attributes:
        up: for how many honest holders of an answer it counts, at most.
        down: how many honest holders it takes away, at most.
        about: the share of honest reports that say anything about the answer. Below 1 only where a
            report is about a drawn part of the answer, which a liar can choose.
    """

    up: float
    down: float
    about: float = 1.0

    @property
    def most(self) -> float:
        """The larger of the two."""
        return max(self.up, self.down)

    def shift(self, attackers: float) -> float:
        """Return how far a share of attackers among all reports can move a frequency.

        An attacker's report stands in the place of an honest one, which would have been worth
        between 0 and 1: so the shift is at most attackers (up), and attackers (down + 1). If
        reports are about parts, all attackers report about one of them, where they are the share

            phi = attackers / (attackers + about (1 - attackers))

        of the reports, each of which counts `about` times up or down among those.

        Raises:
            InvalidParameter: unless `attackers` is a share from 0 to 1.
        """
        share = _validate.probability("attackers", "leverage", attackers)
        among = share / (share + self.about * (1 - share)) if share else 0.0
        return among * max(self.up * self.about, self.down * self.about + 1)
