"""Views: k-RR over the cells of one of a few overlapping sets of attributes.

Model: the published views are sets of attributes such that every k attributes are together in one
of them. A report draws a view uniformly, and passes the profile's cell in it, one of m combinations
of answers that can occur, through k-RR over these m cells at the whole epsilon. Tables follow from
all views that contain their attributes (compare CALM [ZWLHC18]).
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.declared import many, whole
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.profile_domain import MAX_ATTRIBUTES
from deniable.protocol.profile_parameters import (
    cell_of,
    check_count,
)
from deniable.protocol.profile_truth import TruthParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public, Symbol

MOST_VIEWS = 16_384
MOST_CELLS = 65_536
"""The most cells of one view; k-RR over that many says very little."""
MOST_SYMBOLS = 2**22
"""The most cells of all views together: each is a count on the other side."""
MOST_SETS = 2**18
"""The most sets of k attributes, over all views, that a reader looks at."""


@frozen
class ViewsParameters(TruthParameters):
    """The integers of views.

    Attributes:
        answers, order, truth: as of every k-RR over tables of different sizes.
        views: sets of attributes, each rising, numbered from 0.
    """

    views: tuple[tuple[int, ...], ...] = many(
        many(whole(0, MAX_ATTRIBUTES - 1), 1, MAX_ATTRIBUTES, "attributes", rising=True),
        1,
        MOST_VIEWS,
        "views",
    )

    mechanism: ClassVar[str] = "views"

    def _check_size(self) -> None:
        for view in self.views:
            self._check_view(view)
        check_count("views", "cells in one view", self.most_cells, MOST_CELLS)
        check_count("views", "cells", len(self.views) * self.most_cells, MOST_SYMBOLS)
        sets = sum(math.comb(len(view), self.order) for view in self.views)
        check_count("views", "sets of attributes", sets, MOST_SETS)
        missing = uncovered(self.views, len(self.answers), self.order)
        if missing:
            raise InvalidParameter(
                f"views must cover every {self.order} attributes: {missing:,} sets are in no view."
            )

    def _check_view(self, view: tuple[int, ...]) -> None:
        if view[-1] >= len(self.answers):
            raise _validate.invalid("views", "views", "lists of rising attribute numbers", view)

    @property
    def tables(self) -> int:
        """The number of views."""
        return len(self.views)

    def cells(self, number: int) -> int:
        """Return the number of cells of a view: of combinations of answers that can occur."""
        return math.prod(self.answers[i] for i in self.views[number])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cells that views have, rising."""
        return tuple(sorted({self.cells(number) for number in range(len(self.views))}))

    @property
    def most_cells(self) -> int:
        """The number of cells of the largest view."""
        return self.sizes[-1]

    def cell(self, number: int, codes: tuple[int, ...]) -> int:
        """Return the cell of a profile in a view, the first attribute's answer fastest."""
        among = self.views[number]
        return cell_of([codes[i] for i in among], [self.answers[i] for i in among])

    @cached_property
    def channel(self) -> Channel:
        """A view for every report, then k-RR over its cells."""
        from deniable.protocol.channel import Channel, uniform

        sized = {self.cells(number): number for number in range(len(self.views))}
        view, examples = uniform("view", len(self.views)), tuple((i,) for i in sized.values())
        digits = (self.most_cells,)
        return Channel((view,), self._rest, self._own, self.layout, digits, examples)

    def _rest(self, public: Public) -> Symbol:
        return self._symbol_of(self.cells(public[0]))

    def _own(self, answer: Answer, public: Public) -> int:
        return self.cell(public[0], answer.codes)


def uncovered(views: tuple[tuple[int, ...], ...], attributes: int, order: int) -> int:
    """Return the number of k-sets that are in none of the views."""
    covered = {subset for view in views for subset in combinations(view, order)}
    return math.comb(attributes, order) - len(covered)
