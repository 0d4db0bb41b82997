"""An association: which answers of several fields go together, as a person reads it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from deniable.associate import Derived, Independence, Joint, Pair
from deniable.results.associate_attackers import Attacked, AttackedTest
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
        attacked: what a share of crafted reports could have done; None if nobody asked.
        simulated: how many of the n reports are simulated.
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
    attacked: Attacked | None = None
    simulated: int = 0

    @property
    def attackers(self) -> float | None:
        """The share of crafted reports that attacked intervals allow for, if any."""
        return None if self.attacked is None else self.attacked.attackers

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination of answers, the last field changing fastest."""
        return self.cells_of_pair(self.joint)

    def cells_of_pair(self, table: Joint) -> tuple[Cell, ...]:
        """Return the cells of this table, or of that of two of its fields, the others summed out.

        With attacked intervals, if they were asked for.
        """
        cells = cells_of(table)
        if self.attacked is None:
            return tuple(cells)
        shifts = self.attacked.shifts
        if table.names != self.fields:
            shifts = shifts.margins[tuple(self.fields.index(name) for name in table.names)]
        moved = zip(cells, shifts.up.flat, shifts.down.flat, strict=True)
        return tuple(_attacked(cell, float(up), float(down)) for cell, up, down in moved)

    def as_json(self) -> dict[str, object]:
        """Return the association as spec/schemas/association.json describes it; never NaN."""
        joint = self.joint
        attackers = {} if self.attackers is None else {"attackers": self.attackers}
        tests = [None] * len(self.pairs) if self.attacked is None else self.attacked.tests
        return {
            "question": self.question,
            "version": self.version,
            "description": self.description,
            "fields": list(self.fields),
            "mechanisms": dict(self.mechanisms),
            "labels": {name: list(labels) for name, labels in _axes(joint)},
            "n": self.n,
            "simulated": self.simulated,
            "level": joint.level,
            "epsilon_once": self.epsilon_once,
            "epochs": None if self.epochs is None else self.epochs.as_json(),
            "cells": [cell.as_json() for cell in self.cells],
            "conditionals": [
                {"of": c.names[-1], "given": list(c.names[:-1]), "rows": _rows(c)}
                for c in self.conditionals
            ],
            "odds_ratios": None if self.odds is None else _rows(self.odds),
            "tests": [pair_json(*both) for both in zip(self.pairs, tests, strict=True)],
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
    # Of pairs out of more fields the interval itself may go beyond 0 and 1.
    ends = min(low, max(0.0, low - up)), max(high, min(1.0, high + down))
    return replace(cell, attacked_interval=ends)


def cells_of(table: Joint | Derived) -> Iterator[Cell]:
    """Yield the entries of a table with their labels, the last axis changing fastest."""
    value = table.probability if isinstance(table, Joint) else table.value
    for place, values in zip(np.ndindex(value.shape), product(*table.labels), strict=True):
        ends = float(table.low[place]), float(table.high[place])
        attacked = None if isinstance(table, Joint) else _attacked_ends(table, place)
        error = float(table.std_error[place])
        yield Cell(tuple(values), float(value[place]), error, ends, attacked)


def _attacked_ends(table: Derived, place: tuple[int, ...]) -> tuple[float, float] | None:
    if table.attacked_low is None or table.attacked_high is None:
        return None
    return float(table.attacked_low[place]), float(table.attacked_high[place])


def _axes(joint: Joint) -> Iterator[tuple[str, tuple[str, ...]]]:
    return zip(joint.names, joint.labels, strict=True)


def _rows(derived: Derived) -> list[dict[str, object]]:
    rows = []
    for cell in cells_of(derived):
        row = cell.as_json()
        rows.append({"value" if key == "probability" else key: row[key] for key in row})
    return rows


def pair_json(pair: Pair, attacked: AttackedTest | None = None) -> dict[str, object]:
    """Return a test as JSON, with what it may say without crafted reports if that is known."""
    found: dict[str, object] = {
        "fields": list(pair.names),
        **_test_json(pair.test),
        "p_holm": number(pair.holm),
        "p_bh": number(pair.bh),
    }
    if attacked is not None:
        found["attacked_p_value"] = [number(end) for end in attacked.p_value]
        found["attacked_p_holm"] = [number(end) for end in attacked.holm]
    return found


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
