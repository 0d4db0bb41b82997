"""How much the statistic of a score test varies where few reports tell: more than chi-square.

Model: each report i has whitened scores w_i of d numbers, of mean 0 and unit covariance under
independence, and T = |sum_i w_i|^2 / n. Of a finite number of reports

    E T = d,    Var T = 2 d + (E |w|^4 - d (d + 2)) / n,

whatever the law of w. Where a mechanism hides most answers whole, a report in hundreds has large
scores, E |w|^4 is large, and a chi-square of d degrees is exceeded too often. T is read as f times
a chi-square of d / f degrees, f = Var T / (2 d), which has both moments. The numbers of |w|^2 are
products of those of the variables, |u_v|^2: summed over the sets S of two or more variables,

    |w|^2 = sum_S prod_{v in S} |u_v|^2,

whose square has under independence the mean, over pairs of sets S and R,

    E |w|^4 = sum_{S,R} prod_{v in S and R} E |u_v|^4  prod_{v in one of them} E |u_v|^2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from deniable.associate.patterns import Patterns
from deniable.associate.scores import scores_of, whitening
from deniable.decode.mixture.packed import PackedProduct
from deniable.decode.mixture.rows import Product
from deniable.mechanisms.base import Floats

LITTLE = 1.05
"""A statistic that varies by no more than this is chi-square."""
_ROWS = 2**15
"""Of more reports a part, evenly spread, tells the moments of a report."""


def spread_of(patterns: Patterns, margins: Sequence[Floats]) -> float:
    """Return f: how many times as much as chi-square the statistic varies; 1 if hardly more.

    Args:
        patterns: the likelihoods.
        margins: the variables' own fits.

    Cost: one pass over at most 32,768 reports, or patterns of reports.
    """
    part = _part(patterns)
    second, fourth, numbers = [], [], []
    for factor, margin in zip(part.factors, margins, strict=True):
        lines = scores_of(factor, margin)(slice(0, part.rows))
        lines = whitening((lines * part.shares) @ lines.T) @ lines
        squares = (lines[1:] ** 2).sum(axis=0)
        second.append(float(part.shares @ squares))
        fourth.append(float(part.shares @ squares**2))
        numbers.append(len(lines) - 1)
    sets = _sets(len(numbers))
    d = sum(math.prod(numbers[v] for v in chosen) for chosen in sets)
    if d == 0:
        return 1.0
    fourth_of_all = sum(
        math.prod(fourth[v] for v in one & two) * math.prod(second[v] for v in one ^ two)
        for one, two in itertools.product(sets, repeat=2)
    )
    spread = 1 + (fourth_of_all - d * (d + 2)) / (2 * d * patterns.n)
    return spread if spread > LITTLE else 1.0


def _sets(variables: int) -> list[frozenset[int]]:
    """Return the sets of two or more variables."""
    sizes = range(2, variables + 1)
    return [frozenset(c) for k in sizes for c in itertools.combinations(range(variables), k)]


def _part(patterns: Patterns) -> Product:
    """Return some reports, evenly spread; all patterns of reports that were grouped."""
    step = max(1, -(-patterns.rows // _ROWS))
    if isinstance(patterns, PackedProduct):
        rest = None if patterns.rest is None else patterns.rest[::step]
        packed, codes = patterns.packed[::step], patterns.codes[::step]
        return replace(patterns, packed=packed, codes=codes, rest=rest).dense()
    if patterns.shares.strides != (0,):  # of all weights
        step = 1
    shares = patterns.shares[::step]
    lines = tuple(factor[:, ::step] for factor in patterns.factors)
    return Product(lines, shares / shares.sum(), patterns.n)
