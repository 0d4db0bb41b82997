"""Leverage: the number of honest people that one crafted report counts for."""

from __future__ import annotations

from dataclasses import dataclass

from deniable import _validate


@dataclass(frozen=True)
class Leverage:
    """The leverage of one crafted report on an answer.

    Attributes:
        up: the number of honest holders of the answer that it counts for, at most.
        down: the number of honest holders that it takes away, at most.
        about: the share of honest reports that say anything about the answer. Below 1 only where a
            report is about a drawn part of the answer, which a crafted one can choose.
    """

    up: float
    down: float
    about: float = 1.0

    @property
    def most(self) -> float:
        """The larger of `up` and `down`."""
        return max(self.up, self.down)

    def shift(self, crafted: float) -> float:
        """Return the largest shift of a frequency by a share of crafted reports.

        A crafted report stands in the place of an honest one, which would have counted for 0 to 1:
        so the shift is at most crafted (up), or crafted (down + 1) downwards. Where a report is
        about a drawn part of the answer, all crafted ones choose the same part. There they are the
        share

            phi = crafted / (crafted + about (1 - crafted))

        of the reports, and each counts for `about` times up or down.

        Raises:
            InvalidParameter: unless `crafted` is a share from 0 to 1.
        """
        share = _validate.probability("crafted", "leverage", crafted)
        return among(share, self.about) * max(self.up * self.about, self.down * self.about + 1)


def among(crafted: float, about: float) -> float:
    """Return phi: the share of crafted reports among those about a part."""
    return crafted / (crafted + about * (1 - crafted)) if crafted else 0.0
