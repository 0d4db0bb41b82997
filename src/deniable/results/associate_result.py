"""An association: which answers of several fields go together, as a person reads it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from deniable.associate import Derived, Independence, Joint, Pair, Shifts
from deniable.results.result import Epochs

ALPHA = 0.05
"""A p-value below this is called evidence."""


@dataclass(frozen=True)
class Cell:
    """One combination of answers.

    Attributes:
        values: an answer per field.
        probability: the share of people with all of them.
        std_error: one standard deviation of it.
        interval: the ends of its 95% interval.
        attacked_interval: `interval` with what crafted reports could do; None if nobody asked.
    """

    values: tuple[str, ...]
    probability: float
    std_error: float
    interval: tuple[float, float]
    attacked_interval: tuple[float, float] | None = None

    @property
    def learned(self) -> bool:
        """Whether there is an estimate with an error at all."""
        return math.isfinite(self.probability) and math.isfinite(self.std_error)

    def as_json(self) -> dict[str, object]:
        """Return the cell as JSON; what cannot be learned is null."""
        cell: dict[str, object] = {
            "values": list(self.values),
            "probability": number(self.probability),
            "std_error": number(self.std_error),
            "interval": [number(end) for end in self.interval],
        }
        if self.attacked_interval is not None:
            cell["attacked_interval"] = [number(end) for end in self.attacked_interval]
        return cell


@dataclass(frozen=True)
class Association:
    """What the reports say about several fields of a question together.

    Attributes:
        question, version, description: what was asked.
        fields: their names, in the order asked for.
        mechanisms: how each field was randomised.
        n: the number of reports.
        epsilon_once: of these fields together, in one report.
        epochs: what the reports cover; None without reports.
        joint: the table, with its errors and the certificate of the fit.
        conditionals: P(one field | another), for two fields both ways; else of the last field
            given all others.
        pairs: a test of independence per pair of fields, corrected for their number.
        odds: odds ratios of two fields, each cell against the rest; None for more fields.
        notes: what a reader must know.
        attackers: the share of crafted reports that attacked intervals allow for, if any.
        shifts: how far so many can have moved each cell; None if nobody asked.
    """

    question: str
    version: int
    description: str
    fields: tuple[str, ...]
    mechanisms: Mapping[str, str]
    n: int
    epsilon_once: float
    epochs: Epochs | None
    joint: Joint
    conditionals: tuple[Derived, ...]
    pairs: tuple[Pair, ...]
    odds: Derived | None = None
    notes: tuple[str, ...] = ()
    attackers: float | None = None
    shifts: Shifts | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination of answers, the last field changing fastest."""
        cells = cells_of(self.joint)
        if self.shifts is None:
            return tuple(cells)
        moved = zip(cells, self.shifts.up.flat, self.shifts.down.flat, strict=True)
        return tuple(_attacked(cell, float(up), float(down)) for cell, up, down in moved)

    def as_json(self) -> dict[str, object]:
        """Return the association as spec/schemas/association.json describes it; never NaN."""
        joint = self.joint
        attackers = {} if self.attackers is None else {"attackers": self.attackers}
        return {
            "question": self.question,
            "version": self.version,
            "description": self.description,
            "fields": list(self.fields),
            "mechanisms": dict(self.mechanisms),
            "labels": {name: list(labels) for name, labels in _axes(joint)},
            "n": self.n,
            "level": joint.level,
            "epsilon_once": self.epsilon_once,
            "epochs": None if self.epochs is None else self.epochs.as_json(),
            "cells": [cell.as_json() for cell in self.cells],
            "conditionals": [
                {"of": c.names[-1], "given": list(c.names[:-1]), "rows": _rows(c)}
                for c in self.conditionals
            ],
            "odds_ratios": None if self.odds is None else _rows(self.odds),
            "tests": [pair_json(pair) for pair in self.pairs],
            "fit": {
                "solver": joint.solver,
                "rounds": joint.rounds,
                "gap": number(joint.gap),
                "patterns": joint.patterns,
                "informative": joint.informative,
            },
            "notes": list(self.notes),
            **attackers,
        }


def _attacked(cell: Cell, up: float, down: float) -> Cell:
    """Return a cell with its attacked interval: what was pushed up is really lower."""
    low, high = cell.interval
    return replace(cell, attacked_interval=(max(0.0, low - up), min(1.0, high + down)))


def cells_of(table: Joint | Derived) -> Iterator[Cell]:
    """Yield the entries of a table with their labels, the last axis changing fastest."""
    value = table.probability if isinstance(table, Joint) else table.value
    for place, values in zip(np.ndindex(value.shape), product(*table.labels), strict=True):
        ends = float(table.low[place]), float(table.high[place])
        yield Cell(tuple(values), float(value[place]), float(table.std_error[place]), ends)


def _axes(joint: Joint) -> Iterator[tuple[str, tuple[str, ...]]]:
    return zip(joint.names, joint.labels, strict=True)


def _rows(derived: Derived) -> list[dict[str, object]]:
    return [
        {
            "values": list(cell.values),
            "value": number(cell.probability),
            "std_error": number(cell.std_error),
            "interval": [number(end) for end in cell.interval],
        }
        for cell in cells_of(derived)
    ]


def pair_json(pair: Pair) -> dict[str, object]:
    """Return a test as JSON."""
    return {
        "fields": list(pair.names),
        **_test_json(pair.test),
        "p_holm": number(pair.holm),
        "p_bh": number(pair.bh),
    }


def _test_json(test: Independence) -> dict[str, object]:
    return {
        "method": test.method,
        "statistic": number(test.statistic),
        "dof": test.dof,
        "p_value": number(test.p_value),
        "notes": list(test.notes),
    }


def number(value: float) -> float | None:
    """Return a number that JSON can hold: None for NaN and infinities."""
    return float(value) if math.isfinite(value) else None
