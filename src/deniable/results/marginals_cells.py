"""The cells of a table in both forms, as rows; and tables given some of their attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.conditional import conditional
from deniable.marginals.table import Table
from deniable.mechanisms.base import Floats

Given = Mapping[str, str | None]
"""Attributes that are given: by name a level, or None for every level."""


@dataclass(frozen=True)
class Both:
    """One table in both forms."""

    raw: Table
    smoothed: Table

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of its attributes."""
        return self.raw.attributes

    def given(self, known: Given) -> Both:
        """Return the shares of the other attributes given these, in both forms.

        Raises:
            InvalidParameter: if an attribute has no such level, or nothing is left to ask for.
        """
        if not known:
            return self
        for name, level in known.items():
            labels = self.raw.labels[self.attributes.index(name)]
            if level is not None and level not in labels:
                raise InvalidParameter(
                    f"Attribute {name!r} has no level {level!r:.80}. It has: {', '.join(labels)}."
                )
        names = list(known)
        return Both(conditional(self.raw, names), conditional(self.smoothed, names))


@dataclass(frozen=True)
class CellRow:
    """One cell: the levels of its attributes, its raw share with error, its smoothed share.

    Attributes:
        values: the level of each attribute, by name.
        raw, std_error, low, high: NaN where nothing could be learned.
        smoothed: the share of the smoothed table.
        attacked_interval: `low` to `high` with what crafted reports could do; None if nobody asked
            or nothing could be learned.
        attacked_smoothed: what the smoothed share may be without crafted reports, likewise.
    """

    values: Mapping[str, str]
    raw: float
    std_error: float
    low: float
    high: float
    smoothed: float
    attacked_interval: tuple[float, float] | None = None
    attacked_smoothed: tuple[float, float] | None = None


@dataclass(frozen=True)
class Bars:
    """The second error bars of a table, in its shape.

    Attributes:
        raw: the ends of the attacked intervals of raw shares; NaN where nothing could be learned.
        smoothed: the ends of smoothed shares without crafted reports; None where they are unknown.
    """

    raw: tuple[Floats, Floats]
    smoothed: tuple[Floats, Floats] | None = None


def cells_of(both: Both, known: Given | None = None, bars: Bars | None = None) -> list[CellRow]:
    """Return the cells of a table, those of the given levels only."""
    raw = both.raw
    nothing = np.full(raw.probability.shape, np.nan)
    columns = [raw.probability, raw.std_error, raw.low, raw.high, both.smoothed.probability]
    found = []
    for index in np.ndindex(raw.probability.shape):
        levels = (names[i] for names, i in zip(raw.labels, index, strict=True))
        values = dict(zip(raw.attributes, levels, strict=True))
        if any(level not in (None, values[name]) for name, level in (known or {}).items()):
            continue
        share, error, low, high, smoothed = (
            float((nothing if one is None else one)[index]) for one in columns
        )
        row = CellRow(values, share, error, low, high, smoothed)
        if bars is not None:
            attacked = _ends(bars.raw, index), _ends(bars.smoothed, index)
            row = replace(row, attacked_interval=attacked[0], attacked_smoothed=attacked[1])
        found.append(row)
    return found


def _ends(both: tuple[Floats, Floats] | None, index: tuple[int, ...]) -> tuple[float, float] | None:
    if both is None or not np.isfinite(both[0][index]):
        return None
    return float(both[0][index]), float(both[1][index])
