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

Many people may be few reports: where a mechanism hides most answers whole and lets few through,
only these *telling* reports say who holds a string. A report adds psi = Sigma L / Ly to the table,
of mean 0, with the cumulants k2 = n E psi^2 = Sigma_cc and k3 = n E psi^3 of the sum. The sum is
read as the Poisson count that has both: K telling reports that add a grain g = k3 / k2 each, with
mean k2 / g^2 (`covariance`). Of a share of which every r-th report tells g is about r / n,
whatever y is, and symmetrical noise has g = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
"""People, or telling reports, in a cell below which the observed information does not do."""
SAID = (
    "Some combinations have fewer than 20 people, or reports that tell of them, where a normal "
    "interval is too narrow: intervals join exact limits of a sample of so few with the noise that "
    "these mechanisms add."
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

    Cost: where some cell has fewer than 20 people, or its error is as large as if it had, the
    likelihoods of 20,000 imagined reports.
    """
    if len(x) > LARGEST_TABLE:
        return cell_errors(patterns, x, level), False
    n, cells = float(patterns.n), len(x)
    few = n * float(x.min()) < FEW
    if not few:
        plain = cell_errors(patterns, x, level)
        # As many people without noise would have this error: x (1 - x) / variance.
        if np.all(x * x * (1 - x) >= FEW * plain.std_error**2):
            return plain, False
    y = (n * x + _PRIOR) / (n + _PRIOR * cells)
    imagined = _imagined(variables, patterns.sizes, y)
    if imagined is None:
        return cell_errors(patterns, x, level), False
    expected = imagined.information()
    sigma = on_simplex(n * expected)
    grain = imagined.grain(sigma)
    if not few and np.all(sigma.diagonal() >= FEW * grain**2):
        return plain, False
    # On the tangent alone: off it every report says 1, one that fits all cells alike, too.
    seen, known = on_simplex(information(patterns, y)[1]).diagonal(), sigma.diagonal()
    if np.all(seen < _NEAR * known) and np.all(known < _NEAR * seen):
        return cell_errors(patterns, x, level, n, grain), True
    active = on_simplex(n * expected, x > AT_BOUND)
    score = n * patterns.pulled(patterns.shares / patterns.mixed(y))
    return errors_around(x, y + sigma @ score, sigma, active, level, n, grain), True


@dataclass(frozen=True)
class _Imagined:
    """Reports of imagined people, and how likely they are at a table y and where they are from.

    Attributes:
        patterns: their likelihoods.
        at: P(record | y), up to a factor that is a record's own.
        drawn: P(record | g), up to the same one.
    """

    patterns: Patterns
    at: Floats
    drawn: Floats

    def information(self) -> Floats:
        """Return the information of one report at y."""
        # L L' / (Ly Lg): a factor of a record's likelihoods, as packed ones have it, cancels.
        return self.patterns.curvature(self.patterns.shares / (self.at * self.drawn))

    def grain(self, sigma: Floats) -> Floats:
        """Return k3 / k2 of every cell, the share that one telling report adds; see the module."""
        weights = self.patterns.shares * self.at / self.drawn
        found = np.zeros(len(sigma))
        for cell, row in enumerate(sigma):
            psi = self.patterns.mixed(row) / self.at
            squares = float(weights @ psi**2)
            found[cell] = float(weights @ psi**3) / squares if squares > 0 else 0.0
        return found


def _imagined(variables: Sequence[Variable], sizes: tuple[int, ...], y: Floats) -> _Imagined | None:
    """Return imagined reports at a table; None if they do not tell categories apart."""
    rng, drawn = np.random.default_rng(0), 0.5 * y + 0.5 / len(y)
    codes = np.unravel_index(rng.choice(len(y), size=_IMAGINED, p=drawn / drawn.sum()), sizes)
    try:
        imagined = patterns_of(
            [reported(one, code, rng) for one, code in zip(variables, codes, strict=True)]
        )
    except InvalidParameter:  # even so many cannot tell two categories apart
        return None
    return _Imagined(imagined, imagined.mixed(y), imagined.mixed(drawn))
