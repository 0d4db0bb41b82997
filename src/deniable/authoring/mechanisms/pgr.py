"""Projective geometry response from what people wrote: `epsilon`, `cohorts`, `points`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deniable.authoring.closed_form import mean_variance
from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import wanted_epsilon
from deniable.authoring.written import Authoring, Written, member
from deniable.errors import InvalidParameter
from deniable.protocol import epsilon
from deniable.protocol.declared import whole
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import answers_of
from deniable.protocol.pgr import (
    MAX_DIMENSION,
    MAX_POINTS,
    MAX_PRIME,
    PGRParameters,
    is_prime,
    odds_of,
)
from deniable.protocol.projective import points_below

HASHED_POINTS = 16_384
"""The least number of points into which strings are hashed by default."""
MOST_HASHED_POINTS = 2**18
"""The most points that are chosen for strings: every cohort has a count for each."""
_NEARLY = 1.001
"""Of geometries whose variances differ by less, the smallest is taken: it is decoded faster."""
_cohorts = member(PGRParameters, "cohorts")
_points = whole(2, MOST_HASHED_POINTS // 2).read


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> PGRParameters:
    """Read `epsilon`, and for strings `cohorts` (32) and the fewest `points` (16,384).

    Prime and dimension are those of the least closed-form variance among all geometries with
    enough points.
    """
    micros = wanted_epsilon("pgr", wanted)
    answers = answers_of(domain, absent) or 0
    if answers and wanted.keys() & {"cohorts", "points"}:
        raise InvalidParameter(
            "pgr takes 'cohorts' and 'points' for strings only.", "Leave them out."
        )
    cohorts = _cohorts("cohorts", "pgr", wanted.get("cohorts", 1 if answers else 32))
    fewest = answers or _points("points", "pgr", wanted.get("points", HASHED_POINTS))
    prime, dimension = best_geometry(fewest, micros, hashed=not answers)
    odds = odds_of(prime, dimension)
    form = "closed" if answers else "hashed"
    return PGRParameters(form, answers, prime, dimension, cohorts, truth_threshold(odds, micros))


def best_geometry(
    fewest: int, micros: int, hashed: bool = False, most: int | None = None
) -> tuple[int, int]:
    """Return the prime and dimension of nearly the least mean variance with enough points.

    Of the geometries with `fewest` to `most` points whose variance is within a factor `_NEARLY` of
    the least, it is the one with the fewest points. `most` is by default 262,144 for hashed strings
    and 4,194,304 otherwise.

    Raises:
        InvalidParameter: if there is none, which cannot be up to 65,538 points.
    """
    e = float(epsilon.exp_micros(min(micros, 20 * epsilon.MICRO)))
    most = most or (MOST_HASHED_POINTS if hashed else MAX_POINTS)
    tried = [
        (prime, dimension)
        for dimension in range(2, MAX_DIMENSION + 1)
        for prime in _primes(fewest, most, dimension)
    ]
    if not tried:
        raise InvalidParameter(f"pgr cannot have {fewest:,} points.", "Lower 'points'.")
    variances = {shape: _variance(*shape, e, 0 if hashed else fewest) for shape in tried}
    good = min(variances.values()) * _NEARLY
    return min((s for s in tried if variances[s] <= good), key=lambda s: points_below(*s))


def _primes(fewest: int, most: int, dimension: int) -> Iterator[int]:
    """Yield the primes of geometries that have enough points, and not too many."""
    prime = max(2, int((fewest / 2) ** (1 / (dimension - 1))))
    while prime <= MAX_PRIME and points_below(prime, dimension) <= most:
        if points_below(prime, dimension) >= fewest and is_prime(prime):
            yield prime
            if dimension == 2:
                return  # k-RR: the fewest symbols are the best
        prime += 1


def _variance(prime: int, dimension: int, e: float, answers: int) -> float:
    """Return the mean n Var of the answers; of a rare string if `answers` is 0."""
    # A point inside has e times the probability `each` of one outside, and all of them sum to 1;
    # p and q follow as in docs/mathematics.md, section 2.
    points, inner = points_below(prime, dimension), points_below(prime, dimension - 1)
    shared = points_below(prime, dimension - 2)
    each = 1 / ((e - 1) * inner + points)
    p = e * inner * each
    q = (e * shared + inner - shared) * each if answers else inner / points
    return mean_variance(p, q, answers)


KEYS: Mapping[str, Written] = {
    "epsilon": Written(epsilon.wanted, "1.0"),
    "cohorts": Written(_cohorts, "32"),
    "points": Written(_points, "16384"),
}
AUTHORING = Authoring(KEYS, resolve)
