"""Correlation of two attributes, one number per pair: Pearson's coefficient or Cramer's V."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.independence import interaction
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class Correlation:
    """The association of two attributes.

    Attributes:
        value: Pearson's coefficient of two yes/no attributes, from -1 to 1 apart from noise;
            Cramer's V, from 0 to 1, where one has more answers. NaN where an attribute is constant.
        std_error: by the delta method; NaN for Cramer's V and for tables without a covariance.
        signed: whether it is Pearson's coefficient.
    """

    value: float
    std_error: float
    signed: bool


def correlation(cells: Floats, covariance: Floats | None = None) -> Correlation:
    """Return the association of a table's two attributes.

    Model: with c_11 = P_11 - P_1. P_.1 of the second answers,
    r = c_11 / sqrt(P_1. (1 - P_1.) P_.1 (1 - P_.1)) for two answers each, and
    V = sqrt(sum_ij c_ij^2 / (P_i. P_.j) / (min(r, s) - 1)) otherwise.

    Edge cases: a constant attribute (a margin at or beyond 0 or 1) gives NaN. V of a raw table is
    too large, since noise is squared: use smoothed tables for it.

    Raises:
        InvalidParameter: if the table has not two attributes.
    """
    p = np.asarray(cells, dtype=np.float64)
    if p.ndim != 2:
        raise InvalidParameter(f"A correlation is of two attributes. Got a table of {p.ndim}.")
    noise = np.full((p.size, p.size), np.nan) if covariance is None else covariance
    c, _ = interaction(p, noise)
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    if p.shape != (2, 2):
        return Correlation(_cramer(c, rows, columns), math.nan, False)
    one, other, total = float(rows[1]), float(columns[1]), float(p.sum())
    scale = one * (total - one) * other * (total - other)
    if not scale > 0 or one * (total - one) <= 0:
        return Correlation(math.nan, math.nan, True)
    value = float(c[1, 1]) / math.sqrt(scale)
    return Correlation(value, _error(p, noise, value, math.sqrt(scale)), True)


def _error(p: Floats, noise: Floats, value: float, scale: float) -> float:
    """Return the standard error of Pearson's coefficient (delta method, cells that sum to 1)."""
    one, other = float(p[1].sum()), float(p[:, 1].sum())
    in_row = np.array([0.0, 0.0, 1.0, 1.0])
    in_column = np.array([0.0, 1.0, 0.0, 1.0])
    both = in_row * in_column
    # r = c/s with c = P_11 - P_1. P_.1: dr = dc/s - r d(ln s), where ln s has the derivative
    # (1 - 2 P)/(2 P (1 - P)) by each of the two margins P.
    slope = (both - in_row * other - in_column * one) / scale
    slope -= value / 2 * (1 - 2 * one) / (one * (1 - one)) * in_row
    slope -= value / 2 * (1 - 2 * other) / (other * (1 - other)) * in_column
    variance = float(slope @ noise @ slope)
    return math.sqrt(variance) if variance >= 0 else math.nan


def _cramer(c: Floats, rows: Floats, columns: Floats) -> float:
    expected = np.outer(rows, columns)
    if not np.all(np.isfinite(c)) or np.any(expected < 0):
        return math.nan
    # Levels that nobody has say nothing about an association of the others.
    answers = min(np.count_nonzero(rows > 0), np.count_nonzero(columns > 0))
    if answers < 2:
        return math.nan
    some = expected > 0
    return math.sqrt(float(np.sum(c[some] ** 2 / expected[some])) / (answers - 1))
