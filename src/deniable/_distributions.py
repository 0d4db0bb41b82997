"""Densities, tails and quantiles of the distributions that tests and intervals need.

They are those of `scipy.special`, under the names of `scipy.stats`, whose import alone takes half a
second of every start. Every function works elementwise and takes what NumPy broadcasts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Numbers = NDArray[np.float64]


def normal_cdf(x: ArrayLike) -> Numbers:
    """P(Z <= x) of a standard normal variable."""
    return np.asarray(special.ndtr(x))


def normal_sf(x: ArrayLike) -> Numbers:
    """P(Z > x), exact far in the tail too."""
    return np.asarray(special.ndtr(-np.asarray(x, dtype=float)))


def normal_ppf(p: ArrayLike) -> Numbers:
    """The x with P(Z <= x) = p."""
    return np.asarray(special.ndtri(p))


def normal_isf(p: ArrayLike) -> Numbers:
    """The x with P(Z > x) = p."""
    return np.asarray(-special.ndtri(p))


def normal_pdf(x: ArrayLike) -> Numbers:
    """The density of a standard normal variable."""
    return np.asarray(np.exp(-(np.asarray(x, dtype=float) ** 2) / 2) / np.sqrt(2 * np.pi))


def t_sf(x: ArrayLike, degrees: ArrayLike) -> Numbers:
    """P(T > x) of Student's t."""
    return np.asarray(special.stdtr(degrees, -np.asarray(x, dtype=float)))


def t_isf(p: ArrayLike, degrees: ArrayLike) -> Numbers:
    """The x with P(T > x) = p."""
    return np.asarray(-special.stdtrit(degrees, p))


def chi2_sf(x: ArrayLike, degrees: ArrayLike) -> Numbers:
    """P(X > x) of a chi-square variable; 1 below 0."""
    return np.asarray(special.chdtrc(degrees, np.maximum(x, 0.0)))


def chi2_isf(p: ArrayLike, degrees: ArrayLike) -> Numbers:
    """The x with P(X > x) = p of a chi-square variable."""
    return np.asarray(special.chdtri(degrees, p))


def chi2_cdf(x: ArrayLike, degrees: ArrayLike) -> Numbers:
    """P(X <= x) of a chi-square variable; 0 below 0."""
    return np.asarray(special.chdtr(degrees, np.maximum(x, 0.0)))


def f_sf(x: ArrayLike, above: ArrayLike, below: ArrayLike) -> Numbers:
    """P(F > x) of the F distribution; 1 below 0."""
    return np.asarray(special.fdtrc(above, below, np.maximum(x, 0.0)))


def beta_ppf(p: ArrayLike, a: ArrayLike, b: ArrayLike) -> Numbers:
    """The x with P(B <= x) = p of a beta variable; NaN unless a and b are positive."""
    return np.asarray(special.betaincinv(a, b, p))


def binomial_pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Numbers:
    """P(K = k); 0 where k is not in 0..n.

    The logarithm of the binomial coefficient is -ln(n + 1) - ln B(n - k + 1, k + 1).
    """
    k, n, p = (np.asarray(number, dtype=float) for number in (k, n, p))
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0.0)
    coefficient = -np.log1p(n) - special.betaln(n - k + 1, k + 1)
    law = np.exp(coefficient + special.xlogy(k, p) + special.xlog1py(n - k, -p))
    return np.asarray(np.where(inside, law, 0.0))


def binomial_cdf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Numbers:
    """P(K <= k); 0 below 0 and 1 from n on."""
    return _binomial(k, n, p, special.betaincc, 0.0)


def binomial_sf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Numbers:
    """P(K > k); 1 below 0 and 0 from n on."""
    return _binomial(k, n, p, special.betainc, 1.0)


def _binomial(k: ArrayLike, n: ArrayLike, p: ArrayLike, tail: Any, below: float) -> Numbers:
    """A tail with all its digits, by the incomplete beta function: I_p(k + 1, n - k) = P(K > k)."""
    places, trials = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    inside = (places >= 0) & (places < trials)
    law = tail(np.where(inside, places, 0.0) + 1, np.where(inside, trials - places, 1.0), p)
    return np.asarray(np.where(inside, law, np.where(places < 0, below, 1 - below)))


def binomial_isf(tail: float, n: int, p: float) -> int:
    """The least k with P(K > k) <= tail, by halving."""
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if float(binomial_sf(middle, n, p)) <= tail else (middle, high)
    return high


def poisson_sf(k: ArrayLike, mean: ArrayLike) -> Numbers:
    """P(K > k) of a Poisson variable; 1 below 0."""
    k = np.asarray(k, dtype=float)
    return np.asarray(np.where(k < 0, 1.0, special.gammainc(np.maximum(k, 0.0) + 1, mean)))
