"""The parts of every figure: places in per cent, ticks, and marks that say their value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from deniable.results.labels import printable
from deniable.results.table.table import Table

_STEPS = (1, 2, 2.5, 5, 10)
MOST_COLOURS = 7
"""The number of colours of series; more of them begin again."""


def text(words: object) -> str:
    """Return words as text of a page."""
    return escape(printable(str(words)))


@dataclass(frozen=True)
class Scale:
    """Places of numbers along an axis, in per cent of its length; logarithmic if `log`."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the place of a number; what lies beyond an end is at that end."""
        value = min(self.high, max(self.low, value))
        if self.log:
            return 100 * math.log(value / self.low) / math.log(self.high / self.low)
        return 100 * (value - self.low) / ((self.high - self.low) or 1.0)

    def place(self, value: float) -> str:
        """Return the place of a number as SVG has it."""
        return f"{self.at(value):.2f}%"

    def ticks(self, most: int = 5) -> list[float]:
        """Return round numbers within the axis."""
        span = (self.high - self.low) / most or 1.0
        unit = 10.0 ** math.floor(math.log10(span))
        step = unit * next(one for one in _STEPS if one * unit >= span * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first
        return [round((first + i) * step, 12) for i in range(count + 1)]


def scale_of(values: Sequence[float], *, zero: bool = False, pad: float = 0.04) -> Scale:
    """Return an axis that holds some numbers with a little room; infinite ones are left out."""
    known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = pad * ((high - low) or abs(high) or 1.0)
    return Scale(low - room if low < 0 or not zero else low, high + room)


def marked(words: str, drawn: str, name: str = "mark") -> str:
    """Return a mark that can be focused, and says its words there and under a pointer."""
    told = text(words)
    return (
        f'<g class="{name}" tabindex="0" role="img" aria-label="{told}"><title>{told}</title>'
        f"{drawn}</g>"
    )


def described(table: Table) -> str:
    """Return the description of a figure, which says where reports are simulated."""
    told = "" if table.described is None else table.described(table)
    marked = not table.about.simulated or "simulated" in told
    return told if marked else f"{table.about.reports}. {told}"


def grouped(words: str, inside: str, name: str) -> str:
    """Return a figure's body under its description, for those who do not see it."""
    return f'<div class="{name}" role="group" aria-label="{text(words)}">\n{inside}\n</div>'
