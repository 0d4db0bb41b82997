"""Which n-grams are common at each place: the first look, place by place.

The whole dictionary is streamed past the counts of all places at once, and each place keeps the
n-grams whose bits stand out most. These are then fitted together by weighted least squares, and
tested with a correction for the whole dictionary. Nothing here is a discovery: what passes only
decides which pairs are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deniable.decode import observe
from deniable.decode.significance import benjamini_hochberg
from deniable.discover.ngram_dictionary import dictionary
from deniable.mechanisms import Counts, NGrams
from deniable.mechanisms.base import Floats

SHORTLIST = 300
"""n-grams of each place that are fitted together."""
ALPHA = 0.05


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


def common_grams(
    mechanism: NGrams, counts: Counts, letters: str, *, alpha: float = ALPHA, most: int = 20
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
    """
    places = [mechanism.place_counts(counts, i) for i in range(mechanism.parameters.places)]
    total, best = _shortlists(mechanism, places, letters)
    return [
        _common(mechanism, own, listed, total, alpha, most)
        for own, listed in zip(places, best, strict=True)
    ]


def _common(
    mechanism: NGrams, counts: Counts, listed: list[str], total: int, alpha: float, most: int
) -> Common:
    error = float(np.sqrt(mechanism.gram.variance(max(1, counts.n))))
    if counts.n == 0:
        return Common((), (), 0, error)
    found = mechanism.gram.estimate(counts, listed)
    known = found.std_error > 0
    z = np.divide(found.frequency, found.std_error, out=np.full(len(listed), -np.inf), where=known)
    p_values = np.append(stats.norm.sf(z), np.ones(total - len(listed)))
    passed = np.flatnonzero(benjamini_hochberg(p_values, alpha)[: len(listed)])
    order = passed[np.argsort(-found.frequency[passed], kind="stable")][:most]
    shares = tuple(float(found.frequency[i]) for i in order)
    return Common(tuple(listed[i] for i in order), shares, counts.n, error)


def _shortlists(
    mechanism: NGrams, places: Sequence[Counts], letters: str
) -> tuple[int, list[list[str]]]:
    """Return the size of the dictionary, and the n-grams that stand out at each place."""
    pulls = [_pull(mechanism, counts) for counts in places]
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


def _pull(mechanism: NGrams, counts: Counts) -> Floats:
    """Return each cell's weighted deviation from the mean: its part in the score of an n-gram."""
    observed = observe(mechanism.gram, counts)
    weights, y = observed.people, observed.y
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
