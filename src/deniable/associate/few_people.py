"""Errors of a joint table of few people: expected information, and exact limits of the sample.

Where few people, or none, hold a combination the information that was observed about it says
little: of a combination without reports it is nearly 0, and a Newton step from the likeliest table
ends anywhere. Expected information needs no reports about it. Per report, at a table y inside the
simplex,

    I(y) = sum over records P(record | y) L L' / P(record | y)^2,    L_c = P(record | cell c),

and the step from y with Sigma = (n I)^-1 on the tangent of the simplex,

    unbounded = y + Sigma L'(w / Ly),

has the expectation y + I^-1 I (x - y) = x whatever the table x is, since the score has the
expectation n I(y) x: it is unbiased for every fixed y, and y decides only how much it varies.

The sum over records is a mean over reports of imagined people, drawn from a table g half of which
is y and half uniform: I(y) = E_g[L L' / (P(record | y) P(record | g))], so that no record that
matters is rare.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.associate.covariance import (
    AT_BOUND,
    LARGEST_TABLE,
    CellErrors,
    cell_errors,
    errors_around,
    information,
    on_simplex,
)
from deniable.associate.drawn import reported
from deniable.associate.patterns import Patterns, patterns_of
from deniable.associate.variable import Variable
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

FEW = 20.0
"""People in a cell below which the observed information does not do."""
SAID = (
    "Some combinations have fewer than 20 people, where a normal interval is too narrow: intervals "
    "join exact limits of a sample of so few with the noise that these mechanisms add."
)
_IMAGINED = 20_000
_NEAR = 1.5
"""The factor within which variances by observed information are as good as by expected one."""
_PRIOR = 0.5
"""People added to each cell of the table at which information is expected (Jeffreys)."""


def errors_of(
    variables: Sequence[Variable], patterns: Patterns, x: Floats, level: float
) -> tuple[CellErrors, bool]:
    """Return the errors of a maximum-likelihood table, and whether few people were allowed for.

    Cost: where some cell has fewer than 20 people, the likelihoods of 20,000 imagined reports.
    """
    if patterns.n * float(x.min()) >= FEW or len(x) > LARGEST_TABLE:
        return cell_errors(patterns, x, level), False
    n, cells = float(patterns.n), len(x)
    y = (n * x + _PRIOR) / (n + _PRIOR * cells)
    expected = _expected(variables, patterns.sizes, y)
    if expected is None:
        return cell_errors(patterns, x, level), False
    sigma = on_simplex(n * expected)
    # On the tangent alone: off it every report says 1, one that fits all cells alike, too.
    seen, known = on_simplex(information(patterns, y)[1]).diagonal(), sigma.diagonal()
    if np.all(seen < _NEAR * known) and np.all(known < _NEAR * seen):
        return cell_errors(patterns, x, level, n), True
    active = on_simplex(n * expected, x > AT_BOUND)
    score = n * patterns.pulled(patterns.shares / patterns.mixed(y))
    return errors_around(x, y + sigma @ score, sigma, active, level, n), True


def _expected(variables: Sequence[Variable], sizes: tuple[int, ...], y: Floats) -> Floats | None:
    """Return the information of one report at a table; None if imagined reports do not tell."""
    rng, drawn = np.random.default_rng(0), 0.5 * y + 0.5 / len(y)
    codes = np.unravel_index(rng.choice(len(y), size=_IMAGINED, p=drawn / drawn.sum()), sizes)
    try:
        imagined = patterns_of(
            [reported(one, code, rng) for one, code in zip(variables, codes, strict=True)]
        )
    except InvalidParameter:  # even so many cannot tell two categories apart
        return None
    # L L' / (Ly Lg): a factor of a record's likelihoods, as packed ones have it, cancels.
    weights = imagined.shares / (imagined.mixed(y) * imagined.mixed(drawn))
    return imagined.curvature(weights)
