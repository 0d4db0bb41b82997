"""Counts of a question's reports, apart by epoch and segments where that is asked for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from deniable._words import plural
from deniable.engines.selection import Selection, segment_labels
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, mechanism_for
from deniable.protocol import Question

Key = TypeVar("Key", int, str)
FieldCounts = Mapping[str, Counts]
"""Counts by the name of the field."""


@dataclass(frozen=True, order=True)
class Cell:
    """The reports of one epoch with one combination of segments, as it may be seen."""

    epoch: int
    segments: str = ""


@dataclass(frozen=True)
class Part:
    """The counts of one cell, and how many of its reports are simulated."""

    counts: FieldCounts
    simulated: int = 0

    @property
    def n(self) -> int:
        """The number of reports."""
        return next(iter(self.counts.values())).n

    def merge(self, other: Part) -> Part:
        """Return the counts of both."""
        return Part(merged(self.counts, other.counts), self.simulated + other.simulated)


def merged(one: FieldCounts, other: FieldCounts) -> dict[str, Counts]:
    """Return the counts of both, field by field."""
    return {name: one[name].merge(other[name]) for name in one}


def no_counts(question: Question) -> dict[str, Counts]:
    """Return the counts of no reports."""
    return {one.name: mechanism_for(one.parameters).zero() for one in question.fields}


@dataclass(frozen=True)
class Accumulated:
    """The counts of a question's reports, one per field, and the epochs they cover.

    Attributes:
        question: the question, whose digest every counted report carries.
        counts: by field name, in the order of the question.
        epochs: the number of reports of each epoch, in order of the epochs.
        ignored: reports under the same id and version but with another digest, not counted.
        simulated: the number of simulated reports among those counted.
        segments: the number of reports by the text of their segments, "" without any.
        cells: the same counts by epoch and segments; empty where they were not kept apart.
    """

    question: Question
    counts: FieldCounts
    epochs: Mapping[int, int]
    ignored: int = 0
    simulated: int = 0
    segments: Mapping[str, int] = field(default_factory=dict)
    cells: Mapping[Cell, Part] = field(default_factory=dict)

    @classmethod
    def of_cells(
        cls, question: Question, cells: Mapping[Cell, Part], ignored: int = 0
    ) -> Accumulated:
        """Return the counts of some cells together."""
        totals, epochs, segments = no_counts(question), Counter[int](), Counter[str]()
        for cell, part in cells.items():
            totals = merged(totals, part.counts)
            epochs[cell.epoch] += part.n
            segments[cell.segments] += part.n
        return cls(
            question,
            totals,
            dict(sorted(epochs.items())),
            ignored,
            sum(part.simulated for part in cells.values()),
            dict(sorted(segments.items())),
            dict(sorted(cells.items())),
        )

    def merge(self, other: Accumulated) -> Accumulated:
        """Return the counts of both sets of reports; both must be kept apart, or neither.

        Raises:
            InvalidParameter: if they are of different questions, versions or levels.
        """
        if self.question.digest != other.question.digest:
            raise InvalidParameter("Only counts of one question, version and level can be merged.")
        cells = dict(self.cells)
        for cell, part in other.cells.items():
            cells[cell] = cells[cell].merge(part) if cell in cells else part
        return Accumulated(
            self.question,
            merged(self.counts, other.counts),
            dict(sorted((Counter(self.epochs) + Counter(other.epochs)).items())),
            self.ignored + other.ignored,
            self.simulated + other.simulated,
            dict(sorted((Counter(self.segments) + Counter(other.segments)).items())),
            dict(sorted(cells.items())),
        )

    @property
    def n(self) -> int:
        """The number of reports counted."""
        return sum(self.epochs.values())

    @property
    def ignored_words(self) -> list[str]:
        """A sentence about the reports that were not counted, if there are any."""
        if not self.ignored:
            return []
        if self.question.level:
            return [
                f"Not counted: {plural(self.ignored, 'report')} of other levels, since each "
                "level is a "
                "channel of its own. Leave out --level to pool them."
            ]
        return [
            f"Not counted: {plural(self.ignored, 'report')} under this id and version with another "
            "digest. The question was changed without a new version."
        ]

    def selected(self, selection: Selection) -> Accumulated:
        """Return the counts of the cells that are asked about.

        Raises:
            InvalidParameter: if the question has no such segment or value.
        """
        selection.check(self.question)
        taken = {
            cell: part
            for cell, part in self._apart.items()
            if selection.takes(cell.epoch, cell.segments)
        }
        return self.of_cells(self.question, taken, self.ignored)

    def by_epoch(self) -> dict[int, Accumulated]:
        """Return the counts of every epoch with reports, rising."""
        return self._by(lambda cell: cell.epoch)

    def by_segment(self, name: str) -> dict[str, Accumulated]:
        """Return the counts of every value of a segment that reports carry, in its order.

        Raises:
            InvalidParameter: if the question has no such segment.
        """
        labels = segment_labels(self.question, name)
        found = self._by(lambda cell: _value(cell, name))
        return {label: found[label] for label in labels if label in found}

    def _by(self, key: Callable[[Cell], Key]) -> dict[Key, Accumulated]:
        groups: dict[Key, dict[Cell, Part]] = {}
        for cell, part in self._apart.items():
            groups.setdefault(key(cell), {})[cell] = part
        return {
            name: replace(self.of_cells(self.question, groups[name]), ignored=0)
            for name in sorted(groups)
        }

    @property
    def _apart(self) -> Mapping[Cell, Part]:
        if self.n and not self.cells:
            raise InvalidParameter("These counts were not kept apart by epoch and segment.")
        return self.cells


def _value(cell: Cell, name: str) -> str:
    told = json.loads(cell.segments) if cell.segments else {}
    return str(told.get(name, ""))
