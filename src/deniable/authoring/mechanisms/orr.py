"""O-RR from what people wrote: `epsilon`, and where wanted `symbols` (k) and `cohorts`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from deniable.authoring.closed_form import mean_variance
from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import spelled_out, wanted_epsilon
from deniable.authoring.written import Authoring, Written, member
from deniable.protocol import epsilon
from deniable.protocol.domain import Domain
from deniable.protocol.orr import MAX_SYMBOLS, ORRParameters, collision
from deniable.protocol.parameters import answers_of

_symbols = member(ORRParameters, "symbols")
_cohorts = member(ORRParameters, "cohorts")
LETTERS = {"k": "symbols"}


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> ORRParameters:
    """Read `epsilon`, and where wanted `symbols` (k) and `cohorts`.

    k is by default the one of the least closed-form variance. Cohorts are by default 256 for
    strings; for a closed domain, from 64 to 8,192, enough for four times as many counts as
    answers (1 where k is the number of answers).
    """
    named = spelled_out("orr", wanted, LETTERS)
    micros = wanted_epsilon("orr", named)
    answers = answers_of(domain, absent) or 0
    form = "permuted" if answers else "hashed"
    symbols = _symbols("symbols", "orr", named.get("symbols", best_symbols(answers, micros)))
    cohorts = _cohorts("cohorts", "orr", named.get("cohorts", _enough(answers, symbols)))
    return ORRParameters(form, answers, symbols, cohorts, truth_threshold(symbols - 1, micros))


def best_symbols(answers: int, micros: int) -> int:
    """Return the k of the least variance: near E + 1, or all S answers of a small domain."""
    e = math.exp(min(epsilon.as_float(micros), 11.5))  # beyond that k has reached its limit
    most = min(answers or MAX_SYMBOLS, MAX_SYMBOLS)
    near = {math.floor(e) + step for step in range(-1, 4)}
    # Permuted classes are of equal sizes where k divides S, or nearly: fewer collisions.
    even = {-(-answers // parts) for parts in range(1, 65)}
    tried = {min(most, max(2, k)) for k in (*near, *even, most)}
    return min(sorted(tried), key=lambda k: _variance(answers, k, e))


def best_listed_symbols(listed: int, cohorts: int, micros: int) -> int:
    """Return the k of the least `listed_variance` for `listed` listed strings."""
    e = math.exp(min(epsilon.as_float(micros), 11.5))
    tried = {round(1.1**power) for power in range(8, 100)} & set(range(2, 4 * listed))
    return min(
        sorted(tried),
        key=lambda k: listed_variance(listed, k, cohorts, e / (e + k - 1)),
    )


def listed_variance(listed: int, symbols: int, cohorts: int, keep: float) -> float:
    """Return the mean of n Var over a complete list of strings, all fitted at once.

    Model: a string shares its cell with j others, j nearly Poisson with mean (M - 1) / k, each of
    frequency 1/M. A report shows the cell with r_j = q + (p - q)(1 + j)/M; least squares weighs
    cells by 1/r_j, cohorts see differences between cells only (1 - 1/k), and fitting M strings to
    C (k - 1) numbers widens errors. Given the people's values their own drawing, 1/M, is no error.

    Accuracy: within some 20% of simulations at M = 256 from epsilon 3 on; meant for comparing.
    """
    move = (1 - keep) / (symbols - 1)
    mean = (listed - 1) / symbols
    information, weight = 0.0, math.exp(-mean)
    for j in range(int(mean + 12 * math.sqrt(mean)) + 20):
        # weight = P(j others share the cell), Poisson; r_j is the denominator.
        information += weight / (move + (keep - move) * (1 + j) / listed)
        weight *= mean / (j + 1)
    information *= (keep - move) ** 2 * (1 - 1 / symbols)
    left = max(0.01, 1 - listed / (cohorts * (symbols - 1)))
    return (1 / information - 1 / listed) / left if information > 0 else math.inf


def _variance(answers: int, symbols: int, e: float) -> float:
    keep, move = e / (e + symbols - 1), 1 / (e + symbols - 1)
    shared = float(collision(answers, symbols))
    other = shared * keep + (1 - shared) * move
    return mean_variance(keep, other, answers)


def _enough(answers: int, symbols: int) -> int:
    """Return the default number of cohorts: a power of two."""
    if answers == 0:
        return 256
    if answers == symbols:
        return 1  # nothing collides: plain k-RR
    wanted = 4 * answers / (symbols - 1)
    return min(8_192, max(64, 1 << math.ceil(math.log2(wanted))))


KEYS: Mapping[str, Written] = {
    **dict.fromkeys(("k", "symbols"), Written(_symbols, "4")),
    "cohorts": Written(_cohorts, "64"),
    "epsilon": Written(epsilon.wanted, "1.0"),
}
AUTHORING = Authoring(KEYS, resolve)
