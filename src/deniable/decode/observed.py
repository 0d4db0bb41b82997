"""Counts of cells: the one form of observations that the decoders of strings work on.

Model: of the N_j reports in cohort j, the share that supports cell i is r_ij on average, with

    r_ij = q + (p - q) s_ij,      y_ij = (share_ij - q) / (p - q),      E y_ij = s_ij,
    Var y_ij = r_ij (1 - r_ij) / (N_j (p - q)^2),

where s_ij is the share of people whose answer sets the cell, p the probability that a report
supports a cell that its answer sets and q that of one that it does not set (the letters of the
oracle literature, `mechanisms.closed_form.Pure`). Both are the mechanism's own numbers, exact
fractions of its integers; no formula for them stands here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from deniable.decode.design import Shape
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, ORR, Counts, Mechanism, Rappor
from deniable.mechanisms.base import Floats
from deniable.mechanisms.closed_form import Pure


@dataclass(frozen=True)
class Observed:
    """Counts of every cell with the two probabilities that explain them.

    Attributes:
        shape: how strings are placed in the cells.
        counts: reports that support each cell, flat (cohort * k + bit).
        people: reports in the cell's cohort, flat.
        oracle: P(a report supports a cell that its answer sets), and one that it does not.
        exclusive: whether a report supports exactly one cell of its cohort (symbols), or each
            independently (bits).
    """

    shape: Shape
    counts: Floats
    people: Floats
    oracle: Pure
    exclusive: bool = False

    def __post_init__(self) -> None:
        oracle = self.oracle
        if not (0 <= oracle.q <= oracle.p <= 1 and oracle.gap > 0):
            raise InvalidParameter(
                "A report must support what its answer sets more often than the rest: "
                f"0 <= q < p <= 1. Got p = {oracle.p!r}, q = {oracle.q!r}."
            )
        if self.counts.shape != (self.shape.cells,) or self.people.shape != (self.shape.cells,):
            raise InvalidParameter(
                f"The counts must have {self.shape.cells} cells. Got {self.counts.shape}."
            )

    @property
    def n(self) -> int:
        """The number of reports."""
        return int(self.people[:: self.shape.bits].sum())

    @property
    def live(self) -> NDArray[np.bool_]:
        """True for the cells whose cohort has reports."""
        return self.people > 0

    @property
    def y(self) -> Floats:
        """The unbiased share of people who set each cell; 0 where there are no reports."""
        nothing = np.full_like(self.people, self.oracle.q)
        share = np.divide(self.counts, self.people, out=nothing, where=self.live)
        return self.oracle.frequency(share)

    def support(self, share: Floats) -> Floats:
        """Return the expected share of reports that support cells set by these shares of people.

        Half a report is added to either side: with few reports per cohort a q near 0 would
        otherwise promise more than so few reports can hold.
        """
        r = self.oracle.q + self.oracle.gap * np.clip(share, 0.0, 1.0)
        return (self.people * r + 0.5) / (self.people + 1)

    def weights(self, share: Floats) -> Floats:
        """Return 1 / Var y at these shares of people; 0 where there are no reports."""
        r = self.support(share)
        # The inverse of Var y = r (1 - r)/(N (p - q)^2) (docs/mathematics.md, section 1). Counts
        # of symbols are multinomial, of covariance V = (diag(r) - r r')/(N (p - q)^2) in a cohort.
        # With W = N (p - q)^2 diag(1/r) least squares A y has A V A' = (X'WX)^-1 - f f'/N on the
        # candidates: leaving out r r' overstates a variance by f^2/N, and never understates it.
        noise = r if self.exclusive else r * (1 - r)
        return np.asarray(self.people * self.oracle.gap**2 / noise)

    def tied(self, weights: Floats) -> int:
        """Return how many equations follow from the others: symbols of a cohort sum to 1.

        One of them is the intercept's own: all frequencies and the rest sum to 1 in every cohort.
        """
        cohorts = np.count_nonzero(weights[:: self.shape.bits])
        return max(0, int(cohorts) - 1) if self.exclusive else 0

    @property
    def equations(self) -> int:
        """The number of cells with reports, less those that follow from the others."""
        return int(np.count_nonzero(self.live)) - self.tied(self.people)


def observe(mechanism: Mechanism, counts: Counts) -> Observed:
    """Return a mechanism's counts as observations of cells.

    Raises:
        InvalidParameter: if the mechanism has no hashed strings, or the counts could not have come
            from it: another shape, negative numbers, or more ones than reports.
    """
    if is_symbols(mechanism):
        return _observe_symbols(mechanism, counts)
    if not is_open(mechanism):
        raise InvalidParameter(
            f"{type(mechanism).__name__} with these parameters does not hash strings.",
            "Use decode() for closed domains too: it takes both.",
        )
    check_counts(mechanism, counts)
    parameters = mechanism.parameters
    return Observed(
        Shape(parameters.cohorts, parameters.bits, parameters.hashes),
        counts.table.ravel().astype(np.float64),
        np.repeat(counts.reports, parameters.bits).astype(np.float64),
        Pure.of(parameters.q_star, parameters.p_star),
    )


def _observe_symbols(mechanism: ORR, counts: Counts) -> Observed:
    check_counts(mechanism, counts)
    shape = Shape(mechanism.parameters.cohorts, mechanism.parameters.symbols, 1)
    people = np.repeat(counts.reports, shape.bits).astype(np.float64)
    table = counts.table.ravel().astype(np.float64)
    return Observed(shape, table, people, mechanism.symbol, exclusive=True)


def is_symbols(mechanism: Mechanism) -> TypeGuard[ORR]:
    """Tell whether a mechanism hashes strings to symbols by cohort."""
    # Cohorts of symbols are O-RR's alone: they are regressed like bits, of which one is shown.
    return isinstance(mechanism, ORR) and mechanism.hashed


def is_open(mechanism: Mechanism) -> TypeGuard[Rappor]:
    """Tell whether a mechanism hashes strings, so that candidates must be given."""
    # The decoder of strings is RAPPOR's: its bits are what it regresses.
    return isinstance(mechanism, Rappor) and mechanism.parameters.form == "bloom"


def check_counts(mechanism: Mechanism, counts: Counts) -> None:
    """Refuse counts that no reports of this mechanism could have given.

    Edge cases: of mechanisms other than RAPPOR and k-RR only the shape is checked.

    Raises:
        InvalidParameter: naming the first cohort and column that is wrong.
    """
    expected = mechanism.zero()
    expected.same_digest(counts)
    shapes = (expected.table.shape, expected.reports.shape)
    if (counts.table.shape, counts.reports.shape) != shapes:
        raise InvalidParameter(
            f"The counts must have a table of shape {shapes[0]} and {shapes[1][0]} numbers of "
            f"reports. Got {counts.table.shape} and {counts.reports.size}: they come from "
            "different parameters."
        )
    # Other mechanisms' tables need not be counts of supporting reports.
    if not isinstance(mechanism, KRR | Rappor):
        return
    wrong = (counts.table < 0) | (counts.table > counts.reports[:, None])
    if wrong.any() or (counts.reports < 0).any():
        cohort, column = np.argwhere(wrong)[0] if wrong.any() else (counts.reports.argmin(), 0)
        raise InvalidParameter(
            f"A count must be from 0 to the number of reports of its cohort. Column {column} of "
            f"cohort {cohort} has {counts.table[cohort, column]} of {counts.reports[cohort]} "
            "reports: count the reports again."
        )
