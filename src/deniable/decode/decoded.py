"""The decoded table: a row per candidate, with error, tests and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.decode.reading import READING, Normal, Shares
from deniable.decode.significance import holm, selected_level, storey
from deniable.decode.unlisted import Other
from deniable.mechanisms import Estimate
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class DecodedRow:
    """One candidate.

    Attributes:
        value: the candidate.
        frequency: unbiased share of the population, may be below 0.
        std_error: one standard deviation of it.
        interval: of the candidate by itself, at the decoder's level (95%), within 0..1.
        selected_interval: adjusted for having been detected; None for those that were not.
        likely: the frequency under maximum likelihood, at least 0; NaN where it was not computed.
        z: frequency over standard error.
        p_value: of the hypothesis that nobody holds the candidate.
        holm: detected, where no false one at all is wanted.
        storey: detected, where a small share of false ones is allowed.
    """

    value: str
    frequency: float
    std_error: float
    interval: tuple[float, float]
    selected_interval: tuple[float, float] | None
    likely: float
    z: float
    p_value: float
    holm: bool
    storey: bool


@dataclass(frozen=True)
class Decoded:
    """The table, column by column, so that a million rows stay small.

    Attributes:
        candidates: the names, in the order in which they were given.
        frequency, std_error, z, p_value, likely, holm, storey: see `DecodedRow`.
        low, high: the ends of the intervals.
        selected_low, selected_high: those adjusted for selection; NaN where not detected.
        n: the number of reports.
        alpha: the level of the corrections; intervals have level 1 - alpha.
        method: "all candidates", "split cohorts", "listed", "closed", "verified" or "none".
        of: what the intervals are of, "population" or "reporters".
        limit: the detection limit, the share that is found every second time.
        absent_share: the estimated share of candidates that nobody holds.
        expected_false: how many of the Storey discoveries are expected to be false.
        other: the mass of strings outside the model; None for closed domains.
        dispersion: the factor by which variances were widened.
        decoys: how many random columns the p-values were checked against.
        notes: caveats for the reader.

    Guarantees: where a number is NaN, a note says why.
    """

    candidates: tuple[str, ...]
    frequency: Floats
    std_error: Floats
    low: Floats
    high: Floats
    selected_low: Floats
    selected_high: Floats
    likely: Floats
    z: Floats
    p_value: Floats
    holm: NDArray[np.bool_]
    storey: NDArray[np.bool_]
    n: int
    alpha: float
    method: str
    of: str = "population"
    limit: float = math.nan
    absent_share: float = 1.0
    expected_false: float = 0.0
    other: Other | None = None
    dispersion: float = 1.0
    decoys: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.candidates)

    def row(self, place: int) -> DecodedRow:
        """Return the row at a place."""
        found = bool(self.storey[place])
        adjusted = (float(self.selected_low[place]), float(self.selected_high[place]))
        return DecodedRow(
            self.candidates[place],
            float(self.frequency[place]),
            float(self.std_error[place]),
            (float(self.low[place]), float(self.high[place])),
            adjusted if found else None,
            float(self.likely[place]),
            float(self.z[place]),
            float(self.p_value[place]),
            bool(self.holm[place]),
            found,
        )

    def rows(self) -> Iterator[DecodedRow]:
        """Yield every row, in the order of the candidates."""
        return (self.row(place) for place in range(len(self)))

    @property
    def detected(self) -> tuple[str, ...]:
        """The candidates that Storey's procedure detects, the most frequent first."""
        places = np.flatnonzero(self.storey)
        order = places[np.argsort(-self.frequency[places], kind="stable")]
        return tuple(self.candidates[place] for place in order)


def decided(
    candidates: tuple[str, ...],
    n: int,
    shares: Shares,
    alpha: float,
    *,
    method: str,
    notes: tuple[str, ...] = (),
    tests: Floats | None = None,
) -> Decoded:
    """Return the table from the shares of the candidates: decisions and intervals.

    `tests` are the p-values where they are not those of the shares.
    """
    p_values = shares.p_values if tests is None else tests
    found = storey(p_values, alpha)
    tested = int(np.count_nonzero(~np.isnan(p_values)))
    low, high = shares.interval(alpha)
    # False coverage rate after selection: the level is 1 - alpha R / M [BY05].
    level = selected_level(int(found.decisions.sum()), max(1, tested), alpha)
    wide_low, wide_high = shares.interval(1 - level)
    return Decoded(
        candidates=candidates,
        frequency=shares.frequency,
        std_error=shares.std_error,
        low=low,
        high=high,
        selected_low=np.where(found.decisions, wide_low, np.nan),
        selected_high=np.where(found.decisions, wide_high, np.nan),
        likely=np.full(len(candidates), np.nan),
        z=shares.frequency / shares.std_error,
        p_value=p_values,
        holm=holm(p_values, alpha),
        storey=found.decisions,
        n=n,
        alpha=alpha,
        method=method,
        of=shares.reading.of,
        limit=shares.limit(alpha),
        absent_share=found.absent,
        expected_false=found.expected_false,
        notes=notes,
    )


def nothing_decoded(
    candidates: tuple[str, ...], alpha: float, notes: tuple[str, ...], n: int = 0
) -> Decoded:
    """Return a table without numbers; the notes must say why."""
    unknown = np.full(len(candidates), np.nan)
    nothing = Normal(Estimate(candidates, unknown, unknown, None, n), READING)
    return decided(candidates, n, nothing, alpha, method="none", notes=notes)
