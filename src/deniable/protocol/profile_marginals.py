"""Marginals: the tables of k attributes and their cells; the papers' methods draw one of them.

Model: a report is about one of the C(d, k) sets of k attributes, in lexicographic order, drawn
uniformly; the profile's cell in it is the code of its k attributes in binary, the first of them in
the lowest bits. Attributes with more answers make tables with more cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.protocol.profile_parameters import ProfileParameters, check_count, code_of
from deniable.protocol.profile_selection import Selection

if TYPE_CHECKING:
    from deniable.protocol.channel import Number

MOST_SYMBOLS = 2**22
"""The most cells of all tables together: each is a count on the other side."""


class MarginalParameters(ProfileParameters):
    """Parameters of a mechanism that reports about one table of `order` attributes."""

    @property
    def marginals(self) -> int:
        """C(d, k), the number of tables."""
        return math.comb(len(self.answers), self.order)

    @cached_property
    def _tables(self) -> Selection:
        return Selection((1,) * len(self.answers))

    def marginal(self, number: int) -> tuple[int, ...]:
        """Return the attributes of a table, rising."""
        return tuple(i for i, _ in self._tables.choice(self.order, number))

    def cells(self, number: int) -> int:
        """Return the number of cells of a table, those of codes that no answer has included."""
        return 1 << sum(self.bits[i] for i in self.marginal(number))

    @cached_property
    def most_cells(self) -> int:
        """The number of cells of the largest table."""
        return 1 << sum(sorted(self.bits)[-self.order :])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cells that tables have, rising."""
        sums = {0: {0}}
        for width in self.bits:
            for taken in range(self.order, 0, -1):
                longer = {total + width for total in sums.get(taken - 1, ())}
                sums[taken] = sums.get(taken, set()) | longer
        return tuple(1 << total for total in sorted(sums[self.order]))

    def cell(self, number: int, codes: tuple[int, ...]) -> int:
        """Return the cell of a profile in a table."""
        among = self.marginal(number)
        return code_of((codes[i] for i in among), (self.bits[i] for i in among))

    def _check_tables(self, limit: int = MOST_SYMBOLS) -> None:
        check_count(self.mechanism, "cells", self.marginals * self.most_cells, limit)

    def _about_tables(self) -> Number:
        """Return the number of the table that a report is about."""
        from deniable.protocol.channel import uniform

        return uniform("marginal", self.marginals)

    @cached_property
    def _one_of_each_size(self) -> list[int]:
        """The number of a table of every size that occurs, the first one found by its widths."""
        kinds = sorted(range(len(self.bits)), key=lambda i: self.bits[i])
        found: dict[tuple[int, int], tuple[int, ...]] = {(0, 0): ()}
        for i in kinds:
            for (taken, bits), subset in list(found.items()):
                if taken < self.order:
                    found.setdefault((taken + 1, bits + self.bits[i]), (*subset, i))
        whole = (subset for (taken, _), subset in found.items() if taken == self.order)
        return [rank_of(tuple(sorted(subset)), len(self.bits)) for subset in whole]


def rank_of(subset: Sequence[int], among: int) -> int:
    """Return the number of a rising subset among all of its size, in lexicographic order."""
    size, rank, before = len(subset), 0, -1
    for place, i in enumerate(subset):
        later = (among - 1 - skipped for skipped in range(before + 1, i))
        rank += sum(math.comb(left, size - 1 - place) for left in later)
        before = i
    return rank
