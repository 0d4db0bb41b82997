"""The default decoder: counts and candidates in, a table whose error statements hold out.

    counts -> observed -> maximum likelihood -> regression (or split cohorts) -> decoys
           -> p-values -> decisions -> intervals

Few candidates for the cells (up to half of them): one regression on all. More: the cohorts are
split, see `screening`. Where candidates are between a quarter of the cells and 400, tests are those
of `competition`. Closed domains, where every answer is listed: see `closed`. Hashed symbols
(O-RR) are cells too, of which a report shows one: few candidates have the mechanism's own
estimate, and more than half of what the cells can tell apart are screened likewise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable._distributions import t_sf
from deniable.decode import notes as say
from deniable.decode.competition import competes, competing_p_values
from deniable.decode.decoded import Decoded, decided, nothing_decoded
from deniable.decode.decoys import Tail, decoy_tail
from deniable.decode.design import Design, Places, design_of
from deniable.decode.distribution_estimates import likeliest
from deniable.decode.likelihood import Likely, most_likely
from deniable.decode.observed import Observed, check_counts, is_open, is_symbols, observe
from deniable.decode.reading import READING, Fitted, Reading, read
from deniable.decode.regression import Evidence, Regression
from deniable.decode.screening import FULL, screen
from deniable.decode.simplex import project_at_most
from deniable.decode.unlisted import Other, missing_mass, other_mass
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import Candidate, Counts, Estimate, Mechanism
from deniable.mechanisms.base import Code, Floats
from deniable.mechanisms.candidates import label_of
from deniable.mechanisms.chances import Chances
from deniable.mechanisms.closed_form import NO_REPORTS


@one_thread
def decode(
    mechanism: Mechanism,
    counts: Counts,
    candidates: Sequence[Candidate] | None = None,
    *,
    seed: int = 0,
    alpha: float = 0.05,
    reading: Reading = READING,
) -> Decoded:
    """Return frequencies with errors, tests and decisions for candidates or a closed domain.

    Guarantees: 95% intervals cover 95% each; Holm reports a string that nobody holds with
    probability at most alpha; of Storey's discoveries a share of at most alpha is expected to be
    false, and the expected number is said; both also when strings that people hold are missing
    from the list. The same input and seed give the same output.

    Cost: M candidates against k m cells: O(M^3) up to k m / 2 candidates, then O(M).

    Edge cases: what cannot be identified is NaN, with a note that says why.

    Args:
        mechanism: that made the reports.
        counts: of the reports.
        candidates: the strings to test for; for closed domains the labels, or nothing.
        seed: of the decoys, and of the split of the cohorts.
        alpha: the level of both corrections, and 1 less the level of the intervals.
        reading: what intervals are of, their form, and what people who report again share.

    Raises:
        InvalidParameter: if the counts could not have come from the mechanism, if candidates are
            missing, repeated or no possible answers, or if alpha is not between 0 and 1.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import Rappor
        >>> rng = np.random.default_rng(1)
        >>> m = Rappor(bits=64, cohorts=8, epsilon=4.0)
        >>> reports = m.simulate(rng.choice(["news", "mail"], size=50_000), rng)
        >>> found = decode(m, m.accumulate(reports), ["news", "mail", "never"])
        >>> dict(zip(found.candidates, found.holm.tolist()))
        {'news': True, 'mail': True, 'never': False}
    """
    check_counts(mechanism, counts)
    observed = observe(mechanism, counts) if is_open(mechanism) or is_symbols(mechanism) else None
    many = observed is not None and len(candidates or ()) > FULL * observed.equations
    # Symbols that can all be told apart have an estimate of their own, without an intercept.
    if observed is None or (observed.exclusive and not many):
        return _decode_closed(mechanism, counts, candidates, alpha, reading)
    if is_symbols(mechanism):
        design = observed.shape.design(mechanism.symbols_of(candidates or ())[:, :, None])
    else:
        design = design_of(observed.shape, candidates or ())
    labels = tuple(label_of(candidate) for candidate in candidates or ())
    return decode_cells(observed, design, labels, seed=seed, alpha=alpha, reading=reading)


def _decode_closed(
    mechanism: Mechanism,
    counts: Counts,
    labels: Sequence[Candidate] | None,
    alpha: float,
    reading: Reading,
) -> Decoded:
    found = mechanism.estimate(counts, labels)
    if found.n == 0:
        return nothing_decoded(found.candidates, alpha, found.notes)
    shares, labelled = read(found, reading), found.candidates
    decoded = decided(labelled, found.n, shares, alpha, method="closed", notes=found.notes)
    if not _listed(mechanism, labels):
        return replace(decoded, likely=likeliest(mechanism, counts, found))
    other = missing_mass(found, 1 - alpha, reading)
    return replace(
        decoded,
        likely=project_at_most(found.frequency),
        other=other,
        method="listed",
        notes=(*found.notes, *say.about_missing(other)),
    )


def _listed(mechanism: Mechanism, labels: Sequence[Candidate] | None) -> bool:
    """Tell whether the labels are strings out of infinitely many, known by their hashes."""
    return mechanism.hashed and not any(isinstance(label, Code) for label in labels or ())


@one_thread
def decode_cells(
    observed: Observed,
    design: Design,
    labels: tuple[str, ...],
    *,
    seed: int = 0,
    alpha: float = 0.05,
    reading: Reading = READING,
) -> Decoded:
    """Decode any linear design: the part of `decode` that knows no mechanism.

    Args:
        observed: the counts of the cells.
        design: the cells that each candidate sets.
        labels: the candidates' names.
        seed: of the decoys, and of the split of the cohorts.
        alpha: as in `decode`.
        reading: as in `decode`.

    Raises:
        InvalidParameter: if there are not as many labels as columns, or none.
    """
    if len(labels) != len(design) or not labels:
        raise InvalidParameter(
            f"The decoder needs one label per candidate, and at least one. Got {len(labels)} "
            f"labels for {len(design)} columns."
        )
    if observed.n == 0:
        return nothing_decoded(labels, alpha, (NO_REPORTS,))
    notes = say.about_counts(observed, len(design))
    groups = design.identical(observed.live)
    alone = _without_repeats(len(design), groups)
    distinct = design.take(alone) if groups else design
    solution = _solved(observed, distinct, np.random.default_rng(seed), reading)
    if solution is None:
        reason = say.too_many(observed, len(design))
        return nothing_decoded(labels, alpha, (*notes, reason), observed.n)
    together = solution.about(np.searchsorted(alone, [group[0] for group in groups]))
    solution = solution.spread(alone, len(design), groups)
    unknown = np.flatnonzero(solution.evidence.information == 0)
    grouped = np.concatenate([*groups, np.empty(0, dtype=np.intp)])
    return replace(
        _table(observed, labels, solution, alpha),
        notes=(
            *notes,
            *say.about_groups(groups, labels, together),
            *say.about_unknown(np.setdiff1d(unknown, grouped), labels),
            *say.about_other(solution.other(observed, alpha), solution.method),
            *(() if solution.tail else (say.NO_DECOYS,)),
        ),
    )


def _without_repeats(count: int, groups: Sequence[Places]) -> Places:
    """Return all places, but only the first of each group of identical columns."""
    kept = np.ones(count, dtype=np.bool_)
    for group in groups:
        kept[group[1:]] = False
    return np.flatnonzero(kept)


def _table(
    observed: Observed, labels: tuple[str, ...], solution: _Solution, alpha: float
) -> Decoded:
    alone = Estimate(
        labels, solution.evidence.estimate, solution.evidence.std_error, None, observed.n
    )
    chances = Chances.of(observed.oracle, len(labels))
    shares = Fitted(alone, solution.reading, solution.p_values, solution.degrees, chances)
    decoded = decided(labels, observed.n, shares, alpha, method=solution.method)
    return replace(
        decoded,
        likely=solution.likely,
        other=solution.other(observed, alpha),
        dispersion=max(part.dispersion for part in solution.parts),
        decoys=solution.tail.total if solution.tail else 0,
    )


@dataclass(frozen=True)
class _Solution:
    parts: tuple[Regression, ...]
    evidence: Evidence
    likely: Floats
    tail: Tail | None
    method: str
    reading: Reading
    competing: Floats | None = None

    def about(self, places: Places) -> Evidence:
        """Return the evidence about the candidates at these places."""
        return Evidence(self.evidence.score[places], self.evidence.information[places])

    def spread(self, alone: Places, count: int, groups: Sequence[Places]) -> _Solution:
        """Return the solution for all candidates: nothing is known about members of groups."""
        if not groups:
            return self
        score, information = np.zeros(count), np.zeros(count)
        score[alone], information[alone] = self.evidence.score, self.evidence.information
        likely = np.full(count, np.nan)
        likely[alone] = self.likely
        competing = None
        if self.competing is not None:
            competing = np.full(count, np.nan)
            competing[alone] = self.competing
        for group in groups:
            score[group], information[group], likely[group] = 0.0, 0.0, np.nan
        evidence = Evidence(score, information)
        return replace(self, evidence=evidence, likely=likely, competing=competing)

    def other(self, observed: Observed, alpha: float) -> Other:
        """Return the mass outside the model."""
        return other_mass(self.parts, observed.shape, 1 - alpha, self.reading, observed.n)

    @property
    def degrees(self) -> float:
        return float(sum(max(0, part.solved.degrees) for part in self.parts))

    @property
    def p_values(self) -> Floats:
        """The larger of the model's p-value and the decoys'; of a competition, its own."""
        z = self.evidence.z
        if self.competing is not None:
            return np.where(np.isnan(z), np.nan, self.competing)
        # The dispersion is estimated from the residuals, hence Student's t. Decoys show what
        # unlisted strings do beyond the model.
        p = t_sf(z, max(1.0, self.degrees))
        if self.tail is not None:
            p = np.maximum(p, np.where(np.isnan(z), 0.0, self.tail.p_values(np.nan_to_num(z))))
        return np.where(np.isnan(z), np.nan, p)


def _solved(
    observed: Observed, design: Design, rng: np.random.Generator, reading: Reading
) -> _Solution | None:
    cells = observed.equations
    if len(design) <= FULL * cells:
        likely = most_likely(observed, design)
        weights = observed.weights(likely.share)
        part = Regression.of(observed.y, weights, design, observed.tied(weights))
        tail = decoy_tail((part,), observed.shape, len(design), rng)
        evidence = part.fitted_evidence.widened(math.sqrt(reading.noise))
        found = _Solution((part,), evidence, likely.frequency, tail, "all candidates", reading)
    elif cells < 2 * observed.shape.bits:
        return None
    else:
        screened = screen(observed, design, rng)
        tail = decoy_tail(screened.parts, observed.shape, len(design), rng)
        likely_few = _likely_few(observed, design, np.union1d(*screened.chosen))
        evidence = screened.evidence.widened(math.sqrt(reading.noise))
        found = _Solution(screened.parts, evidence, likely_few, tail, "split cohorts", reading)
    if found.tail is None or not competes(len(design), cells, observed.n):
        return found
    # Candidates that are a good part of the cells: estimates and errors as above, and tests that
    # use that nobody holds a negative share.
    likely = most_likely(observed, design)
    competing, tail = competing_p_values(observed, design, likely, rng)
    return replace(found, competing=competing, likely=likely.frequency, tail=tail)


def _likely_few(observed: Observed, design: Design, places: Places) -> Floats:
    """Return maximum-likelihood frequencies of the chosen candidates; 0 for all others."""
    frequency = np.zeros(len(design))
    found: Likely = most_likely(observed, design.take(places))
    frequency[places] = found.frequency
    return frequency
