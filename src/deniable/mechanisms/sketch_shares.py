"""Shares of answers from a count-mean sketch whose hash functions everybody shares.

An absent answer that shares a single bucket of 32 rows with an answer that half of the people hold
seems to have 1.6%, for good: no variance over hash functions describes that, since these functions
are known. So what listed answers add to each other is solved for. With e = 1/w where people can
hold unlisted strings, which are spread evenly, and 0 else, and T = (S - e)^-1 (`sketch_rows`),

    f = T (y - e),        n Cov = T S T / gap^2 - diag(f)        given people's values,

since E[z z'] = I within a row, and T S T = T + e T 1 1'T. (The reports of each row are taken as
they are. Products of other answers' shares, which lower a covariance by less than 1/w of it, are
left out.) With L = M / (g w) the share of all buckets that the answers fill, T is computed

- **exactly** for up to `MOST_EXACT` answers, if L is at most `MOST_LOAD`, or twice that with fewer
  than `FEWEST_COHORTS` rows, whose collisions do not average out;
- **by steps** of conjugate gradients for more (`pgr_collisions`), and the diagonal of T is its mean
  over hash functions, 1 / ((1 - 1/w)(1 - L));
- **for heavy answers** where L is larger, so that solving for all would cost more than it gains:
  those whose estimates lie beyond g/2 standard errors (from 2 to `HEAVY`), together, and every
  other answer beside them by itself. So a light one adds half a standard error to an answer that
  shares one of g rows with it, or a whole one if there are two rows. If too many are heavy: all
  exactly where L < 1 and there are at most `MOST_EXACT`, else none, and errors are those of random
  hash functions.

People whose answers are not solved for, unlisted strings and light answers, add sum f^2 T / (g w)
over hash functions: the sum of squares of all buckets, less that of the solved answers.
"""

from __future__ import annotations

from collections.abc import Iterator
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
"""The most answers for which T is computed exactly."""
HEAVY = 4.0
"""Standard errors beyond which an answer counts as heavy, if there are eight rows or more."""
_MOST_HEAVY, _ROUNDS, _STEP = 512, 5, 4_096
_KNOWN, _ALIKE = 1e-6, 1e-9
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Solved:
    """Shares with what their errors are made of.

    Attributes:
        frequency: f; NaN where an answer cannot be told from others.
        own: the diagonal of T.
        unit: that of T S T.
        left: sum W^2 sum f^2 over the people whose answers were not solved for.
        solvable: False where too many answers are heavy, so that none was solved for.
    """

    frequency: Floats
    own: Floats
    unit: Floats
    left: float = 0.0
    solvable: bool = True

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each answer can be told from the others."""
        return np.isfinite(self.frequency)

    def noise(self, rows: SketchRows) -> Floats:
        """Return the variances given people's values and hash functions."""
        held = np.minimum(self.frequency, 1 / rows.gap)
        return np.asarray((self.unit / rows.gap**2 - held) / rows.n)

    def variance(self, rows: SketchRows) -> Floats:
        """Return the variances, over hash functions of the people who are left."""
        return np.asarray(self.noise(rows) + self.left / rows.width * self.own)

    def among_others(self, rows: SketchRows) -> Solved:
        """Return the same with what is left of the people."""
        # E[f_hat^2] = f^2 + Var, so that the difference is an unbiased estimate of f^2.
        solved = float(np.nansum(self.frequency**2 - self.noise(rows)))
        return replace(self, left=max(0.0, rows.squares - rows.repeated * solved))


@dataclass(frozen=True)
class Exact:
    """The exact solution of up to `MOST_EXACT` answers.

    Attributes:
        rows: about these answers.
        even: e.
        inverse: T; the pseudo-inverse where some cannot be told apart.
        null: a basis of what the equations leave open.
    """

    rows: SketchRows
    even: float
    inverse: Floats
    null: Floats

    @classmethod
    def of(cls, rows: SketchRows, hashed: bool) -> Exact:
        """Solve for all answers."""
        even = 1 / rows.width if hashed else 0.0
        if not rows.answers:
            return cls(rows, even, np.empty((0, 0)), np.empty((0, 0)))
        shared = rows.shared(np.arange(rows.answers)).toarray()
        return cls(rows, even, *inverse(shared - even))

    @property
    def fit(self) -> Floats:
        """T (y - e), of smallest norm where it is not unique."""
        return np.asarray(self.inverse @ (self.rows.observed - self.even))

    @property
    def ones(self) -> Floats:
        """T 1."""
        return np.asarray(self.inverse.sum(axis=1))

    @property
    def solved(self) -> Solved:
        """The shares."""
        # An answer is determined when every null direction leaves it alone.
        known = np.square(self.null).sum(axis=1) < _KNOWN
        own = np.where(known, self.inverse.diagonal(), np.nan)
        # T S T = T (S - e) T + e T 1 1'T.
        found = Solved(np.where(known, self.fit, np.nan), own, own + self.even * self.ones**2)
        return found.among_others(self.rows) if self.even else found

    def covariance(self, solved: Solved) -> Floats:
        """Return the covariance whose diagonal is the variance of `solved`."""
        rows, ones = self.rows, self.ones
        unit = self.inverse + self.even * np.outer(ones, ones)
        held = np.diag(np.minimum(solved.frequency, 1 / rows.gap))
        noise = (unit / rows.gap**2 - held) / rows.n
        found = noise + solved.left / rows.width * self.inverse
        found[~solved.known, :] = found[:, ~solved.known] = np.nan
        return np.asarray(found)


def estimate_sketch(rows: SketchRows, labels: tuple[str, ...], hashed: bool) -> Estimate:
    """Return the unbiased frequencies of answers, collisions of listed answers taken out.

    Args:
        rows: with reports, at least one.
        labels: of the answers.
        hashed: whether people can hold other answers than these.
    """
    solved, covariance = _solved(rows, hashed)
    variance = solved.variance(rows)
    # A report supports an answer that shares no bucket with 1/2 + f gap/2: exactly binomial.
    oracle = Pure(0.5 + rows.gap / 2, 0.5, rows.gap / 2)
    alone = (1 / rows.gap**2 - np.minimum(solved.frequency, 1 / rows.gap)) / rows.n
    chances = Chances.of(oracle, len(labels), variance - alone)
    notes = tuple(_notes(labels, solved))
    errors = np.sqrt(variance)
    return Estimate(labels, solved.frequency, errors, covariance, rows.n, notes, chances)


def _notes(labels: tuple[str, ...], solved: Solved) -> Iterator[str]:
    unknown = np.flatnonzero(~solved.known)
    if not solved.solvable:
        yield (
            "More answers seem to be held than this sketch can tell apart: errors are those of "
            "random hash functions, and answers that share a bucket with a frequent one seem to "
            "be held. Use more rows or a wider sketch."
        )
    if unknown.size:
        yield (
            f"{unknown.size:,} of {len(labels):,} answers share so many buckets with others that "
            f"these reports cannot tell them apart: {named(labels, unknown)}. Use more reports, "
            "more rows or a wider sketch."
        )


def _solved(rows: SketchRows, hashed: bool) -> tuple[Solved, Floats | None]:
    """Return the shares, and their covariance where it is computed."""
    few, many_rows = rows.answers <= MOST_EXACT, rows.repeated <= 1 / FEWEST_COHORTS
    found = None
    if few and rows.load <= (MOST_LOAD if many_rows else 2 * MOST_LOAD):
        found = Exact.of(rows, hashed)
    elif many_rows and rows.load <= MOST_LOAD:
        return _by_steps(rows, hashed), None
    else:
        beside = _beside_heavy(rows)
        if beside is not None:
            return beside, None
        found = Exact.of(rows, hashed)
    solved = found.solved
    return solved, found.covariance(solved)


def _by_steps(rows: SketchRows, hashed: bool) -> Solved:
    even = 1 / rows.width
    frequency = separated(_by_itself(rows).frequency, rows.buckets, rows.weights, rows.width)
    own = np.full(rows.answers, 1 / ((1 - even) * (1 - rows.load)))
    found = Solved(frequency, own, own + even)
    return found.among_others(rows) if hashed else found


def _by_itself(rows: SketchRows) -> Solved:
    """Return the shares as if all other answers were spread evenly."""
    even = 1 / rows.width
    own = np.full(rows.answers, 1 / (1 - even))
    return Solved((rows.observed - even) * own, own, own + even)


def _beside_heavy(rows: SketchRows) -> Solved | None:
    """Solve for heavy answers, then for the others; None if all should be solved for.

    An answer that only shares a bucket with a heavy one seems heavy, too. Among the heavy ones it
    would be there for its noise, too large, and the other one too small: so heavy answers are
    chosen again, from estimates that are rid of collisions.
    """
    by_itself = replace(_by_itself(rows), left=max(0.0, rows.squares))
    found, places = by_itself, np.empty(0, dtype=np.intp)
    for _ in range(_ROUNDS):
        before, places = places, _heaviest(rows, found)
        if np.array_equal(before, places):
            break
        heavy = Exact.of(rows.about(places), True)
        solved = heavy.solved
        found = _beside(rows, heavy, places)
        found.frequency[places] = solved.frequency
        found.own[places], found.unit[places] = solved.own, solved.unit
        found = replace(found, left=solved.left)
    many = np.count_nonzero(_heavy(rows, found)) > MOST_LOAD * rows.width / rows.repeated
    # Answers that fill all buckets cannot be solved for, however few they are.
    if rows.answers <= MOST_EXACT and rows.load < 1:
        return None if many or not found.known.all() else found
    return replace(by_itself, solvable=False) if many else found


def _heavy(rows: SketchRows, found: Solved) -> NDArray[np.bool_]:
    # In errors of an answer that nobody holds: those of a frequent one can be as good as 0.
    z = np.nan_to_num(found.frequency * rows.gap * np.sqrt(rows.n / found.unit))
    return np.asarray(z > min(HEAVY, max(HEAVY / 2, 0.5 / rows.repeated)))


def _heaviest(rows: SketchRows, found: Solved) -> Places:
    """Return the heavy answers, no more of the largest than can be told apart."""
    places = np.flatnonzero(_heavy(rows, found))
    most = min(_MOST_HEAVY, int(MOST_LOAD * rows.width / rows.repeated))
    return np.sort(places[np.argsort(-found.frequency[places], kind="stable")[:most]])


def _beside(rows: SketchRows, heavy: Exact, places: Places) -> Solved:
    """Solve for every answer by itself beside the heavy ones.

    With s an answer's row of S - e and the columns of the heavy ones, whose T is H, its own row of
    the inverse for all of these is (-s H, 1)/d, d = 1 - e - s H s'. So f = (y - e - s f_H)/d, and
    T S T is 1/d + e ((1 - s H 1)/d)^2.
    """
    even, shared = 1 / rows.width, rows.shared(places)
    rest, ones = np.empty(rows.answers), np.empty(rows.answers)
    for start in range(0, rows.answers, _STEP):
        part = slice(start, start + _STEP)
        s = shared[part].toarray() - even
        both = s @ heavy.inverse
        rest[part], ones[part] = 1 - even - (both * s).sum(axis=1), 1 - both.sum(axis=1)
        # What is not known about the heavy ones is not known about what shares their buckets.
        open_ = np.square(s @ heavy.null).sum(axis=1) > _KNOWN
        rest[part][open_] = np.nan
    rest[rest < _ALIKE] = np.nan
    frequency = (rows.observed - even - (shared @ heavy.fit - even * heavy.fit.sum())) / rest
    return Solved(frequency, 1 / rest, 1 / rest + even * (ones / rest) ** 2)
