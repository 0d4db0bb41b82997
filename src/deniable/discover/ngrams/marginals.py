"""Common n-grams of each place: the first look, place by place.

The whole dictionary is streamed past the counts of all places at once, and each place keeps the
n-grams whose bits stand out most: in a large dictionary once more, when the frequent ones have been
taken out. These are then fitted together by weighted least squares, and
tested with a correction for the whole dictionary. Nothing here is a discovery: what passes only
decides which pairs are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable._distributions import normal_sf
from deniable.decode import design_of, observe
from deniable.decode.significance import benjamini_hochberg
from deniable.discover.ngrams.dictionary import dictionary
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import Counts, NGrams
from deniable.mechanisms.base import Candidate, Floats
from deniable.protocol import ABSENT

SHORTLIST = 300
"""n-grams of each place that are fitted together."""
ALPHA = 0.05
MOST_GRAMS = 40
"""Common n-grams of one place that are paired with those of the others. All that pass the test
are, up to this bound on the cost: a fit of two places takes time with its square. A hundred strings
of a million people have about 40 at epsilon 4.39."""
LOOKED_AT_ONCE = 1_000
"""A larger dictionary is streamed a second time, without what the first time has found."""

Shares = dict[str, float]
"""Estimated shares of n-grams, the largest first."""


@dataclass(frozen=True)
class Common:
    """The common n-grams of one place, the most frequent first.

    Attributes:
        grams: the n-grams.
        shares: their estimated shares of the people.
        n: reports at this place.
        error: the standard error of the share of an n-gram that nobody has.
    """

    grams: tuple[str, ...]
    shares: tuple[float, ...]
    n: int
    error: float


@one_thread
def common_grams(
    mechanism: NGrams,
    counts: Counts,
    letters: str,
    *,
    alpha: float = ALPHA,
    most: int = MOST_GRAMS,
    absent: bool = False,
) -> list[Common]:
    """Return the common n-grams of every place.

    Guarantees: of those returned a share of about `alpha` is expected to be false.

    Cost: D m h look-ups for each place, for a dictionary of D n-grams; a block of it in memory.

    Args:
        mechanism: of the reports.
        counts: of the reports.
        letters: the alphabet.
        alpha: the false share, of the whole dictionary (Benjamini-Hochberg).
        most: the most n-grams of a place.
        absent: whether people without an answer report too; they are fitted beside the n-grams.
    """
    places = [mechanism.place_counts(counts, i) for i in range(mechanism.parameters.places)]
    nothing: list[Shares] = [{} for _ in places]
    total, listed = _shortlists(mechanism, places, nothing, letters)
    test = _Test(mechanism, total, alpha, absent)
    found = [test.passing(*one) for one in zip(places, listed, strict=True)]
    if total > LOOKED_AT_ONCE:
        _, more = _shortlists(mechanism, places, found, letters)
        listed = [list(dict.fromkeys((*a, *b))) for a, b in zip(found, more, strict=True)]
        found = [test.passing(*one) for one in zip(places, listed, strict=True)]
    return [
        Common(tuple(shares)[:most], tuple(shares.values())[:most], own.n, _error(mechanism, own))
        for own, shares in zip(places, found, strict=True)
    ]


def _error(mechanism: NGrams, counts: Counts) -> float:
    return float(np.sqrt(mechanism.gram.variance(max(1, counts.n))))


@dataclass(frozen=True)
class _Test:
    """The test of a shortlist, corrected for a dictionary of `total` n-grams."""

    mechanism: NGrams
    total: int
    alpha: float
    absent: bool

    def passing(self, counts: Counts, listed: list[str]) -> Shares:
        """Return the n-grams of a shortlist that pass, the most frequent first."""
        if counts.n == 0:
            return {}
        fitted: list[Candidate] = [*listed, ABSENT] if self.absent else [*listed]
        found = self.mechanism.gram.estimate(counts, fitted)
        shares, errors = found.frequency[: len(listed)], found.std_error[: len(listed)]
        z = np.divide(shares, errors, out=np.full(len(listed), -np.inf), where=errors > 0)
        # The rest of the dictionary was looked at as well: it counts with p-values of 1.
        p_values = np.append(normal_sf(z), np.ones(max(0, self.total - len(listed))))
        passed = np.flatnonzero(benjamini_hochberg(p_values, self.alpha)[: len(listed)])
        order = passed[np.argsort(-shares[passed], kind="stable")]
        return {listed[i]: float(shares[i]) for i in order}


def _shortlists(
    mechanism: NGrams, places: Sequence[Counts], known: Sequence[Shares], letters: str
) -> tuple[int, list[list[str]]]:
    """Return the size of the dictionary, and the n-grams that stand out at each place.

    What is known already is taken out first: the bits of a frequent n-gram lift every other one
    that shares some of them.
    """
    pulls = [_pull(mechanism, *one) for one in zip(places, known, strict=True)]
    kept: list[list[tuple[float, int, str]]] = [[] for _ in places]
    total = 0
    for block in dictionary(letters, mechanism.parameters.n):
        cells = _cells(mechanism, block)
        for own, pull in zip(kept, pulls, strict=True):
            scores = pull[cells].sum(axis=1)
            top = np.argsort(-scores, kind="stable")[:SHORTLIST]
            own.extend((-float(scores[i]), total + int(i), block[i]) for i in top)
            own.sort()
            del own[SHORTLIST:]
        total += len(block)
    return total, [[gram for _, _, gram in own] for own in kept]


def _pull(mechanism: NGrams, counts: Counts, known: Shares) -> Floats:
    """Return each cell's weighted deviation from the mean: its part in the score of an n-gram."""
    observed = observe(mechanism.gram, counts)
    weights, y = observed.people, observed.y
    if known:
        columns = design_of(observed.shape, list(known)).matrix()
        y = y - columns.T @ np.array(list(known.values()))
    mean = float(weights @ y) / max(1.0, float(weights.sum()))
    return np.asarray(weights * (y - mean))


def _cells(mechanism: NGrams, grams: list[str]) -> NDArray[np.int64]:
    """Return the cells that each n-gram sets, a row each; a bit set twice stands there twice."""
    from deniable.kernels.hash_candidates import bloom_positions, fingerprints

    shape = mechanism.parameters
    words = fingerprints(b"s" + gram.encode("utf-8") for gram in grams)
    bits = bloom_positions(words, shape.cohorts, shape.hashes, shape.bits).astype(np.int64)
    first = np.arange(shape.cohorts, dtype=np.int64) * shape.bits
    return (bits + first[None, :, None]).reshape(len(grams), -1)
