"""Views: k-RR over the cells of one of a few overlapping sets of attributes.

Model: the published views are sets of attributes such that every k attributes are together in one
of them. A report draws a view uniformly, and passes the profile's cell in it, one of m combinations
of levels that can occur, through k-RR over these m cells at the whole epsilon. Tables follow from
all views that contain their attributes (compare CALM [ZWLHC18]).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.parameters import Written
from deniable.protocol.profile_domain import MAX_ATTRIBUTES
from deniable.protocol.profile_noise import (
    PEOPLE,
    cell_noise,
    cover_orders,
    expected_people,
    mean_levels,
    smoothed_noise,
    view_orders,
)
from deniable.protocol.profile_parameters import (
    AUTHORED,
    cell_of,
    check_count,
    read_shape,
    read_symbol,
    symbol_layout,
    wanted_shape,
)
from deniable.protocol.profile_truth import TruthParameters
from deniable.protocol.truth_thresholds import truth_threshold
from deniable.protocol.view_cover import cover, uncovered

MOST_VIEWS = 16_384
MOST_CELLS = 65_536
"""The most cells of one view; k-RR over that many says very little."""
LARGEST_VIEW = 4_096
"""The most cells of a view whose size is chosen here."""
MOST_SYMBOLS = 2**22
"""The most cells of all views together: each is a count on the other side."""
MOST_SETS = 2**18
"""The most sets of k attributes, over all views, that a reader looks at."""


def check_view_size(name: str, owner: str, value: object) -> int:
    """Return a number of attributes of a view, else raise InvalidParameter."""
    return _validate.integer(name, owner, value, 1, MAX_ATTRIBUTES)


@frozen
class ViewsParameters(TruthParameters):
    """The integers of views.

    Attributes:
        levels, order, truth: as of every k-RR over tables of different sizes.
        views: sets of attributes, each rising, numbered from 0.
    """

    views: tuple[tuple[int, ...], ...]

    mechanism: ClassVar[str] = "views"
    authored: ClassVar[Mapping[str, Written]] = {**AUTHORED, "size": Written(check_view_size, "4")}
    members_published: ClassVar[tuple[str, ...]] = ("truth", "views")

    def __post_init__(self) -> None:
        self._check_shape()
        for view in self.views:
            self._check_view(view)
        check_count("views", "views", len(self.views), MOST_VIEWS)
        check_count("views", "cells in one view", self.most_cells, MOST_CELLS)
        check_count("views", "cells", len(self.views) * self.most_cells, MOST_SYMBOLS)
        sets = sum(math.comb(len(view), self.order) for view in self.views)
        check_count("views", "sets of attributes", sets, MOST_SETS)
        missing = uncovered(self.views, len(self.levels), self.order)
        if missing:
            raise InvalidParameter(
                f"views must cover every {self.order} attributes: {missing:,} sets are in no view."
            )
        self._check_truth(self.sizes)

    def _check_view(self, view: tuple[int, ...]) -> None:
        if (
            not view
            or list(view) != sorted(set(view))
            or not 0 <= view[0] <= view[-1] < len(self.levels)
        ):
            raise _validate.invalid("views", "views", "lists of rising attribute numbers", view)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, `order` and the `size` of views.

        By default the size is the best one for the survey's `people`, or for PEOPLE.
        """
        levels, order, micros = wanted_shape("views", wanted, domain, absent)
        check_count("views", "views", math.comb(len(levels), order), MOST_VIEWS)
        largest = math.prod(sorted(levels)[-order:])
        check_count("views", "cells in one view", largest, MOST_CELLS)
        best = best_size(levels, order, micros, expected_people("views", wanted))
        size = check_view_size("size", "views", wanted.get("size", best))
        if not order <= size <= len(levels):
            must = f"an integer from {order}, the order, to {len(levels)}"
            raise _validate.invalid("size", "views", must, size)
        views = _cover(levels, order, size)
        return cls(levels, order, truth_threshold(1, micros), views)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        levels, order = read_shape(cls, data)
        truth, views = thresholds.from_text("truth", data["truth"]), data["views"]
        if not isinstance(views, list) or not 1 <= len(views) <= MOST_VIEWS:
            must = f"a list of 1 to {MOST_VIEWS:,} views"
            raise _validate.invalid("views", "views", must, views)
        return cls(levels, order, truth, tuple(_read_view(view, len(levels)) for view in views))

    def published(self) -> dict[str, Json]:
        """Return the integers, the threshold as a string."""
        views: list[Json] = [list(view) for view in self.views]
        truth = thresholds.to_text(self.truth)
        return {**self._published_shape(), "truth": truth, "views": views}

    def cells(self, number: int) -> int:
        """Return the number of cells of a view: of combinations of levels that can occur."""
        return math.prod(self.levels[i] for i in self.views[number])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cells that views have, rising."""
        return tuple(sorted({self.cells(number) for number in range(len(self.views))}))

    @property
    def most_cells(self) -> int:
        """The number of cells of the largest view."""
        return self.sizes[-1]

    def cell(self, number: int, codes: tuple[int, ...]) -> int:
        """Return the cell of a profile in a view, the first attribute's level fastest."""
        among = self.views[number]
        return cell_of([codes[i] for i in among], [self.levels[i] for i in among])

    @cached_property
    def layout(self) -> Layout:
        """The symbol view * (cells of the largest view) + cell, in 1, 2 or 4 bytes."""
        return symbol_layout(len(self.views) * self.most_cells)

    def check_record(self, record: bytes) -> None:
        """The view must be one of the published ones, and the cell one of its cells."""
        symbol = read_symbol(self.layout, record, len(self.views) * self.most_cells)
        number, cell = divmod(symbol, self.most_cells)
        if not cell < self.cells(number):
            raise InvalidReport("record", "The cell must be one of the view's.")


def _read_view(view: object, attributes: int) -> tuple[int, ...]:
    if not isinstance(view, list) or not 1 <= len(view) <= attributes:
        raise _validate.invalid("views", "views", "lists of attribute numbers", view)
    return tuple(_validate.integer("views", "views", i, 0, attributes - 1) for i in view)


def view_noise(levels: tuple[int, ...], order: int, size: int, micros: int) -> float:
    """Return n Var, roughly, of a cell of k attributes, from views of `size` attributes."""
    orders = view_orders(levels, order, size, micros)
    return cell_noise(orders, mean_levels(levels) ** order)


def best_size(levels: tuple[int, ...], order: int, micros: int, people: int = PEOPLE) -> int:
    """Return the number of attributes of a view of the least error of smoothed tables.

    The least by the closed form, or one more or less: these three by the views that they have.
    """

    def smoothed(orders: list[float]) -> float:
        return smoothed_noise(orders, levels, people)

    sizes = [
        size
        for size in range(order, len(levels) + 1)
        if size == order or math.prod(sorted(levels)[-size:]) <= LARGEST_VIEW
    ]
    guess = min(sizes, key=lambda size: smoothed(view_orders(levels, order, size, micros)))
    near = [size for size in sizes if abs(size - guess) <= 1]
    return min(
        near, key=lambda s: smoothed(cover_orders(_cover(levels, order, s), levels, order, micros))
    )


@lru_cache(maxsize=64)
def _cover(levels: tuple[int, ...], order: int, size: int) -> tuple[tuple[int, ...], ...]:
    """Return views of a size; kept, because whoever plans asks for the same ones many times."""
    largest = math.prod(sorted(levels)[-order:])
    return cover(levels, order, size, max(largest, MOST_CELLS))
