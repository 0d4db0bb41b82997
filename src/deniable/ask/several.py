"""The counts of several levels and versions of one question, side by side.

They have the methods of counts that views are made of, so that whoever groups counts by epoch or
segment groups these too. What is estimated from them is pooled (`ask/together.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from deniable._words import plural
from deniable.engines.accumulated import Accumulated, Cell, Part
from deniable.engines.selection import segment_labels
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Question
from deniable.protocol.epochs import days_of

Key = TypeVar("Key", int, str)
Asked = Question | Sequence[Question]
"""A question in one version and level, or several of them, the newest last."""

NAME_ONE = "Name one of them: --level NAME, --version N."


def each_of(asked: Asked) -> tuple[Question, ...]:
    """Return the levels and versions that are asked about, the newest last."""
    return (asked,) if isinstance(asked, Question) else tuple(asked)


def newest(asked: Asked) -> Question:
    """Return the newest version that is asked about; of levels, the last."""
    return each_of(asked)[-1]


def only(asked: Asked, why: str, instead: str = NAME_ONE) -> Question:
    """Return the one question of an ask that pools nothing.

    Args:
        asked: what is asked about.
        why: a sentence that says why several cannot be pooled.
        instead: what to do.

    Raises:
        InvalidParameter: if there are several levels or versions.
    """
    if len(each_of(asked)) > 1:
        raise InvalidParameter(why, instead)
    return newest(asked)


@dataclass(frozen=True)
class Several:
    """Counts of levels and versions of one question.

    Attributes:
        parts: one for each, the newest last; those without reports may be there.
        left: sentences about versions that were left out.
    """

    parts: tuple[Accumulated, ...]
    left: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """The newest version; of levels, the last."""
        return self.parts[-1].question

    @property
    def n(self) -> int:
        """The number of reports."""
        return sum(part.n for part in self.parts)

    @property
    def simulated(self) -> int:
        """The number of simulated reports."""
        return sum(part.simulated for part in self.parts)

    @property
    def days(self) -> int:
        """The length of an epoch in days; 1 where versions have epochs of different lengths."""
        lengths = {part.question.epoch for part in self.parts}
        return lengths.pop() if len(lengths) == 1 else 1

    @property
    def epochs(self) -> dict[int, int]:
        """The reports of each epoch; of its first day, where lengths differ."""
        found = Counter[int]()
        for part in self.parts:
            for epoch, reports in part.epochs.items():
                alike = part.question.epoch == self.days
                found[epoch if alike else days_of(epoch, part.question.epoch)[0]] += reports
        return dict(sorted(found.items()))

    @property
    def cells(self) -> Mapping[tuple[bytes, Cell], Part]:
        """The counts by level or version, epoch and segments, where they were kept apart."""
        return {
            (part.question.digest, cell): counts
            for part in self.parts
            for cell, counts in part.cells.items()
        }

    def by_epoch(self) -> dict[int, Several]:
        """Return the counts of every epoch with reports, rising.

        Raises:
            InvalidParameter: if versions have epochs of different lengths.
        """
        check_epochs(tuple(part.question for part in self.parts))
        each = [part.by_epoch() for part in self.parts]
        return {epoch: _joined(each, epoch) for epoch in sorted({e for one in each for e in one})}

    def by_segment(self, name: str) -> dict[str, Several]:
        """Return the counts of every value of a segment that reports carry, in its order.

        Raises:
            InvalidParameter: if a version has no such segment.
        """
        each = [part.by_segment(name) for part in self.parts]
        labels = [label for part in self.parts for label in segment_labels(part.question, name)]
        found = {label for one in each for label in one}
        return {label: _joined(each, label) for label in dict.fromkeys(labels) if label in found}


def _joined(each: Sequence[Mapping[Key, Accumulated]], key: Key) -> Several:
    return Several(tuple(one[key] for one in each if key in one))


AnyCounts = Accumulated | Several
"""Counts of one level of one version, or of several."""


def joined(groups: Sequence[AnyCounts]) -> AnyCounts:
    """Return the counts of some groups of the same levels and versions as one."""
    cells: dict[bytes, dict[Cell, Part]] = {}
    questions: dict[bytes, Question] = {}
    for group in groups:
        for part in parts_of(group):
            questions[part.question.digest] = part.question
            cells.setdefault(part.question.digest, {}).update(part.cells)
    ordered = sorted(questions.values(), key=lambda question: question.version)
    parts = tuple(Accumulated.of_cells(one, cells[one.digest]) for one in ordered)
    return parts[0] if len(parts) == 1 else Several(parts)


def agreeing(counted: AnyCounts, field: Field) -> AnyCounts:
    """Return the counts of the levels and versions that have the answers of the newest."""
    if not isinstance(counted, Several):
        return counted
    question = counted.question
    kept: list[Accumulated] = []
    left: list[Accumulated] = []
    for part in counted.parts:
        same = own_field(part.question, field, question) is not None
        (kept if same else left).append(part)
    if not left:
        return counted
    told = ", ".join(sorted({str(part.question.version) for part in left}))
    reports = sum(part.n for part in left)
    note = f"Version {told} has other answers, and is not pooled: {plural(reports, 'report')}."
    return Several(tuple(kept), (*counted.left, note))


def parts_of(counted: AnyCounts) -> tuple[Accumulated, ...]:
    """Return the counts of each level and version with reports; of the newest where none has."""
    if not isinstance(counted, Several):
        return (counted,)
    return tuple(part for part in counted.parts if part.n) or counted.parts[-1:]


def left_out(counted: AnyCounts) -> tuple[str, ...]:
    """Return what is said about versions that have other answers than the newest."""
    return counted.left if isinstance(counted, Several) else ()


def alone(counted: AnyCounts) -> Accumulated | None:
    """Return the counts of the one level and version to ask about; None if there are several."""
    parts = parts_of(counted)
    return parts[0] if len(parts) == 1 else None


def heading_of(counted: AnyCounts) -> str:
    """Return the question's description, with the levels and versions that are pooled."""
    if (one := alone(counted)) is not None:
        return one.question.heading
    asked = [part.question for part in parts_of(counted)]
    told = []
    for what, names in (
        ("version", (q.version for q in asked)),
        ("level", (q.level for q in asked)),
    ):
        each = list(dict.fromkeys(str(name) for name in names if name))
        told += [f"{what}s {', '.join(each)}"] if len(each) > 1 else []
    return f"{counted.question.description} ({'; '.join(told)})"


def own_field(question: Question, field: Field, newer: Question) -> Field | None:
    """Return a field as a version or level asks it; None if it has other answers than a newer."""
    own = next((one for one in question.fields if one.name == field.name), None)
    if own is None or question.absent != newer.absent:
        return None
    return own if own.domain.published() == field.domain.published() else None


def check_epochs(questions: Sequence[Question]) -> None:
    """Raise InvalidParameter if questions have epochs of different lengths."""
    lengths = sorted({question.epoch for question in questions})
    if len(lengths) > 1:
        told = " and ".join(str(days) for days in lengths)
        raise InvalidParameter(
            f"The versions have epochs of different lengths ({told} days): no epoch of one is an "
            "epoch of the other.",
            "Ask about all epochs together, or name one version: --version N.",
        )
