"""k-RR over tables of different sizes at one epsilon: thresholds from one coin.

Model: `truth` is the threshold of a coin that tells the truth, truth/(T - truth) = E the largest
ratio that may occur, T = 2^64. Over m cells k-RR then keeps the true one with the threshold

    keep(m) = floor( T truth / (truth + (m - 1)(T - truth)) ),

integers throughout, so that every language has the same. It is E/(E + m - 1) rounded down, and the
ratio of k-RR rises with it: no table exceeds E.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from deniable import _validate
from deniable.protocol import epsilon, thresholds
from deniable.protocol.frozen import frozen
from deniable.protocol.parameters import Written
from deniable.protocol.profile_parameters import AUTHORED, ProfileParameters
from deniable.protocol.thresholds import ONE
from deniable.protocol.truth_thresholds import check_truth, truth_ratio


def keep_threshold(truth: int, cells: int) -> int:
    """Return the threshold of keeping the true one of `cells` cells."""
    # E/(E + m - 1) with E = truth/(T - truth), rounded down: no table's ratio exceeds E.
    return ONE * truth // (truth + (cells - 1) * (ONE - truth))


@frozen
class TruthParameters(ProfileParameters):
    """Parameters of k-RR over tables of different sizes.

    Attributes:
        levels, order: as of every profile.
        truth: threshold of a coin that tells the truth, from which those of the tables follow.
    """

    levels: tuple[int, ...]
    order: int
    truth: int

    authored: ClassVar[Mapping[str, Written]] = AUTHORED
    members_published: ClassVar[tuple[str, ...]] = ("truth",)

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cells that tables have, rising."""

    def _check_truth(self, sizes: Iterable[int]) -> None:
        _validate.integer("truth", self.mechanism, self.truth, 0, ONE)
        check_truth("truth", self.mechanism, self.truth, 1)
        for cells in sizes:
            check_truth("truth", self.mechanism, self.keep(cells), cells - 1)

    def keep(self, cells: int) -> int:
        """Return the threshold of keeping the true one of `cells` cells."""
        return keep_threshold(self.truth, cells)

    @cached_property
    def epsilon_once(self) -> int:
        """The largest ln( keep(m) (m - 1)/(1 - keep(m)) ) of any table."""
        ratios = (truth_ratio(cells - 1, self.keep(cells)) for cells in self.sizes)
        return epsilon.epsilon_of(max(ratios))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(the report is the profile's own cell), and a given other one, in the largest table."""
        cells = self.sizes[-1]
        keep = thresholds.as_fraction(self.keep(cells))
        return keep, (1 - keep) / (cells - 1)
