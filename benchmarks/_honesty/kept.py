"""The table of results on the disk: a line per number, so that a stopped run goes on."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from _honesty.grid import Cell, Measured

REFUSED = "refused"
"""The measure of a cell whose mechanism has no form at that epsilon."""


@dataclass(frozen=True)
class Line:
    """One number of one cell."""

    kind: str
    mechanism: str
    people: int
    epsilon: float
    population: str
    epochs: int
    measure: str
    value: float
    std_error: float
    runs: int

    @property
    def cell(self) -> Cell:
        """The cell."""
        return Cell(*astuple(self)[:6])


def read(path: Path) -> list[Line]:
    """Return all numbers that were kept; none if there is no file."""
    if not path.exists():
        return []
    kinds = [(int, float, str)[("int", "float", "str").index(str(f.type))] for f in fields(Line)]
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [Line(*(kind(text) for kind, text in zip(kinds, row, strict=True))) for row in rows]


def append(path: Path, cell: Cell, found: Sequence[Measured]) -> list[Line]:
    """Write the numbers of a finished cell, and return them."""
    numbers = list(found) or [Measured(REFUSED, 1.0, 0.0, 0)]
    lines = [Line(*astuple(cell)[:6], *astuple(number)) for number in numbers]
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow([field.name for field in fields(Line)])
        writer.writerows(_short(line) for line in lines)
    return lines


def summary(lines: Iterable[Line]) -> list[Line]:
    """Return the numbers over all populations: the mean, but the least of what must not be low."""
    groups: dict[tuple[object, ...], list[Line]] = defaultdict(list)
    for line in lines:
        key = (line.kind, line.mechanism, line.people, line.epsilon, line.epochs, line.measure)
        groups[key].append(line)
    found = []
    for (kind, mechanism, people, epsilon, epochs, measure), group in groups.items():
        values = [line.value for line in group]
        least = str(measure).startswith("least")
        value = min(values) if least else sum(values) / len(values)
        error = math.sqrt(sum(line.std_error**2 for line in group)) / len(group)
        runs = sum(line.runs for line in group)
        named = (kind, mechanism, people, epsilon, "all", epochs, measure)
        found.append(Line(*named, value, error, runs))  # type: ignore[arg-type]
    return found


def write(path: Path, lines: Iterable[Line]) -> None:
    """Write a table anew."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Line)])
        writer.writerows(_short(line) for line in lines)


def _short(line: Line) -> tuple[object, ...]:
    return (*astuple(line)[:7], f"{line.value:.5g}", f"{line.std_error:.3g}", line.runs)
