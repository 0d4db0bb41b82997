"""Notes on a decoded table: warnings in sentences, for its readers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.decode.design import Places
from deniable.decode.observed import Observed
from deniable.decode.regression import Evidence
from deniable.decode.unlisted import Other
from deniable.mechanisms.candidates import named

NO_DECOYS = (
    "There is no room for decoys: random columns cannot be told from the candidates. The p-values "
    "rest on the normal approximation alone."
)
_GROUPS = 10
_FEW = 5.0
_SURPRISE = 5.0


def about_counts(observed: Observed, candidates: int) -> tuple[str, ...]:
    """Return notes on unusual counts."""
    notes = []
    people = observed.people[:: observed.shape.bits]
    empty = int(np.count_nonzero(people == 0))
    if empty:
        notes.append(f"{empty:,} of {people.size:,} cohorts have no reports and take no part.")
    if observed.n <= candidates + 1:
        notes.append(
            f"There are fewer reports ({observed.n:,}) than unknowns ({candidates + 1:,}): hardly "
            "anything can be learned, and intervals and p-values are rough."
        )
    elif float(people[people > 0].min()) * min(observed.oracle.p, 1 - observed.oracle.q) < _FEW:
        notes.append("Some cohorts have only a few reports: intervals and p-values are rough.")
    wrong = _strange_ones(observed)
    return (*notes, wrong) if wrong else tuple(notes)


def _strange_ones(observed: Observed) -> str:
    """Say so if there are more or fewer ones than any strings could give.

    Every report has 1 to h distinct cells set, so that whatever people hold the expected number of
    ones lies between two known numbers.
    """
    shape, n = observed.shape, observed.n
    most = min(shape.hashes, shape.bits)
    oracle = observed.oracle
    # A report with c cells set shows k q + c (p - q) ones on average.
    low, high = (n * (shape.bits * oracle.q + c * oracle.gap) for c in (1, most))
    # Of n k independent bits each has a variance of at most 1/4.
    noise = _SURPRISE * float(np.sqrt(n * shape.bits * 0.25))
    ones = float(observed.counts.sum())
    if low - noise <= ones <= high + noise:
        return ""
    return (
        f"{ones / (n * shape.bits):.1%} of all bits are 1, where this mechanism gives "
        f"{low / (n * shape.bits):.1%} to {high / (n * shape.bits):.1%} whatever people hold: the "
        "reports were made with other parameters, or not by its clients."
    )


def too_many(observed: Observed, candidates: int) -> str:
    """Say that one cohort cannot tell the candidates apart."""
    cells = int(np.count_nonzero(observed.live))
    return (
        f"Not identifiable: {candidates:,} candidates share the {cells:,} cells of one cohort, "
        "which can tell at most half as many apart. Use more cohorts or bits, or fewer candidates."
    )


def about_groups(
    groups: Sequence[Places], labels: Sequence[str], together: Evidence
) -> tuple[str, ...]:
    """Return notes on candidates that set the same bits everywhere, with their joint share.

    Args:
        groups: places of candidates that cannot be told apart.
        labels: of all candidates.
        together: about the sum of each group.
    """
    notes: list[str] = []
    for group, share, error in zip(groups, together.estimate, together.std_error, strict=True):
        if len(notes) == _GROUPS:
            notes.append(f"{len(groups) - _GROUPS:,} more groups of candidates share all bits.")
            break
        # An error above 1 says nothing of a share, and no share in words leaves 0..1.
        told = np.isfinite(share) and error < 1
        known = f" Together they have {min(max(share, 0), 1):.3%} +- {error:.3%}." if told else ""
        notes.append(
            f"The candidates {named(labels, group)} set the same bits in every cohort with "
            f"reports and cannot be told apart.{known}"
        )
    return tuple(notes)


def about_unknown(unknown: Places, labels: Sequence[str]) -> tuple[str, ...]:
    """Say which candidates cannot be told from several others together."""
    if unknown.size == 0:
        return ()
    return (
        f"The bits of {unknown.size:,} candidates cannot be told from those of the others "
        f"together: {named(labels, unknown)}. Use more bits or cohorts, or fewer candidates.",
    )


def about_other(other: Other, method: str) -> tuple[str, ...]:
    """Return the note on strings outside the list, from the residuals."""
    if not np.isfinite(other.frequency):
        return ("The mass of strings outside the list is not identifiable with these candidates.",)
    if not other.suspected:
        return ()
    outside = "the candidates" if method == "all candidates" else "the strings in the model"
    mass, low, high = (min(1.0, max(0.0, share)) for share in (other.frequency, *other.interval))
    return (
        f"The bits vary {other.excess:.3g} times as much as the noise explains: people hold "
        f"strings that are not among {outside}, about {mass:.1%} of the "
        f"population ({low:.1%} to {high:.1%}). All errors are widened accordingly.",
    )


def about_missing(other: Other) -> tuple[str, ...]:
    """Return the note on strings outside the list, from the sum of the listed shares."""
    if not (np.isfinite(other.frequency) and other.suspected):
        return ()
    mass, low, high = (min(1.0, max(0.0, share)) for share in (other.frequency, *other.interval))
    return (
        f"The listed strings do not add up to everybody: about {mass:.1%} of the population "
        f"({low:.1%} to {high:.1%}) hold others.",
    )
