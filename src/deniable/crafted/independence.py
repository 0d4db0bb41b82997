"""The range of a test of independence without the crafted reports.

Model: the statistic of the score test (`associate/scores.py`) is T = |sum over reports of z|^2 / n,
where z is the product of a report's whitened scores: the root of T is a norm. Without the m crafted
reports A it is |S - sum_A z|^2 / (n - m), S = sum of all z. With e = S / |S|,

    |S - sum_A z|   >=  |S| - sum_A z.e,
    |S - sum_A z|^2 <=  |S|^2 - 2 |S| sum_A z.e + (sum_A |z|)^2,

and crafted reports are among the reports: the m largest z.e, the m least ones, and the m largest
|z| give the least and the largest T that the honest reports can have, whichever are crafted.

Whitening and the fields' own distributions follow from all reports, so that crafted ones move
these, too, and less than the products by one order. So the test is also made again without the
reports of the largest (least) z.e (`search.py`); the least (largest) T counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg

from deniable import _validate
from deniable.associate.fields import field_rows
from deniable.associate.independence import independence
from deniable.associate.joint import marginal_fits
from deniable.associate.patterns import patterns_of
from deniable.associate.scores import definite_factor
from deniable.associate.variable import Variable
from deniable.crafted.joint import left_over
from deniable.crafted.search import MAJORITY, Kept, Range, largest, refits
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms.base import Floats

_ANYTHING = Range(0.0, float("inf"))


@one_thread
def crafted_test(variables: Sequence[Variable], crafted: float) -> Range:
    """Return the range of the score test's statistic if a share of the reports is crafted.

    Guarantees: both ends hold for scores that are centred and scaled as in all reports, whichever
    reports are crafted; that they also move centre and scale is looked for, not proven.

    Cost: five tests; 8 bytes per report and category.

    Edge cases: a share of 0 changes nothing; from half of the reports on, or where too few might
        be left to tell the categories apart, everything from 0 to infinity is possible.

    Args:
        variables: two, as `independence` takes them.
        crafted: the share of reports that may be crafted.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1.
    """
    share = _validate.probability("crafted", "a test", crafted)
    count = int(np.ceil(share * variables[0].n))
    found = [independence(variables).statistic]
    if share >= MAJORITY:
        return _ANYTHING
    if count:
        again = partial(_Products.of, variables)
        try:
            products = again(np.ones(variables[0].n, dtype=np.bool_))
            found += products.bounds(count)
            for sign in (1, -1):
                fits = refits(products, partial(_towards, sign), again, count)
                found += [independence(left_over(variables, fit.kept)).statistic for fit in fits]
        except (InvalidParameter, linalg.LinAlgError):  # too few left to tell categories apart
            return _ANYTHING
    return Range(min(found), max(found))


@dataclass(frozen=True)
class _Products:
    """The products z of every report.

    Attributes:
        kept: the reports that centre and scale come from.
        length: |S|, of these.
        along: z.e of every report.
        size: |z| of every report.
    """

    kept: Kept
    length: float
    along: Floats
    size: Floats

    @classmethod
    def of(cls, variables: Sequence[Variable], kept: Kept) -> _Products:
        """Return the products of all reports, centred and scaled by the kept ones."""
        left = left_over(variables, kept)
        fits = marginal_fits(patterns_of(left, strict=True))
        one, two = (
            _whitened(variable, whole, fit, kept)
            for variable, whole, fit in zip(left, variables, fits, strict=True)
        )
        total = one[:, kept] @ two[:, kept].T
        length = float(np.linalg.norm(total))
        direction = total / length if length > 0 else total
        along = np.sum((direction.T @ one) * two, axis=0)
        sizes = np.linalg.norm(one, axis=0) * np.linalg.norm(two, axis=0)
        return cls(kept, length, along, sizes)

    def bounds(self, count: int) -> tuple[float, float]:
        """Return bounds of the statistic without any `count` of the reports."""
        taken = float(self.along[largest(self.along, count)].sum())
        given = -float(-self.along[largest(-self.along, count)].sum())
        sizes = float(self.size[largest(self.size, count)].sum())
        left = self.along.size - count
        # |S - sum z| >= |S| - sum z.e, and |S - sum z|^2 <= |S|^2 - 2 |S| sum z.e + (sum |z|)^2.
        least = max(0.0, self.length - taken) ** 2
        most = self.length**2 - 2 * self.length * min(0.0, given) + sizes**2
        return least / left, most / left


def _towards(sign: int, products: _Products) -> Floats:
    """Return how much each report makes the statistic larger (1), or smaller (-1)."""
    return np.asarray(sign * products.along)


def _whitened(variable: Variable, whole: Variable, margin: Floats, kept: Kept) -> Floats:
    """Return the scores of all reports; of the kept ones mean 0, and the identity as covariance."""
    rows = field_rows(variable, records=whole.reports)
    scores = rows.lines / (margin @ rows.lines)
    scores = np.delete(scores, int(np.argmax(margin)), axis=0)
    scores = scores if rows.codes is None else scores[:, rows.codes]
    scores = scores - scores[:, kept].mean(axis=1, keepdims=True)
    # Cov = F F', so that F^-1 u has the identity as covariance.
    factor = definite_factor(scores[:, kept] @ scores[:, kept].T / kept.sum())
    return np.asarray(linalg.solve_triangular(factor, scores, lower=True))
