"""The first look at one place of an imagined crowd: which n-grams stand out, with the right noise.

Model: the estimate of an n-gram of share s is normal with n Var = V(s), that of RAPPOR, and
s (1 - s) for the people who are drawn. Those of n-grams that nobody has are noise alone. What
passes the test for the whole dictionary (`marginals`) is common.

A large dictionary shortens the first look. Of its G n-grams the M that look best are fitted
together, and those that nobody has were chosen because they look frequent: because they share cells
with what is frequent, of whose share they then take a part. With z the mean of the best M of G
standard normal numbers, and D cells, every estimate is divided by

    1 + (M / D) z^2.

To see it: an n-gram of estimate e, in standard errors, lifts one that shares c of its C cells by
e c / C. The chosen ones therefore share e z / D of their cells more than others do, M of them, each
with an estimate b z: e becomes e (1 - (M / D) b z^2). This is as true of their own estimates, so
that b = 1 - (M / D) b z^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable._distributions import normal_isf, normal_pdf, normal_sf
from deniable.discover.ngrams.marginals import ALPHA, MOST_GRAMS, SHORTLIST
from deniable.mechanisms.base import Floats
from deniable.mechanisms.rappor import Rappor

Digits = NDArray[np.int64]


@dataclass(frozen=True)
class Look:
    """The n-grams of one place that pass the first look, the most frequent first.

    Attributes:
        grams: their letters, a row each.
        shares: the true shares.
        errors: of their estimates.
        noise: n Var of their estimates.
        holds: for each string which of these is its own; -1 where it did not pass.
    """

    grams: Digits
    shares: Floats
    errors: Floats
    noise: Floats
    holds: Digits


@dataclass(frozen=True)
class Place:
    """One place of an imagined crowd: its reports and its dictionary.

    Attributes:
        gram: how n-grams are reported.
        people: who report this place.
        letters: of the alphabet.
        dictionary: G, the number of possible n-grams.
    """

    gram: Rappor
    people: float
    letters: int
    dictionary: int

    def noise(self, shares: Floats | float) -> Floats:
        """Return n Var of the share of an n-gram, with that of drawing the people."""
        s = np.clip(shares, 0.0, 1.0)
        return np.asarray(self.gram.variance(1, s) + s * (1 - s))

    def look(self, texts: Digits, held: Floats, chance: float, rng: np.random.Generator) -> Look:
        """Return the n-grams that pass the first look.

        Args:
            texts: the n-gram of every string, a row of letters each.
            held: the strings' shares.
            chance: the share of others who have any given n-gram.
            rng: the only source of randomness.
        """
        own, which = np.unique(texts, axis=0, return_inverse=True)
        real: Floats = np.asarray(np.bincount(which.ravel(), weights=held) + chance, np.float64)
        nobody = self._nobody(self.dictionary - len(own), rng)
        false = rng.integers(0, self.letters, size=(len(nobody), texts.shape[1]))
        shares = np.concatenate([real, np.zeros(len(nobody))])
        noise = self.noise(shares)
        drawn = np.sqrt(noise[: len(real)] / self.people) * rng.standard_normal(len(real))
        errors = np.concatenate([drawn, nobody])
        order = self._passing(shares, errors, len(real))
        rank = np.full(len(shares), -1, dtype=np.int64)
        rank[order] = np.arange(len(order))
        grams = np.concatenate([own, false])
        kept = grams[order], shares[order], errors[order], noise[order]
        return Look(*kept, rank[which.ravel()])

    def _nobody(self, count: int, rng: np.random.Generator) -> Floats:
        """Return the largest estimates among `count` n-grams that nobody has.

        The largest of many normal numbers are Phi^-1(1 - U / count), U the points of a Poisson
        process of rate 1.
        """
        tails = np.cumsum(rng.exponential(size=SHORTLIST)) / max(1, count)
        z = normal_isf(tails[tails < min(0.5, count)])
        return np.asarray(z * math.sqrt(float(self.noise(0.0)) / self.people))

    def _passing(self, shares: Floats, errors: Floats, real: int) -> Digits:
        """Return the n-grams that pass the test, the most frequent first."""
        shape = self.gram.parameters
        cells, fitted = shape.bits * shape.cohorts, min(SHORTLIST, self.dictionary)
        wide = math.sqrt(widened(fitted, cells))
        shown = (shares + errors * wide) / _crowded(fitted - real, self.dictionary - real, cells)
        known = np.sqrt(self.gram.variance(1, np.clip(shown, 0.0, 1.0)) / self.people) * wide
        p_values = normal_sf(shown / known)
        passed = np.flatnonzero(p_values <= _level(p_values, self.dictionary))
        return passed[np.argsort(-shown[passed], kind="stable")][:MOST_GRAMS]


def _level(p_values: Floats, tests: int) -> float:
    """Return Benjamini and Hochberg's largest p-value that passes, of the smallest of all tests."""
    rising = np.sort(p_values)
    # [BH95] over all tests; only the smallest p-values are given, and only they can pass.
    good = rising[rising <= ALPHA * np.arange(1, rising.size + 1) / tests]
    return float(good[-1]) if good.size else -1.0


def widened(listed: int, cells: int) -> float:
    """Return the factor on variances of fitting `listed` strings together."""
    # Fitting M columns in D cells leaves each a share 1 - M / D of its information.
    return 1 / (1 - min(listed, cells // 2) / cells)


def _crowded(listed: int, others: int, cells: int) -> float:
    """Return the divisor of estimates beside n-grams that were chosen for their noise."""
    tail = listed / max(1, others)
    if not 0 < tail < 1:
        return 1.0
    # E[Z | Z > t] = phi(t) / P(Z > t): the mean of the best of standard normal numbers.
    mean = float(normal_pdf(normal_isf(tail))) / tail
    return 1 + listed / cells * mean**2
