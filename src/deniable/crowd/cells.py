"""Simulated people in segments and levels, drawn by the shares that a survey states."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.authoring.segments import clear_cells
from deniable.mechanisms.base import Codes
from deniable.protocol import Question
from deniable.protocol.segments import combination_text
from deniable.store import Batch


@dataclass(frozen=True)
class Cell:
    """The simulated people of one level and combination of segments, by their numbers."""

    question: Question
    segments: str
    people: Codes

    def batch(self, epoch: int) -> Batch:
        """Return the batch of their reports."""
        asked = self.question
        return Batch(asked.id, asked.version, asked.digest, epoch, True, self.segments)

    def words(self) -> str:
        """Return what they have in common."""
        values = json.loads(self.segments) if self.segments else {}
        told = [f"{name} {value}" for name, value in values.items()]
        return ", ".join(
            [*told, *([f"level {self.question.level}"] if self.question.level else [])]
        )

    def as_json(self) -> dict[str, object]:
        """Return the cell as `deniable simulate --json` prints it."""
        values = json.loads(self.segments) if self.segments else {}
        return {"level": self.question.level, "segments": values, "people": len(self.people)}


def draw_cells(levels: Sequence[Question], people: int, rng: np.random.Generator) -> list[Cell]:
    """Draw everybody into a level and a combination, independently of their answers."""
    if len(levels) == 1 and not levels[0].segments:
        return [Cell(levels[0], "", np.arange(people))]
    expected = list(clear_cells(levels, people))
    shares = np.array([cells.people * cells.number for cells in expected])
    drawn = rng.choice(len(expected), size=people, p=shares / shares.sum())
    order = np.argsort(drawn, kind="stable")
    ends = np.searchsorted(drawn[order], np.arange(len(expected) + 1))
    return [
        Cell(
            cells.question,
            combination_text(cells.segments) if cells.segments else "",
            order[ends[i] : ends[i + 1]],
        )
        for i, cells in enumerate(expected)
    ]
