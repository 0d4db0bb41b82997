"""Whether shares change over epochs: a test of "no change", and the largest step.

Model: the statistic is that of the epochs' shares about their mean, weighted by their reports,

    Q = sum_t n_t (f_t - f)' C^-1 (f_t - f),   C = noise + sample of one report,

which is a chi-square variable with (T - 1) rank(C) degrees if no person is in two epochs. Nobody
can see who came back. If a share b of the people comes back from each epoch to the next, Q is a sum
of squares with other weights, and slow drifts of the sample look like a change; so the p-value is
the largest over b. `people` "new" takes b = 0; "same" takes b = 1 and the statistic of that, unless
too little is fresh in the smallest epoch (FRESH): then they are judged as if they were unknown.

Where answers have no common covariance (strings, sets, profiles) each is tested by itself, and the
least p-value counts as many times as there are answers (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable._distributions import chi2_isf, chi2_sf, normal_isf
from deniable.groups.mixture import weighted_chi2_sf
from deniable.groups.together import Groups, whitened, without_mean
from deniable.mechanisms.base import Floats

BACK = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""The shares of people who come back from an epoch to the next that are tried."""
_MOST_KEPT = 0.999999
FRESH = 20.0
"""Fresh reports of the smallest epoch, below which the same people are judged as unknown ones."""


@dataclass(frozen=True)
class Step:
    """The difference of an answer between an epoch and the one before that has reports.

    `low` and `high` hold all steps of all answers at once with 95%.
    """

    answer: str
    epoch: int
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Change:
    """A test of "no change".

    Attributes:
        statistic, degrees: of the test; of the answer that decides, where each is tested alone.
        p_value: the probability of such a statistic if nothing changed.
        largest: the step that is the most errors away from 0; None if none is known.
        alone: True if answers were tested one by one.
        few: True if the same people were not taken to be the same, since too little is fresh in
            their reports to be normal.
    """

    statistic: float
    degrees: int
    p_value: float
    largest: Step | None
    alone: bool
    few: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the test as JSON."""
        step = None if self.largest is None else dict(vars(self.largest))
        told = {"statistic": self.statistic, "degrees": self.degrees, "p_value": self.p_value}
        return {**told, "largest": step}


def change_over_epochs(
    groups: Groups, *, people: str = "unknown", alpha: float = 0.05
) -> Change | None:
    """Return the test of "no change" over epochs, and the largest step between neighbours.

    Guarantees: the level is at most alpha where reports are many enough for normal errors and a
    person's answers at two times are not negatively related.

    Cost: of T epochs and k answers, T^3 + k^3.

    Edge cases: None if fewer than two epochs have shares.
    """
    known = np.asarray(np.isfinite(groups.shares).all(0) & (groups.variance > 0).all(0))
    if groups.sizes.size < 2 or not known.any():
        return None
    few = people == "same" and _too_few(groups, known)
    people = "unknown" if few else people
    if groups.noise is not None and known.all():
        total, shared = _covariances(groups, groups.noise, people)
        directions, kept = whitened(total, shared)
        tested = _tested(groups, groups.shares @ directions.T, groups.sizes, kept, people)
        return Change(*tested, _largest(groups, known, people, alpha), False, few)
    single = [
        _tested(groups, *_scaled(groups, v), groups.kept[[v]], people)
        for v in map(int, np.flatnonzero(known))
    ]
    statistic, degrees, p_value = min(single, key=lambda found: found[2])
    p_value = min(1.0, len(single) * p_value)
    return Change(statistic, degrees, p_value, _largest(groups, known, people, alpha), True, few)


def _too_few(groups: Groups, known: NDArray[np.bool_]) -> bool:
    """Tell whether changes of the same people rest on too few fresh coins in some epoch.

    What the same people keep cancels, and what is left is the noise of the reports that a fresh
    coin changed. A share 1 - kept of a report's variance is fresh, so that n (1 - kept) counts them
    as far as they matter: of a few the statistic is no chi-square variable.
    """
    kept = groups.kept[known]
    if groups.noise is not None and known.all():
        kept = whitened(*_covariances(groups, groups.noise, "same"))[1]
    return float(groups.sizes.min()) * (1 - float(kept.max())) < FRESH


def _covariances(groups: Groups, noise: Floats, people: str) -> tuple[Floats, Floats]:
    """Return the covariance of one report, and the part that the same people repeat."""
    lasting = groups.lasting[0 if people == "same" else 1]
    return noise + groups.sample, lasting * noise + groups.sample


def _scaled(groups: Groups, answer: int) -> tuple[Floats, Floats]:
    """Return an answer's shares, as if each report had the variance 1, and the reports.

    Where epochs mix levels or versions, reports differ in what they tell: 1 / variance counts them.
    """
    if groups.precision is not None:
        return groups.shares[:, [answer]], groups.precision[:, answer]
    fresh, repeated = groups.one_report(groups.lasting[1])
    one = np.sqrt(fresh + repeated)[answer]
    return np.asarray(groups.shares[:, [answer]] / one), groups.sizes


def _tested(
    groups: Groups, y: Floats, n: Floats, kept: Floats, people: str
) -> tuple[float, int, float]:
    """Return statistic, degrees and p-value of columns that have the variance 1 / n_t each."""
    degrees = (n.size - 1) * y.shape[1]
    if people == "same":
        statistic = sum(_same(n, y[:, j], float(k)) for j, k in enumerate(kept))
        return statistic, degrees, float(chi2_sf(statistic, degrees))
    about = y - (n @ y) / n.sum()
    statistic = float((n[:, None] * about**2).sum())
    read = _read(groups, statistic, degrees)
    p_value = float(chi2_sf(read, degrees))
    for back in BACK[1:] if people == "unknown" else ():
        slow = without_mean(groups.overlap(back, n), n)
        weights = np.maximum(1 + np.outer(kept, slow), 0.0).ravel()
        p_value = max(p_value, weighted_chi2_sf(read, weights))
    return statistic, degrees, p_value


def _read(groups: Groups, statistic: float, degrees: int) -> float:
    """Return the statistic as that of many reports, where some epoch has few.

    The square of a sum of n standardised variables x of rank d has the variance
    2 d + (E|x|^4 - d (d + 2)) / n: of rare answers in few reports much more than a chi-square
    variable's. Q is read as a chi-square variable of fewer degrees times a factor, with the mean
    and the variance that it has. One symbol per report has E|x|^4 = sum 1/r - 2 k + 1; a bit of its
    own for every answer has the excess 1/(r (1 - r)) - 6 each; the larger one is taken.
    """
    if groups.supported is None:
        return statistic
    r, n = np.clip(groups.supported, 1e-9, 1 - 1e-9), groups.sizes
    k = r.size
    excess = max(float((1 / r).sum()) - k**2 - 2 * k + 2, float((1 / (r * (1 - r)) - 6).sum()), 0.0)
    variance = 2 * degrees + excess * float(((1 - n / n.sum()) ** 2 / n).sum())
    factor = variance / (2 * degrees)
    tail = float(chi2_sf(statistic / factor, degrees / factor))
    return float(chi2_isf(tail, degrees)) if tail > 0 else statistic / factor


def _same(n: Floats, y: Floats, kept: float) -> float:
    """Return the statistic of one column, of the same people in all epochs."""
    # Cov = kept min(n_s, n_t) / (n_s n_t) off the diagonal, 1 / n_t on it. Whole repetition would
    # leave nothing to vary.
    covariance = min(kept, _MOST_KEPT) / np.maximum(n[:, None], n[None, :])
    np.fill_diagonal(covariance, 1 / n)
    both = np.linalg.solve(covariance, np.stack([y, np.ones_like(y)], axis=1))
    mean = (both[:, 0].sum()) / both[:, 1].sum()
    return float((y - mean) @ (both[:, 0] - mean * both[:, 1]))


def _largest(groups: Groups, known: NDArray[np.bool_], people: str, alpha: float) -> Step | None:
    """Return the step with the largest ratio to its error, with a simultaneous interval."""
    steps = np.diff(groups.shares, axis=0)
    error = np.sqrt(_step_variance(groups, people))
    ratio = np.where(known[None, :], np.abs(steps) / np.maximum(error, 1e-300), -1.0)
    # The last of equals: of yes and no, whose steps mirror each other, it is yes.
    t, v = np.unravel_index(
        ratio.size - 1 - int(np.argmax(np.round(ratio.ravel()[::-1], 9))), ratio.shape
    )
    # Bonferroni over all steps of all answers: they hold together, however they depend.
    tests = (groups.sizes.size - 1) * int(known.sum())
    half = float(normal_isf(alpha / (2 * tests))) * float(error[t, v])
    step = float(steps[t, v])
    return Step(groups.labels[v], groups.times[t + 1], step, step - half, step + half)


def _step_variance(groups: Groups, people: str) -> Floats:
    """Return the variance of the difference of every epoch and the one before."""
    variance = groups.variance[1:] + groups.variance[:-1]
    if people != "same" or groups.precision is not None:
        return np.asarray(variance)  # of a mix of levels and versions, without what cancels
    fresh, repeated = (part[None, :] for part in groups.one_report(groups.lasting[0]))
    one, other = 1 / groups.sizes[1:, None], 1 / groups.sizes[:-1, None]
    # What is repeated cancels, but for the people who are in the larger epoch alone.
    return np.asarray(fresh * (one + other) + repeated * np.abs(one - other))
