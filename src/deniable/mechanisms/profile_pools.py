"""Counts of many overlapping tables, put together for the attributes that are asked for.

Model: every report is about one of V tables ("views"), drawn independently of the profile, and the
cells of a view are numbered with its first attribute fastest. All views that contain some
attributes say the same about them, except that views of more cells say it more noisily: so their
counts, summed over the other attributes, are added up, apart for each number of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Codes
from deniable.mechanisms.moments import Subset

Integers = NDArray[np.int64]


class Pool(NamedTuple):
    """The pooled counts of some attributes, from all views with one number of cells.

    Attributes:
        cells: the number of cells of those views.
        observed: summed counts, an axis per attribute.
        reports: the number of reports that they got.
    """

    cells: int
    observed: Integers
    reports: int


class Pools:
    """Where attributes stand in a list of views.

    Args:
        views: sets of rising attributes.
        answers: the number of (inner) answers of every attribute.
    """

    def __init__(self, views: Sequence[Subset], answers: Sequence[int]) -> None:
        self.views = tuple(views)
        self.answers = tuple(answers)

    @cached_property
    def cells(self) -> Codes:
        """The number of cells of each view."""
        answers = np.array(self.answers)
        return np.array([answers[list(view)].prod() for view in self.views], dtype=np.int64)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where each attribute stands in each view; -1 where it does not."""
        places = np.full((len(self.views), len(self.answers)), -1, dtype=np.int64)
        for number, view in enumerate(self.views):
            places[number, list(view)] = range(len(view))
        return places

    @cached_property
    def _shapes(self) -> tuple[list[tuple[int, ...]], Codes]:
        """The different shapes of views, and which of them each view has."""
        shapes = [tuple(self.answers[i] for i in view) for view in self.views]
        different = sorted(set(shapes))
        number = {shape: i for i, shape in enumerate(different)}
        return different, np.array([number[shape] for shape in shapes], dtype=np.int64)

    def cell_of(self, drawn: Codes, codes: Codes) -> Codes:
        """Return the cell of each profile in the view that was drawn for it."""
        attributes, strides = self._strides
        result, rows = np.zeros(drawn.size, dtype=np.int64), np.arange(drawn.size)
        for place in range(attributes.shape[1]):
            result += codes[rows, attributes[drawn, place]] * strides[drawn, place]
        return result

    @cached_property
    def _strides(self) -> tuple[Codes, Codes]:
        """The attributes of each view and their strides; a stride of 0 fills short views up."""
        width = max(map(len, self.views))
        attributes = np.zeros((len(self.views), width), dtype=np.int64)
        strides = np.zeros_like(attributes)
        for number, view in enumerate(self.views):
            attributes[number, : len(view)] = view
            sizes = [1, *(self.answers[i] for i in view[:-1])]
            strides[number, : len(view)] = np.cumprod(sizes)
        return attributes, strides

    def _groups(self, attributes: Subset) -> list[tuple[Codes, tuple[int, ...], list[int]]]:
        """Return the views that contain attributes: alike ones, their shape, the places in it."""
        places = self._places[:, list(attributes)]
        found = np.flatnonzero((places >= 0).all(axis=1))
        shapes, kinds = self._shapes
        key = kinds[found]
        for column in range(len(attributes)):
            key = key * 32 + places[found, column]
        groups = []
        for value in np.unique(key).tolist():
            rows = found[key == value]
            groups.append((rows, shapes[kinds[rows[0]]], places[rows[0]].tolist()))
        return groups

    def told(self, reports: Integers, attributes: Subset) -> float:
        """Return the number of reports on views that contain all of some attributes."""
        inside = (self._places[:, list(attributes)] >= 0).all(axis=1)
        return float(reports[inside].sum())

    def summed(self, table: Integers, reports: Integers, attributes: Subset) -> list[Pool]:
        """Return the pools of some attributes, with counts summed over all others.

        Args:
            table: a row per view, its cells first.
            reports: of each view.
            attributes: rising.
        """

        def over_others(block: Integers, places: list[int]) -> Integers:
            axes = tuple(a + 1 for a in range(block.ndim - 1) if a not in places)
            return np.asarray(block.sum(axis=(0, *axes)))

        return self._pooled(table, reports, attributes, over_others)

    def constant(self, table: Integers, reports: Integers, attributes: Subset) -> list[Pool]:
        """Return the pools of coefficients that have the constant function of all others."""

        def at_zero(block: Integers, places: list[int]) -> Integers:
            kept = tuple(slice(None) if a in places else 0 for a in range(block.ndim - 1))
            return np.asarray(block[(slice(None), *kept)].sum(axis=0))

        return self._pooled(table, reports, attributes, at_zero)

    def _pooled(
        self,
        table: Integers,
        reports: Integers,
        attributes: Subset,
        reduced: Callable[[Integers, list[int]], Integers],
    ) -> list[Pool]:
        pools: dict[int, Pool] = {}
        for rows, shape, places in self._groups(attributes):
            cells = int(np.prod(shape))
            # The first attribute is fastest: in C order the axes stand the other way round.
            block = table[rows, :cells].reshape(len(rows), *reversed(shape))
            block = block.transpose(0, *range(len(shape), 0, -1))
            observed, seen = reduced(block, places), int(reports[rows].sum())
            before = pools.get(cells)
            if before is not None:
                observed, seen = observed + before.observed, seen + before.reports
            pools[cells] = Pool(cells, observed, seen)
        return [pools[cells] for cells in sorted(pools)]
