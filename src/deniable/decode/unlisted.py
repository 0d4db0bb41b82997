"""Strings that nobody listed: how much of the population they are, and how we know.

Two signs give them away. The intercept: together they set every cell alike, a share g d/k of the
people in each (g their mass, d the distinct bits of a string). And what is missing: 1 less the sum
of the listed frequencies. Both are unbiased and their covariance is known, so the combination with
the least variance is taken. A third sign, the residual chi-square, needs no estimate of g: each
unlisted string makes its own cells stand out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable._distributions import chi2_sf, normal_sf
from deniable.decode.design import Shape
from deniable.decode.reading import READING, Reading
from deniable.decode.regression import Regression
from deniable.decode.significance import half_width
from deniable.mechanisms import Estimate

_SURPRISE = 1e-3
"""Residuals less likely than this under noise alone are worth a warning."""


@dataclass(frozen=True)
class Other:
    """The mass of strings outside the model.

    Attributes:
        frequency: unbiased, so it may be below 0 or above 1; NaN where it cannot be known.
        std_error: one standard deviation.
        interval: 95%.
        chi_square: residual sum of squares in units of the noise.
        degrees: its degrees of freedom.
        p_value: P(residuals, or a mass, as large | no strings outside the model).
    """

    frequency: float
    std_error: float
    interval: tuple[float, float]
    chi_square: float
    degrees: int
    p_value: float

    @property
    def suspected(self) -> bool:
        """True where the data show strings outside the model (p-value below 0.001)."""
        return self.p_value < _SURPRISE

    @property
    def excess(self) -> float:
        """The dispersion: residual chi-square over its degrees; 1 where noise explains all."""
        return self.chi_square / self.degrees if self.degrees > 0 else 1.0


def other_mass(
    parts: Sequence[Regression],
    shape: Shape,
    level: float = 0.95,
    reading: Reading = READING,
    n: int = 0,
) -> Other:
    """Return the mass outside the model; of several parts, the mean of their masses.

    Edge cases: where a candidate of the model is not identifiable neither is their sum, and the
    intercept alone is used; where that is not either, NaN.
    """
    each = [_mass(part, shape) for part in parts]
    mass = float(np.mean([m for m, _ in each]))
    # The mean of independent parts has the sum of their variances over their number squared.
    noise = float(np.sum([v for _, v in each])) / len(each) ** 2
    error = _error(reading, noise, mass, n)
    chi_square = sum(part.solved.chi_square for part in parts)
    degrees = sum(max(0, part.solved.degrees) for part in parts)
    p_value = float(chi2_sf(chi_square, degrees)) if degrees else float("nan")
    wide = half_width(level, degrees) * error
    return Other(mass, error, (mass - wide, mass + wide), chi_square, degrees, p_value)


def missing_mass(found: Estimate, level: float = 0.95, reading: Reading = READING) -> Other:
    """Return the mass that listed strings leave over, where reports are not counted in cells.

    It is 1 less the sum of their frequencies. Where the covariance is not kept the estimates count
    as uncorrelated, as they nearly are: different strings have independent hashes.

    Edge cases: NaN where a frequency is.
    """
    mass = 1 - float(found.frequency.sum())
    # Var(sum f) is the sum of all entries of the covariance.
    whole = found.variance.sum() if found.covariance is None else found.covariance.sum()
    error = _error(reading, max(0.0, float(whole)), mass, found.n)
    wide = half_width(level, np.inf) * error
    p_value = float(normal_sf(mass / error)) if error > 0 else float("nan")
    return Other(mass, error, (mass - wide, mass + wide), float("nan"), 0, p_value)


def _error(reading: Reading, noise: float, mass: float, n: int) -> float:
    """Return the standard error of a mass, with that of the sample if it is of the population."""
    if not n:
        return float(np.sqrt(noise))
    return float(np.sqrt(reading.variance(np.asarray(noise), np.asarray(mass), n)))


def _mass(part: Regression, shape: Shape) -> tuple[float, float]:
    """Return the mass outside one part's model, and its variance."""
    if not part.solved.identifiable[0]:
        return float("nan"), float("nan")
    intercept = np.zeros(1 + len(part.design))
    # The intercept estimates g d/k; times k/d it is g. The other way is 1 - sum f.
    intercept[0] = shape.bits / shape.distinct
    missing = np.append(0.0, np.full(len(part.design), -1.0))
    ways = np.array([intercept, missing])
    values = ways @ part.solved.solution + [0.0, 1.0]
    covariance = part.dispersion * ways @ part.solved.covariance @ ways.T
    weight = 1.0
    if part.solved.identifiable.all() and len(part.design):
        # Var(w a + (1 - w) b) is least at w = (V_b - C)/(V_a + V_b - 2 C).
        apart = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
        weight = (covariance[1, 1] - covariance[0, 1]) / apart if apart > 0 else 1.0
    weights = np.array([weight, 1 - weight])
    return float(weights @ values), float(weights @ covariance @ weights)
