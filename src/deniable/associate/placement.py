"""The error of a joint table that is due to where unlisted strings happen to fall.

Model: the likelihood of "(other)" is that of a string anywhere: over hash functions it is right on
average, and for one set of them it is not. In cohort j, of n_j reports, let d_ju be the share of
all people who are unlisted and at place u, less what the likelihood says, and

    m_ju = E[s z_u o],    s = L/(Lx) - 1,  the scores,    o = P(report | other)/(Lx),
                          z_u = P(report | u)/P(report | anywhere) - 1,

the mean score that unlisted people at u add. Then the scores sum to n_j sum_u d_ju m_ju instead of
0, and the table is off by Sigma times that. Cohorts hash anew, and so do places, nearly: with v_ju
the variance of d_ju (`placement_parts`) the table has the covariance

    Sigma + Sigma E Sigma,    E = sum_j n_j^2 sum_u v_ju m_ju m_ju'.

E does not fall with the number of people, as the noise does: it falls with that of cohorts. Sums of
squares over u of means over reports hold the noise of these means as well, which is subtracted.
What the other fields of unlisted people say is taken as that of all of them together.

Accuracy: few cohorts make few places, and the sum is not quite normal. It is given the width that
Student's t has with as many degrees as cohorts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deniable._distributions import normal_isf, t_isf
from deniable.associate.fields import field_rows
from deniable.associate.placement_parts import Part, parts_of
from deniable.associate.variable import Variable
from deniable.decode.mixture.rows import multiplied
from deniable.mechanisms.base import Floats, Reports

_PROFILES = ("flat", "peaks")
"""The profiles that know what they leave out: the paper's are fitted bit by bit to the noise."""
_ROWS, _SCORES, _PRODUCTS = 2**15, 2**22, 2**30
"""The most reports, scores, and products of scores and places, from which E is computed."""


@dataclass(frozen=True)
class Placing:
    """Where unlisted strings fall, as reports say of any table.

    Attributes:
        n: the number of all reports.
        reports: some of the reports of each field.
        lines: the likelihoods of these, of each field.
        flat: P(own report | an unlisted string anywhere) on the scale of the lines, by field.
        parts: of each such field, and how far the unlisted people of each are from even.
    """

    n: int
    reports: tuple[Reports, ...]
    lines: tuple[Floats, ...]
    flat: Mapping[int, Floats]
    parts: Mapping[int, tuple[Part, ...]]

    def scores(self, x: Floats, level: float) -> Floats:
        """Return E of a table x, flat.

        Args:
            x: the table, flat.
            level: of the intervals, whose width allows for few cohorts.

        Cost: the scores of at most 32,768 reports at every place of their cohorts.
        """
        scores = multiplied(list(self.lines))
        mixed = x @ scores
        scores /= mixed
        scores -= 1
        found = np.zeros((x.size, x.size))
        for axis, parts in self.parts.items():
            own = self._unlisted(x, axis) / mixed
            for part in parts:
                found += _student(part, level) * _added(part, self.reports[axis], scores, own)
        return _positive(found) * (self.n / len(self.reports[0])) ** 2

    def _unlisted(self, x: Floats, axis: int) -> Floats:
        """Return P(all fields of a report | an unlisted string anywhere)."""
        table = np.moveaxis(x.reshape([len(each) for each in self.lines]), axis, 0)
        # What the others say is that of the unlisted people; of nobody, that of all.
        beside = table[-1] if table[-1].sum() > 0 else table.sum(axis=0)
        others = multiplied([*self.lines[:axis], *self.lines[axis + 1 :]])
        rest = beside.reshape(-1) / beside.sum() @ others
        return np.asarray(self.flat[axis] * rest)


def placing_of(variables: Sequence[Variable], profile: str) -> Placing | None:
    """Return where unlisted strings fall; None where no field has such an error.

    Args:
        variables: of the table.
        profile: of "(other)".

    Cost: one pass over the counts of the fields with "(other)", and the likelihoods of at most
        32,768 reports.
    """
    n = variables[0].n
    if profile not in _PROFILES or not n:
        return None
    every = {axis: tuple(parts_of(one, profile)) for axis, one in enumerate(variables)}
    if not (parts := {axis: found for axis, found in every.items() if found}):
        return None
    cells = math.prod(len(one.categories) for one in variables)
    most = max(part.variance.shape[1] for found in parts.values() for part in found)
    rows = min(_ROWS, _SCORES // cells, _PRODUCTS // (most * cells))
    step = max(1, -(-n // max(1, rows)))
    some = tuple(one.reports[::step].copy() for one in variables)  # no view: that held them all
    lines = tuple(_lines(*both, profile) for both in zip(variables, some, strict=True))
    flat = {}
    for axis in parts:
        own = _lines(variables[axis], some[axis], "flat")
        # Every line of a report has one scale, which the first candidate's tells.
        flat[axis] = np.asarray(own[-1] / own[0] * lines[axis][0])
    return Placing(n, some, lines, flat, parts)


def _lines(variable: Variable, some: Reports, profile: str) -> Floats:
    """Return the likelihoods of some reports, where all of them tell how "(other)" looks."""
    rows = field_rows(variable, profile=profile, records=some)
    return rows.lines if rows.codes is None else rows.lines[:, rows.codes]


def _student(part: Part, level: float) -> float:
    """Return the factor to a variance that gives a normal interval the width of Student's t."""
    cohorts = max(1, int(np.count_nonzero(part.variance.any(axis=1))))
    tail = (1 - level) / 2
    return float(t_isf(tail, cohorts) / normal_isf(tail)) ** 2


def _added(part: Part, records: Reports, scores: Floats, own: Floats) -> Floats:
    """Return E of one part, from sums over some reports instead of n_j means."""
    found = np.zeros((len(scores), len(scores)))
    mine = np.ones(records.size, dtype=np.bool_) if part.chosen is None else part.chosen(records)
    for cohort in np.flatnonzero(part.variance.any(axis=1)):
        rows = np.flatnonzero(mine & (records[part.cohort] == cohort))
        weights, ratios = scores[:, rows] * own[rows], part.ratios(records[rows])
        variance = part.variance[cohort]
        means = weights @ ratios
        # sum over u of v (sum_i w_i z_iu)^2, less the terms of a report with itself: noise.
        found += (means * variance) @ means.T - (weights * (ratios**2 @ variance)) @ weights.T
    return found


def _positive(found: Floats) -> Floats:
    """Return the nearest matrix that is a covariance: noise may have been subtracted twice."""
    values, vectors = np.linalg.eigh((found + found.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
