"""Made-up histories: devices that come back with their secret, epoch after epoch.

Some of the devices are replaced from epoch to epoch (churn), and some people change their answer
once (drift). Where anything lasts (a permanent response, a cohort), every report is made by the
client's own encoder from the device's secret; where nothing does, all reports of an epoch are drawn
at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.crowd.cells import Cell, draw_cells
from deniable.crowd.population import CHUNK, Population, draw_population
from deniable.mechanisms.base import Codes
from deniable.protocol import Question
from deniable.protocol.prf import SECRET_BYTES
from deniable.store import Batch

_AHEAD = 2**16


@dataclass(frozen=True)
class Course:
    """How a crowd goes on.

    Attributes:
        epochs: the number of epochs.
        people: the number of devices in each of them.
        churn: the share of devices that others replace from one epoch to the next.
        drift: the share of people who have another answer in the last epoch than at first, drawn
            with the frequent answers rare and the rare ones frequent.
    """

    epochs: int
    people: int
    churn: float = 0.0
    drift: float = 0.0

    @property
    def replaced(self) -> int:
        """The number of devices that are new in every epoch after the first."""
        return round(self.churn * self.people)

    @property
    def devices(self) -> int:
        """The number of devices that there ever are."""
        return self.people + (self.epochs - 1) * self.replaced

    def moved(self, epoch: int) -> float:
        """Return the share of people who have changed their answer by an epoch, from 0."""
        return self.drift * epoch / max(1, self.epochs - 1)


class History:
    """The reports of a crowd to one question, over epochs.

    Args:
        levels: the question, in each of its levels.
        course: how the crowd goes on.
        rng: the only source of randomness, that of the devices' secrets too.
        candidates: the strings that people may answer, by field name.
        together: as in `draw_population`.
    """

    def __init__(
        self,
        levels: Sequence[Question],
        course: Course,
        rng: np.random.Generator,
        candidates: Mapping[str, Sequence[str]],
        together: float = 0.0,
    ) -> None:
        self._rng, self._course, question = rng, course, levels[0]
        drawn = (course.devices, rng, candidates, together)
        self.before = draw_population(question, *drawn)
        self._after = draw_population(question, *drawn, turned=True)
        self._turning = rng.random(course.devices)
        self.cells = draw_cells(levels, course.devices, rng)
        self._secrets = rng.bytes(SECRET_BYTES * course.devices)
        self._fresh = SystemDraws(_Ahead(rng).take)
        self.lasting = any(lasts(level) for level in levels)

    def epochs(self, last: int) -> Iterator[tuple[int, Codes, Codes]]:
        """Yield every epoch up to `last`: its number, the devices in it, and those that are new."""
        course, active = self._course, np.arange(self._course.people)
        new = active
        for place in range(course.epochs):
            if place:
                first = course.people + (place - 1) * course.replaced
                new = np.arange(first, first + course.replaced)
                left = self._rng.choice(course.people, course.replaced, replace=False)
                active = active.copy()
                active[left] = new
            yield last - course.epochs + 1 + place, active, new

    def population(self, place: int, people: Codes) -> Population:
        """Return the true answers of some devices in the epoch at a place."""
        turned = self._turning[people] < self._course.moved(place)
        codes = {}
        for name, before in self.before.codes.items():
            after = self._after.codes[name][people]
            mine = turned if before.ndim == 1 else turned[:, None]
            codes[name] = np.where(mine, after, before[people])
        return Population(self.before.question, self.before.answers, codes)

    def reports(
        self, place: int, epoch: int, reporting: Codes
    ) -> Iterator[tuple[Batch, int, bytes]]:
        """Yield the records of the devices that report in an epoch, by cell, some at a time."""
        present = np.zeros(self._course.devices, dtype=np.bool_)
        present[reporting] = True
        for cell in self.cells:
            people = np.sort(cell.people[present[cell.people]])
            for start in range(0, len(people), CHUNK):
                part = people[start : start + CHUNK]
                yield cell.batch(epoch), len(part), self._records(cell, place, part)

    def _records(self, cell: Cell, place: int, people: Codes) -> bytes:
        crowd = self.population(place, people)
        if not self.lasting:
            both = crowd.of(cell.question, np.arange(len(people)))
            return b"".join(data for _, data in both.records(self._rng))
        size = SECRET_BYTES
        return b"".join(
            encode(
                cell.question,
                crowd.value(i),
                self._secrets[size * device : size * (device + 1)],
                self._fresh,
            )
            for i, device in enumerate(people.tolist())
        )


def lasts(question: Question) -> bool:
    """Tell whether anything of a device's report is the same in every epoch."""
    fields = question.fields
    return question.repeat == "permanent" or any(
        field.parameters.memoised or any(n.permanent for n in field.parameters.channel.numbers)
        for field in fields
    )


class _Ahead:
    """Bytes of a generator, drawn many at a time: a call for each would take most of the time."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._bytes, self._at = b"", 0

    def take(self, count: int) -> bytes:
        if self._at + count > len(self._bytes):
            self._bytes, self._at = self._rng.bytes(max(count, _AHEAD)), 0
        self._at += count
        return self._bytes[self._at - count : self._at]
