"""A table of some attributes: the shares of people in each combination of their answers.

Every table says what it is. *Raw*: unbiased, with its covariance and intervals; cells may lie
below 0 and need not agree with other tables. *Smoothed*: a distribution, consistent with the other
smoothed tables of the same call, nearer to the truth on average, but biased: without intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deniable.decode.binomial import few_people
from deniable.decode.reading import around
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

Kind = Literal["raw", "smoothed"]

Z95 = 1.959963984540054
"""Phi^-1(0.975): the half-width, in standard errors, of a normal interval that covers 95%."""


@dataclass(frozen=True)
class Table:
    """The joint distribution of some attributes.

    Attributes:
        attributes: their names, one per axis.
        labels: of every axis: the names of its answers.
        probability: estimated shares, an axis per attribute.
        std_error: one standard deviation of each share given the people's values; None where
            the table is smoothed.
        low: the lower end of a 95% interval of each share, within 0..1; None where smoothed.
        high: its upper end.
        covariance: of the shares given the people's values, cells in C order by cells; None where
            the table is smoothed.
        kind: "raw" or "smoothed".
        n: the number of reports of the question.
        notes: caveats for the reader.
        people: the size of the sample that intervals allow for; None where they are normal.
        told: the number of reports that the table is estimated from, fewer than n where reports are
            about drawn tables or coefficients; None where all are.

    Guarantees: where a share is NaN, a note says why. Smoothed shares are at least 0 and sum to 1.
    """

    attributes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    probability: Floats
    std_error: Floats | None
    low: Floats | None
    high: Floats | None
    covariance: Floats | None
    kind: Kind
    n: int
    notes: tuple[str, ...] = ()
    people: float | None = None
    told: float | None = None

    def __post_init__(self) -> None:
        shape = tuple(len(answers) for answers in self.labels)
        if self.probability.shape != shape or len(self.attributes) != len(shape):
            raise InvalidParameter(
                f"A table of {len(self.attributes)} attributes must have the shape {shape} of "
                f"their answers. Got {self.probability.shape}."
            )

    @classmethod
    def raw(
        cls,
        attributes: tuple[str, ...],
        labels: tuple[tuple[str, ...], ...],
        cells: Floats,
        covariance: Floats,
        n: int,
        notes: tuple[str, ...] = (),
        people: float | None = None,
        among: Floats | None = None,
        told: float | None = None,
    ) -> Table:
        """Return an unbiased table with 95% intervals.

        Args:
            attributes: their names.
            labels: their answers.
            cells: the shares, with an axis per attribute.
            covariance: of the cells in C order.
            n: the number of reports.
            notes: caveats for the reader.
            people: the size of the sample that the covariance allows for: then the intervals hold
                exact limits of a share of few people; else they are normal.
            among: the share of them that each cell is a share of; all of them by default.
            told: the number of reports that the table is estimated from; n by default.
        """
        error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0)).reshape(cells.shape)
        low, high = around(cells, Z95 * error)
        if people is not None:
            some = people * (np.ones_like(cells) if among is None else among)
            below, above = few_people(np.clip(cells, 0.0, 1.0), error, np.maximum(some, 1), 0.95)
            low, high = around(cells, below)[0], around(cells, above)[1]
        found = (cells, error, low, high, covariance)
        return cls(attributes, labels, *found, "raw", n, notes, people, told)

    @classmethod
    def smoothed(
        cls,
        attributes: tuple[str, ...],
        labels: tuple[tuple[str, ...], ...],
        cells: Floats,
        n: int,
        notes: tuple[str, ...] = (),
    ) -> Table:
        """Return a distribution that was fitted to all tables together."""
        return cls(attributes, labels, cells, None, None, None, None, "smoothed", n, notes)

    @property
    def sampling_covariance(self) -> Floats:
        """The covariance that drawing n people from a larger population adds: (D - f f') / n.

        D is the diagonal matrix of the shares f, clipped at 0 and divided by their sum. Standard
        errors are given the people's values; what is said about the population they come from
        (a test of independence) adds this.
        """
        shares = np.maximum(self.probability.reshape(-1), 0.0)
        # Noise can put every cell at or below 0: then nothing is known about the shares.
        shares = shares / shares.sum() if shares.any() else np.full(shares.size, 1 / shares.size)
        return np.asarray((np.diag(shares) - np.outer(shares, shares)) / self.n)
