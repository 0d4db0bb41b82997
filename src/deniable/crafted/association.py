"""An association without the crafted reports: its table, shares, odds ratios, tests and pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from deniable.associate import Pair, Variable
from deniable.crafted.independence import crafted_test
from deniable.crafted.joint import Shifts, crafted_shifts, margins_wanted
from deniable.crafted.search import Progress, Range
from deniable.decode.significance import holm_adjusted
from deniable.errors import InvalidParameter

_SHIFTED = (
    "The second interval adds what a share of {share:.3g} crafted reports can have done: the "
    "reports that move a cell most were left out of the table. That takes up to {up:.3g} from a "
    "cell, or adds up to {down:.3g} to it. Shares given a condition and odds ratios allow for all "
    "tables within these ends."
)
_TESTED = (
    "With as many crafted reports a p-value may be anything from the least to the most that the "
    "test can have without them."
)


class CraftedTest(NamedTuple):
    """The p-values that a test of independence can have without the crafted reports.

    Attributes:
        p_value: the least and the largest p-value.
        holm: the same, corrected for the number of pairs.
    """

    p_value: Range
    holm: Range


@dataclass(frozen=True)
class CraftedAssociation:
    """The shift of an association that a share of crafted reports allows.

    Attributes:
        crafted: the share of crafted reports.
        shifts: the largest shift of each cell, and of each cell of the tables of its margins.
        tests: a range of p-values for each pair.
    """

    crafted: float
    shifts: Shifts
    tests: tuple[CraftedTest, ...]

    @property
    def notes(self) -> tuple[str, str]:
        """Two sentences for the reader: the largest shift of a cell, and how to read p-values."""
        up, down = float(self.shifts.up.max()), float(self.shifts.down.max())
        return _SHIFTED.format(share=self.crafted, up=up, down=down), _TESTED


def crafted_association(
    variables: Sequence[Variable],
    pairs: Sequence[Pair],
    crafted: float,
    factor: float = 1.0,
    progress: Progress | None = None,
) -> CraftedAssociation:
    """Return how far a share of crafted reports can have moved a table and its tests.

    Args:
        variables: the variables of the table.
        pairs: the tests of all pairs, in the order of `itertools.combinations`.
        crafted: the share of reports that may be crafted.
        factor: the factor of the standard errors, as in `ask.associate.weakened`.
        progress: called with the number of searches made, and the number of all of them.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1 and the table has at most 2,048
            cells or is of k-RR alone.
    """
    shifts = crafted_shifts(variables, crafted, progress, margins_wanted(len(variables)))
    found = [crafted_test(two, crafted) for two in combinations(variables, 2)]
    if len(found) != len(pairs):
        raise InvalidParameter(f"There are {len(found)} pairs. Got {len(pairs)} tests.")
    values = [_p_values(t, p, factor) for t, p in zip(found, pairs, strict=True)]
    corrected = (holm_adjusted(np.array(ends)).tolist() for ends in zip(*values, strict=True))
    holm = [Range(*ends) for ends in zip(*corrected, strict=True)]
    return CraftedAssociation(crafted, shifts, tuple(map(CraftedTest, values, holm)))


def _p_values(found: Range, pair: Pair, factor: float) -> Range:
    """Return the least and the largest p-value; the one of all reports lies between them."""
    seen = pair.test.p_value
    # The largest statistic has the least p-value; errors larger by a factor shrink a statistic by
    # the factor's square (`ask.associate.weakened`).
    least, most = (pair.test.p_of(t / factor**2) for t in (found.high, found.low))
    return Range(min(least, seen), max(most, seen))
