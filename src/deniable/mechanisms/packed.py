"""Reports whose bytes say all about a few answers each: likelihoods without a float per answer.

Model: a report is some bytes and a cohort, and answer a has a place in byte a // d, d answers to a
byte. But for a factor of each report, the same for all answers,

    P(report | answer a) = scale[cohort, a] values[byte a // d of the report, a % d].

A bit per answer has d = 8 and values `least` and 1. The number of an answer's Bloom bits that are
set, a digit below h + 1, has d = 5 for h = 2, and values r^(digit - h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class PackedAnswers:
    """Reports as bytes, with a table from a byte's value to the likelihoods of its answers.

    Attributes:
        packed: reports x bytes.
        values: likelihoods, a row per value of a byte, a column per answer that a byte holds.
        scale: cohorts x answers; one row where there are no cohorts.
        cohorts: of the reports; None where there are none.
    """

    packed: Bytes
    values: Numbers
    scale: Numbers
    cohorts: NDArray[np.uint16] | None = None

    @classmethod
    def of_bits(cls, packed: Bytes, answers: int, least: float) -> Self:
        """Return reports with a bit per answer; its likelihood depends on that bit alone.

        Args:
            packed: answer a's bit in byte a // 8 at weight 2^(a % 8), padding 0.
            answers: how many there are.
            least: P(report | an answer whose bit is not set) / P(report | one whose bit is set);
                above 0, below 1.
        """
        return cls(packed, digit_values(np.array([least, 1.0])), np.ones((1, answers)))

    @property
    def answers(self) -> int:
        """The number of answers."""
        return int(self.scale.shape[1])

    def lines(self, step: int = 1) -> Numbers:
        """Return the likelihoods of every `step`-th report as floats, a line per answer."""
        packed = self.packed[::step]
        held = packed.shape[1] * self.values.shape[1]
        found = self.values[packed].reshape(len(packed), held)[:, : self.answers]
        own = self.scale if self.cohorts is None else self.scale[self.cohorts[::step]]
        return np.asarray((found * own).T)


def digit_values(values: Numbers) -> Numbers:
    """Return the values of every digit of a byte: digit j of the row v is (v // base^j) % base.

    Args:
        values: of the digits 0, 1, ..., base - 1.

    Returns:
        base^d rows and d columns, d as many digits as fit into a byte, at least one.
    """
    base, each = len(values), 1
    while base ** (each + 1) <= 256:
        each += 1
    digits = np.arange(base**each)[:, None] // base ** np.arange(each) % base
    return np.asarray(values[digits])
