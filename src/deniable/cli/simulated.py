"""The output of `deniable simulate`: where the reports are, and the truth behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable._words import plural
from deniable.cli.output import emit_json, out
from deniable.crowd import Given
from deniable.crowd.cells import Cell
from deniable.crowd.history import Course
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
    given: Given | None = None

    def people(self, course: Course) -> int:
        """Return the number of people who report."""
        return course.people if self.given is None else self.given.population.people

    def as_json(self, course: Course) -> dict[str, object]:
        """Return the crowd as JSON."""
        told: dict[str, object] = {
            "question": self.question.id,
            "version": self.question.version,
            "people": self.people(course),
            "epoch": self.epoch,
            "truth": self.truths[-1][1],
        }
        if course.epochs > 1:
            history = [{"epoch": epoch, "truth": truth} for epoch, truth in self.truths]
            told |= {"epochs": course.epochs, "churn": course.churn, "drift": course.drift}
            told["history"] = history
        if self.given is not None and self.given.notes:
            told["notes"] = list(self.given.notes)
        if self.changed:
            told["fitted"] = dict(self.changed)
        return {**told, "cells": [cell.as_json() for cell in self.cells]}


def show_simulated(
    told: Sequence[Told], course: Course, data: str, seed: int | None, json: bool
) -> None:
    """Print what was simulated, as text or as one JSON object."""
    where = {"data": data, "seed": seed}
    if json:
        each = [one.as_json(course) for one in told]
        emit_json({**each[0], **where} if len(each) == 1 else {**where, "questions": each})
        return
    for one in told:
        _show(one, course, data, seed)


def _show(told: Told, course: Course, data: str, seed: int | None) -> None:
    over = f" in each of {course.epochs:,} epochs" if course.epochs > 1 else ""
    if over and told.question.repeat == "once":
        over = f" in the first of {course.epochs:,} epochs, since it is answered once,"
        over += " and later those of new devices" if course.churn else ""
    people = told.people(course)
    made = plural(people, "simulated report")
    out.print(
        f"{made} to {told.question.id}{over} {'is' if people == 1 else 'are'} in {data}"
        f"{'' if seed is None else f' (seed {seed})'}. Ask with --data {data}",
        markup=False,
    )
    for note in () if told.given is None else told.given.notes:
        out.print(f"  {note}", markup=False)
    if told.given is not None and seed is not None:
        out.print(
            "  Whoever knows the seed and has these reports can take the noise off: keep it as you "
            "keep the values.",
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
            # Of given strings only listed ones are told: these are public.
            listed = listed or "no string is listed; with --candidates those of a list are told"
            out.print(f"  truth of {name}{when}: {listed}{more}", markup=False)
