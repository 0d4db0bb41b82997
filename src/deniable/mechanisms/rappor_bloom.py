"""Frequencies of candidate strings from Bloom reports, by weighted least squares.

Model: a person holds one string, so that with X_vij = 1 where string v sets bit i in cohort j

    E[c_ij] = N_j (p* + (q* - p*) sum_v f_v X_vij)              exactly, linear in f

where c_ij of the N_j reports in cohort j have bit i. The observations are therefore

    y_ij = (c_ij / N_j - p*) / (q* - p*),   Var(y_ij) = r_ij (1 - r_ij) / (N_j (q* - p*)^2),

r_ij = E[c_ij] / N_j, and the unknowns the candidates' frequencies and an intercept. Strings that
nobody listed set bits that are as good as random: on average they raise every bit alike, which the
intercept takes, and around that average they add to the residuals, which widen the errors
(docs/mathematics.md, section 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from deniable.mechanisms.base import Counts, Estimate
from deniable.mechanisms.candidates import named
from deniable.mechanisms.chances import Chances
from deniable.mechanisms.closed_form import Pure, nothing_learned
from deniable.mechanisms.hashing import Words, bloom_bits
from deniable.mechanisms.least_squares import Fit, Sparse, fitted, solve

_SURPRISE = 1e-3
"""Residuals less likely than this under noise alone are worth a note."""
"""The most candidates that a note names."""


@dataclass(frozen=True)
class Bloom:
    """The shape of Bloom reports; `pure` holds q* for p and p* for q, as in section 2."""

    bits: int
    hashes: int
    cohorts: int
    pure: Pure


def design_matrix(bloom: Bloom, words: Words) -> Sparse:
    """Return X in sparse row form: row cohort * k + bit, a column per candidate, entries 0 and 1.

    A bit that two hash functions of one string share is set once.

    Cost: O(M m h) time and memory for M candidates.
    """
    cohorts = np.arange(bloom.cohorts)
    bits = bloom_bits(words[:, None, :], cohorts[None, :], bloom.hashes, bloom.bits)
    return _design(bloom, (bits + (cohorts * bloom.bits)[None, :, None]).reshape(len(words), -1))


def _design(bloom: Bloom, rows: NDArray[np.int64]) -> Sparse:
    """Return X from the rows that each candidate sets."""
    columns = np.repeat(np.arange(len(rows)), rows.shape[1])
    design = sparse.csr_matrix(
        (np.ones(rows.size), (rows.ravel(), columns)),
        shape=(bloom.cohorts * bloom.bits, len(rows)),
    )
    design.data[:] = 1.0  # building it has added up the entries of shared bits
    return design


def estimate_strings(
    bloom: Bloom, counts: Counts, words: Words, labels: tuple[str, ...]
) -> Estimate:
    """Return unbiased frequencies of the candidates with their covariance.

    Two passes: the first weighs by N_j alone and gives the r_ij of the second. Observed shares as
    weights would depend on the very noise they weigh, and bias the estimate.

    Guarantees: the first pass is exactly unbiased, the second up to a term that vanishes
    against the standard error as reports grow. The covariance is scaled by max(1, chi2 / degrees).

    Cost: O(M^2 m h^2 / k) for the normal equations, O(M^3) to solve them, O(M^2) memory: a few
    thousand candidates are seconds.

    Edge cases: cohorts without reports are left out; candidates that cannot be told from others
    are NaN; each with a note. The intercept is left out where it would cost a candidate.
    """
    if counts.n == 0:
        return nothing_learned(labels)
    design = design_matrix(bloom, words)
    return _estimate_open(bloom, counts, design, labels)


def _estimate_open(
    bloom: Bloom, counts: Counts, design: Sparse, labels: tuple[str, ...]
) -> Estimate:
    """Fit with an intercept for unlisted strings, unless it would cost a candidate."""
    with_intercept = sparse.hstack([design, np.ones((design.shape[0], 1))], format="csr")
    fit, notes = _fit(bloom, counts, with_intercept), []
    if not fit.identifiable[:-1].all():
        plain = _fit(bloom, counts, design)
        if plain.identifiable.sum() > fit.identifiable[:-1].sum():
            fit = plain
            notes.append(
                "No room for an intercept: strings that are not among the candidates bias these "
                "frequencies. Use more bits or cohorts, or fewer candidates."
            )
    notes += fit_notes(counts, labels, fit)
    return from_fit(counts, labels, fit, tuple(notes))


def estimate_closed(
    bloom: Bloom, counts: Counts, places: Iterable[NDArray[np.int64]], labels: tuple[str, ...]
) -> Estimate:
    """Return unbiased frequencies of every answer of a closed domain, bits by permutations.

    As `estimate_strings`, but without an intercept: there are no other answers.

    Args:
        bloom: the shape.
        counts: of all cohorts.
        places: for each cohort, the bits of every answer, S x h; they may repeat.
        labels: of the answers.
    """
    if counts.n == 0:
        return nothing_learned(labels)
    rows = np.stack([bits + cohort * bloom.bits for cohort, bits in enumerate(places)], axis=1)
    design = _design(bloom, rows.reshape(len(labels), -1))
    fit = _fit(bloom, counts, design)
    found = from_fit(counts, labels, fit, tuple(fit_notes(counts, labels, fit)))
    return supporting(found, bloom.pure)


def _fit(bloom: Bloom, counts: Counts, design: Sparse) -> Fit:
    """Solve twice: with the weights of a flat background, then with those of the first fit."""
    high, low, gap = bloom.pure.p, bloom.pure.q, bloom.pure.gap
    people = np.repeat(counts.reports, bloom.bits).astype(np.float64)
    share = np.divide(counts.table.ravel(), people, out=np.zeros_like(people), where=people > 0)
    observed = bloom.pure.frequency(share)
    expected = low + gap * fitted(design, observed, people)
    # Half a report is added to either side: with few reports per cohort a small p* would
    # otherwise promise more than so few can hold.
    r = (people * np.clip(expected, low, high) + 0.5) / (people + 1)
    # Weights are inverse variances, N_j (q* - p*)^2 / (r (1 - r)) (docs/mathematics.md, section 1).
    return solve(design, observed, people * gap**2 / (r * (1 - r)))


def from_fit(counts: Counts, labels: tuple[str, ...], fit: Fit, notes: tuple[str, ...]) -> Estimate:
    """Return the estimate of a fit: NaN where it is not determined, errors by the residuals."""
    known = fit.identifiable[: len(labels)]
    # Unlisted strings show in the residuals and scale every variance; never downwards.
    excess = max(1.0, fit.chi_square / fit.degrees) if fit.degrees > 0 else 1.0
    covariance = excess * fit.covariance[: len(labels), : len(labels)]
    covariance[~known, :] = np.nan
    covariance[:, ~known] = np.nan
    return Estimate(
        labels,
        np.where(known, fit.solution[: len(labels)], np.nan),
        np.sqrt(covariance.diagonal()),
        covariance,
        counts.n,
        notes,
    )


def supporting(found: Estimate, pure: Pure) -> Estimate:
    """Return an estimate of a fit that knows how often reports support each answer by itself."""
    chances = Chances.around(pure, found.frequency, found.variance, found.n)
    return replace(found, chances=chances)


def fit_notes(counts: Counts, labels: tuple[str, ...], fit: Fit, cells: str = "bits") -> list[str]:
    """Return the notes on a fit whose cells are bits or symbols."""
    notes = []
    empty = int(np.count_nonzero(counts.reports == 0))
    if empty:
        notes.append(f"{empty} of {counts.reports.size} cohorts have no reports.")
    unknown = np.flatnonzero(~fit.identifiable[: len(labels)])
    if unknown.size:
        notes.append(
            f"{unknown.size} of {len(labels)} candidates set {cells} that cannot be told from "
            f"those of the others: {named(labels, unknown)}. Use more {cells} or cohorts, or "
            "fewer candidates."
        )
    if fit.degrees > 0 and special.chdtrc(fit.degrees, fit.chi_square) < _SURPRISE:
        notes.append(
            f"The {cells} vary more than the noise explains "
            f"({fit.chi_square / fit.degrees:.3g} times): probably people hold strings that are "
            "not among the candidates. The errors are widened accordingly."
        )
    return notes
