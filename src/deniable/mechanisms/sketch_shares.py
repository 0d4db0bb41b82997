"""Shares of answers from a count-mean sketch whose hash functions everybody shares.

An absent answer that shares a single bucket of 32 rows with an answer that half of the people hold
seems to have 1.6%, for good: no variance over hash functions describes that, since these functions
are known. So what listed answers add to each other is solved for, in one of three ways:

- **exactly**: by least squares, of up to `MOST_EXACT` answers that fill up to a quarter of the
  buckets (`sketch_rows`: M / (g w)). With T = S^-1, or (S - 1/w)^-1 where unlisted strings are
  spread evenly,

      f = T y   or   T (y - 1/w),        n Cov = T S T / gap^2 - diag(f)      given people's values,

  since E[z z'] = I within a row. (Rows are ancillary: their reports are taken as they are. The
  products of other answers' shares that would lower the covariance by less than 1/w are left out.)
  T S T is T, or T + T 1 1'T / w;
- **by steps** of conjugate gradients, of more answers (`pgr_collisions`): the same solution, with
  the average variance 1/(1 - M / (g w)) times that of an answer by itself;
- **of heavy answers alone**, where answers fill more of the buckets, so that solving for all would
  cost more than it gains: those whose estimates lie beyond `HEAVY` standard errors. Any other one
  adds less than HEAVY/g standard errors to an answer that shares one of g rows with it.

What is not solved for, unlisted strings and light answers, adds sum f^2 / (g w) over hash
functions: their sum of squares is that of all buckets less that of the solved answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Estimate, Floats
from deniable.mechanisms.candidates import named
from deniable.mechanisms.chances import Chances
from deniable.mechanisms.closed_form import Pure
from deniable.mechanisms.least_squares import inverse
from deniable.mechanisms.pgr_collisions import FEWEST_COHORTS, MOST_LOAD, separated
from deniable.mechanisms.sketch_rows import SketchRows

MOST_EXACT = 1_024
"""The most answers that are solved for exactly: half a second."""
HEAVY = 4.0
"""Standard errors beyond which an answer counts as heavy."""
_KNOWN = 1e-6


def estimate_sketch(rows: SketchRows, labels: tuple[str, ...], pure: Pure, hashed: bool) -> Estimate:
    """Return the unbiased frequencies of answers, collisions of listed answers taken out.

    Args:
        rows: with reports, at least one.
        labels: of the answers.
        pure: the two chances of an answer by itself, over hash functions.
        hashed: whether people can hold other answers than these.
    """
    if rows.load <= MOST_LOAD and rows.answers <= MOST_EXACT:
        return _exact(rows, labels, hashed)
    if rows.load <= MOST_LOAD and rows.repeated <= 1 / FEWEST_COHORTS:
        return _by_steps(rows, labels, pure, hashed)
    return _heavy(rows, labels, pure)


@dataclass(frozen=True)
class Solved:
    """The exact solution.

    Attributes:
        frequency: NaN where an answer cannot be told from others.
        inverse: T; NaN there.
        unit: T S T.
        known: whether each answer can be told from the others.
    """

    frequency: Floats
    inverse: Floats
    unit: Floats
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: SketchRows, hashed: bool) -> Solved:
        """Solve for all answers; with unlisted ones spread evenly if `hashed`."""
        even = 1 / rows.width if hashed else 0.0
        found, null = inverse(rows.shared - even)
        # An answer is determined when every null direction leaves it alone.
        known: NDArray[np.bool_] = np.square(null).sum(axis=1) < _KNOWN
        frequency = np.where(known, found @ (rows.observed - even), np.nan)
        found[~known, :] = found[:, ~known] = np.nan
        ones = np.nansum(found, axis=1)
        # T S T = T (S - even) T + even T 1 1'T = T + even T 1 1'T.
        return cls(frequency, found, found + even * np.outer(ones, ones), known)

    def noise(self, rows: SketchRows) -> Floats:
        """Return the covariance given people's values and hash functions."""
        held = np.diag(np.minimum(self.frequency, 1 / rows.gap))
        return np.asarray((self.unit / rows.gap**2 - held) / rows.n)


def _exact(rows: SketchRows, labels: tuple[str, ...], hashed: bool) -> Estimate:
    solved = Solved.of(rows, hashed)
    covariance = solved.noise(rows)
    if hashed:
        left = _left(rows, solved.frequency, covariance.diagonal())
        covariance = covariance + left / rows.width * solved.inverse
    errors = np.sqrt(covariance.diagonal())
    # A report supports an answer with 1/2 + f gap/2 where it shares no bucket: exactly binomial.
    oracle = Pure(0.5 + rows.gap / 2, 0.5, rows.gap / 2)
    alone = (1 / rows.gap**2 - np.minimum(solved.frequency, 1 / rows.gap)) / rows.n
    chances = Chances.of(oracle, len(labels), errors**2 - alone)
    unknown = np.flatnonzero(~solved.known)
    notes = (_like_others(labels, unknown),) if unknown.size else ()
    return Estimate(labels, solved.frequency, errors, covariance, rows.n, notes, chances)


def _by_steps(rows: SketchRows, labels: tuple[str, ...], pure: Pure, hashed: bool) -> Estimate:
    alone = _by_itself(rows)
    frequency = separated(alone, rows.buckets, rows.weights, rows.width)
    variance = pure.variance_observed(pure.q + pure.gap * alone, rows.n) / (1 - rows.load)
    if hashed:
        variance = variance + _left(rows, frequency, variance) / (rows.width - 1)
    return _estimate(rows, labels, pure, frequency, variance)


def _heavy(rows: SketchRows, labels: tuple[str, ...], pure: Pure) -> Estimate:
    """Take out what heavy answers add to all others; nothing, if these cannot be told apart."""
    frequency = _by_itself(rows)
    variance = pure.variance_observed(pure.q + pure.gap * frequency, rows.n)
    places = _heaviest(rows, frequency / np.sqrt(variance))
    some = rows.about(places)
    solved = Solved.of(some, True) if places.size else None
    if solved is None:
        return _estimate(rows, labels, pure, frequency, variance + _beside(rows))
    if not solved.known.all():
        found = _estimate(rows, labels, pure, frequency, variance + _beside(rows))
        alike = _like_others(labels, places[~solved.known])
        return replace(found, notes=(f"{alike} Errors are those of random hash functions.",))
    variance = variance / (1 - some.load)
    frequency = frequency - rows.others(places, solved.frequency) / (1 - 1 / rows.width)
    frequency[places] = solved.frequency
    variance[places] = solved.noise(some).diagonal()
    left = _left(some, solved.frequency, variance[places])
    return _estimate(rows, labels, pure, frequency, variance + left / (rows.width - 1))


def _heaviest(rows: SketchRows, z: Floats) -> NDArray[np.intp]:
    """Return the answers beyond `HEAVY`, the heaviest where they would fill too many buckets."""
    most = min(MOST_EXACT, int(MOST_LOAD * rows.width / rows.repeated))
    places = np.argsort(-z, kind="stable")[:most]
    return np.sort(places[z[places] > HEAVY])


def _by_itself(rows: SketchRows) -> Floats:
    """Return the shares as if every other answer were spread evenly over the buckets."""
    return np.asarray((rows.observed - 1 / rows.width) / (1 - 1 / rows.width))


def _beside(rows: SketchRows) -> float:
    return max(0.0, rows.squares) / (rows.width - 1)


def _left(rows: SketchRows, frequency: Floats, variance: Floats) -> float:
    """Return sum W^2 sum f^2 over the people whose answers were not solved for."""
    # E[f_hat^2] = f^2 + Var, so that the difference is an unbiased estimate of f^2.
    solved = float(np.nansum(frequency**2 - variance))
    return max(0.0, rows.squares - rows.repeated * solved)


def _estimate(
    rows: SketchRows, labels: tuple[str, ...], pure: Pure, frequency: Floats, variance: Floats
) -> Estimate:
    chances = Chances.around(pure, frequency, variance, rows.n)
    return Estimate(labels, frequency, np.sqrt(variance), None, rows.n, chances=chances)


def _like_others(labels: tuple[str, ...], unknown: NDArray[np.intp]) -> str:
    return (
        f"{unknown.size:,} of {len(labels):,} answers share so many buckets with others that "
        f"these reports cannot tell them apart: {named(labels, unknown)}. Use more reports, more "
        "rows or a wider sketch."
    )
