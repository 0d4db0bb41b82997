"""Closed domains: every point estimate of the distribution side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from deniable.decode.bayes import posterior_mean
from deniable.decode.observed import check_counts, is_open
from deniable.decode.simplex import base_cut, normalise, project
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import (
    KRR,
    Candidate,
    Counts,
    Estimate,
    Mechanism,
    Members,
    ProfileMechanism,
    Rappor,
)
from deniable.mechanisms.base import Floats
from deniable.mechanisms.closed_form import NO_REPORTS, Pure
from deniable.protocol.channel import Bits, Points, Product, Sign, Subset, Symbol, unknown_kind


@dataclass(frozen=True)
class PointEstimates:
    """Six ways to estimate one distribution.

    Attributes:
        answers: the labels.
        empirical: unbiased; may be negative.
        normalised: clipped and divided by the sum.
        projected: the nearest distribution; the safe default for whole distributions.
        base_cut: what is significant, as it is; the rest 0.
        likely: maximum likelihood on the simplex.
        posterior: empirical-Bayes posterior mean; usually the smallest squared error.
        notes: caveats for the reader.
    """

    answers: tuple[str, ...]
    empirical: Floats
    normalised: Floats
    projected: Floats
    base_cut: Floats
    likely: Floats
    posterior: Floats
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Support:
    """The support of each answer of a closed domain, with the mechanism's two probabilities.

    Attributes:
        counts: reports that support each answer.
        n: reports.
        oracle: P(a report supports its own answer), and a given other one.
        exclusive: whether a report supports exactly one answer (k-RR), or each independently.
    """

    counts: Floats
    n: int
    oracle: Pure
    exclusive: bool

    def weights(self, frequency: Floats) -> Floats:
        """Return the information of each count about its own frequency, at these frequencies.

        Half a report is added, so that an answer without reports has finite information.
        """
        r = self.oracle.q + self.oracle.gap * np.clip(frequency, 0.0, 1.0)
        r = (self.n * r + 0.5) / (self.n + 1)
        # 1 / Var f_hat = n (p - q)^2 / (r (1 - r)) of a binomial. Of a multinomial, diag(1 / r)
        # is a generalised inverse of the covariance on residuals that sum to 0: no 1 - r.
        noise = r if self.exclusive else r * (1 - r)
        return np.asarray(self.n * self.oracle.gap**2 / noise)

    @property
    def unbiased(self) -> Floats:
        """The unbiased frequencies."""
        return self.oracle.frequency(self.counts / self.n)


@dataclass(frozen=True)
class Gaussian:
    """Unbiased frequencies with independent normal errors, as every mechanism has them."""

    unbiased: Floats
    std_error: Floats

    def weights(self, _: Floats) -> Floats:
        """Return the information about each frequency, wherever it lies."""
        return np.asarray(1 / np.square(self.std_error))


def information_of(
    mechanism: Mechanism, counts: Counts, labels: Sequence[Candidate] | None = None
) -> Support | Gaussian:
    """Return the support of every answer where reports have one, else normal estimates.

    Raises:
        InvalidParameter: if there are no reports, or an answer cannot be identified.
    """
    if has_support(mechanism):
        return support_of(mechanism, counts)
    found = mechanism.estimate(counts, labels)
    if not (np.isfinite(found.frequency).all() and np.all(found.std_error > 0)):
        raise InvalidParameter(NO_REPORTS if counts.n == 0 else "Not every answer is identifiable.")
    return Gaussian(found.frequency, found.std_error)


def has_support(mechanism: Mechanism) -> bool:
    """Tell whether a report supports answers one by one, so that counts are binomial."""
    # Shares of a set's members, and of a profile's levels, are not those of one answer each.
    if isinstance(mechanism, Members | ProfileMechanism):
        return False
    channel = mechanism.parameters.channel
    match channel.typical:
        case Symbol() | Bits() | Subset():
            return channel.direct
        case Sign() | Points() | Product():
            return False
        case rest:
            raise unknown_kind("support of single answers", rest)


def support_of(mechanism: Mechanism, counts: Counts) -> Support:
    """Return the support of every answer, from the mechanism's own numbers.

    Edge cases: the single bit of a yes/no question supports yes when it is 1 and no when it is 0:
    reports support exactly one of the two, with probabilities that need not be symmetric, so
    that only p* = 1 - q* (Warner) is a pure oracle.

    Raises:
        InvalidParameter: if the mechanism has no closed domain of this kind, or there are no
            reports.
    """
    check_counts(mechanism, counts)
    if counts.n == 0:
        raise InvalidParameter(NO_REPORTS)
    row = counts.table[0].astype(np.float64)
    if not has_support(mechanism):
        raise _not_closed(mechanism)
    oracle = Pure.of(*mechanism.parameters.support)
    exclusive = isinstance(mechanism.parameters.channel.typical, Symbol)
    return Support(row, counts.n, oracle, exclusive)


def _not_closed(mechanism: Mechanism) -> InvalidParameter:
    return InvalidParameter(
        f"{type(mechanism).__name__} with these parameters has no closed domain of this kind.",
        "Use decode() with candidates.",
    )


@one_thread
def point_estimates(
    mechanism: Mechanism,
    counts: Counts,
    labels: Sequence[Candidate] | None = None,
    *,
    alpha: float = 0.05,
) -> PointEstimates:
    """Return all point estimates of a closed domain's distribution.

    Cost: a sort of the answers, and the posterior's table of at most 200 numbers per answer.

    Raises:
        InvalidParameter: if the domain is not closed, there are no reports, or the counts could
            not have come from the mechanism.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import KRR
        >>> m, rng = KRR(4, epsilon=1.0), np.random.default_rng(1)
        >>> counts = m.accumulate(m.simulate(rng.choice(4, size=1_000, p=[0.7, 0.3, 0, 0]), rng))
        >>> found = point_estimates(m, counts)
        >>> bool(found.projected.min() >= 0), round(float(found.projected.sum()), 6)
        (True, 1.0)
    """
    check_counts(mechanism, counts)
    if counts.n == 0:
        raise InvalidParameter(NO_REPORTS)
    if is_open(mechanism):
        raise _not_closed(mechanism)
    found = mechanism.estimate(counts, labels)
    if not np.isfinite(found.frequency).all():
        # Too few cohorts to tell all answers apart: no distribution can be made of the rest.
        none = np.full_like(found.frequency, np.nan)
        unknown = (none, none.copy(), none.copy(), none.copy(), none.copy())
        return PointEstimates(found.candidates, found.frequency, *unknown, found.notes)
    yes_no = found.frequency.size == 2
    # Between two answers there is one number to estimate, too few to fit a prior to.
    posterior = posterior_mean(found.frequency, found.std_error).frequency
    return PointEstimates(
        found.candidates,
        found.frequency,
        normalise(found.frequency),
        project(found.frequency),
        base_cut(found.frequency, found.std_error, alpha),
        likeliest(mechanism, counts, found),
        project(found.frequency) if yes_no else posterior,
        found.notes,
    )


def likeliest(mechanism: Mechanism, counts: Counts, found: Estimate) -> Floats:
    """Return the maximum-likelihood distribution of a closed domain.

    It is exact for k-RR and RAPPOR. For any other mechanism the estimates count as normal
    with their standard errors, independent of each other: then it is the nearest distribution in
    units of those errors. One yes/no bit gives one number, which is clipped.
    """
    if counts.table.shape[1] == 1:
        return project(found.frequency)
    # Of k-RR and RAPPOR the likelihood is solved exactly; in the permuted form a bit stands for
    # several answers.
    if isinstance(mechanism, KRR | Rappor) and has_support(mechanism):
        return likely_distribution(support_of(mechanism, counts))
    return nearest_in_errors(found.frequency, found.std_error)


def nearest_in_errors(frequency: Floats, std_error: Floats) -> Floats:
    """Return the distribution x with the least sum of ((x - frequency) / std_error)^2.

    At the minimum x = max(0, frequency - mu variance) with one mu for all, such that the sum is 1.

    Edge cases: NaN everywhere if a frequency is.
    """
    if not np.isfinite(frequency).all():
        return np.full_like(frequency, np.nan)
    variance = np.square(std_error)

    def at(slope: float) -> Floats:
        return np.maximum(frequency - slope * variance, 0.0)

    # Beyond these two slopes even the smallest variance moves the sum to the other side of 1.
    reach = float((np.abs(frequency).max() + 1) / variance.min())
    slope = optimize.brentq(lambda s: float(at(s).sum()) - 1, -reach, reach, xtol=1e-13 * reach)
    return normalise(at(slope))


def likely_distribution(support: Support) -> Floats:
    """Return the distribution under which the counts are likeliest.

    Exclusive reports are multinomial: log-likelihood sum_y c_y log r_y with r = q + (p - q) f.
    Otherwise each count is binomial, sum_y c_y log r_y + (n - c_y) log(1 - r_y). Both are sums of
    concave functions of single f_y, so that at the maximum over the simplex all positive f_y have
    the same slope mu (p - q): r = c / mu, or the root in 0..1 of mu r^2 - (n + mu) r + c = 0.
    The sum of the f_y falls as mu grows, and one search in mu finds the sum 1.

    Guarantees: the exact maximum, to about 1e-12.

    Edge cases: if no answer has any support every distribution is equally likely; uniform then.
    """
    if not support.counts.any():
        return np.full(support.counts.size, 1 / support.counts.size)

    def excess(slope: float) -> float:
        return float(_at_slope(support, slope).sum()) - 1

    low, high = _bracket(support)
    slope = optimize.brentq(excess, low, high, xtol=1e-13 * support.n, rtol=1e-14)
    return normalise(_at_slope(support, slope))


def _bracket(support: Support) -> tuple[float, float]:
    """Return slopes at which the sum of the frequencies is above and below 1."""
    step = float(support.n)
    low = 1e-9 * step if support.exclusive else -step
    high = step
    while _at_slope(support, high).sum() > 1:
        high *= 4
    while _at_slope(support, low).sum() < 1:
        low = low / 4 if support.exclusive else low * 4
        if abs(low) < 1e-30 or abs(low) > 1e30:
            break
    return low, high


def _at_slope(support: Support, slope: float) -> Floats:
    """Return the frequency of each answer at which its log-likelihood has this slope."""
    c, n = support.counts, support.n
    if support.exclusive:
        # c / r = mu.
        r = c / slope
    else:
        # c/r - (n - c)/(1 - r) = mu, times r (1 - r): mu r^2 - (n + mu) r + c = 0.
        middle = n + slope
        root = np.sqrt(middle**2 - 4 * slope * c)
        # Two forms of the same root: each avoids a difference of nearly equal numbers. With
        # middle = 0 and c = 0 only the second one is a number: r = 0.
        r = 2 * c / (middle + root) if middle > 0 else (middle - root) / (2 * slope)
    upper = np.inf if support.exclusive else 1.0
    return np.clip(support.oracle.frequency(r), 0.0, upper)
