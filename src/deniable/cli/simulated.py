"""The output of `deniable simulate`: where the reports are, and the truth behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable._words import plural
from deniable.cli.cells import Cell
from deniable.cli.history import Course
from deniable.cli.output import emit_json, out
from deniable.protocol import Question

Truth = tuple[int, dict[str, dict[str, float]]]
"""An epoch, and by field the true share of each answer among the people in it."""


@dataclass(frozen=True)
class Told:
    """The simulated crowd of one question."""

    question: Question
    epoch: int
    cells: Sequence[Cell]
    truths: Sequence[Truth]
    changed: Mapping[str, int]
    strings: Mapping[str, Sequence[str]]

    def as_json(self, course: Course) -> dict[str, object]:
        """Return the crowd as JSON."""
        told: dict[str, object] = {
            "question": self.question.id,
            "version": self.question.version,
            "people": course.people,
            "epoch": self.epoch,
            "truth": self.truths[-1][1],
        }
        if course.epochs > 1:
            history = [{"epoch": epoch, "truth": truth} for epoch, truth in self.truths]
            told |= {"epochs": course.epochs, "churn": course.churn, "drift": course.drift}
            told["history"] = history
        if self.changed:
            told["fitted"] = dict(self.changed)
        return {**told, "cells": [cell.as_json() for cell in self.cells]}


def show_simulated(told: Sequence[Told], course: Course, data: str, seed: int, json: bool) -> None:
    """Print what was simulated, as text or as one JSON object."""
    where = {"data": data, "seed": seed}
    if json:
        each = [one.as_json(course) for one in told]
        emit_json({**each[0], **where} if len(each) == 1 else {**where, "questions": each})
        return
    for one in told:
        _show(one, course, data, seed)


def _show(told: Told, course: Course, data: str, seed: int) -> None:
    over = f" in each of {course.epochs:,} epochs" if course.epochs > 1 else ""
    if over and told.question.repeat == "once":
        over = f" in the first of {course.epochs:,} epochs, since it is answered once,"
        over += " and later those of new devices" if course.churn else ""
    made = plural(course.people, "simulated report")
    out.print(
        f"{made} to {told.question.id}{over} {'is' if course.people == 1 else 'are'} in {data} "
        f"(seed {seed}). Ask with --data {data}",
        markup=False,
    )
    for cell in told.cells if len(told.cells) > 1 else ():
        out.print(f"  {cell.words()}: {len(cell.people):,} people", markup=False)
    for name, count in told.changed.items():
        out.print(
            f"  {count:,} of {len(told.strings[name]):,} listed strings of {name} were cut off or "
            "escaped, as its domain says.",
            markup=False,
        )
    shown = told.truths if len(told.truths) == 1 else (told.truths[0], told.truths[-1])
    for epoch, truth in shown:
        when = f" in epoch {epoch}" if len(shown) > 1 else ""
        for name, shares in truth.items():
            listed = ", ".join(f"{label} {share:.2%}" for label, share in list(shares.items())[:8])
            more = ", …" if len(shares) > 8 else ""
            out.print(f"  truth of {name}{when}: {listed}{more}", markup=False)
