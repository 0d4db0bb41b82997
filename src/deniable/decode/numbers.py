"""Numbers from bins: mean, quantiles and shares above, each as far as the bins tell.

Model: bins with edges e_1 < ... < e_m, an open one below and an open one from e_m on. With shares
f and their covariance V, F(e_j) = f_0 + ... + f_(j-1) has the variance 1' V 1 over these bins.

- Quantile: the first x with F(x) >= tau. Up to an edge whose F is surely below tau it does not lie,
  nor beyond one whose F is surely above. Read from the outer edges inwards, each end is wrong only
  if the interval of one fixed F is: 2.5% each, whatever lies inside of a bin.
- Mean of the values cut to e_1..e_m: between sum f_i low_i and sum f_i high_i, and each end gets
  its own error.
- Share above x: 1 - F at an edge; inside of a bin, between those of its two edges.

The point estimates spread a bin evenly between its edges. Open bins have no inside: quantiles there
have no bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable import _validate
from deniable._distributions import normal_isf
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class Number:
    """A number that was learned.

    Attributes:
        name: what it is: "mean", "median", "quantile 0.9", "share above 16".
        estimate: the point estimate, of bins that are spread evenly; NaN if it lies in an open bin.
        low, high: the ends of the interval, whatever lies inside of bins; infinite if no bound.
        even: the ends of the interval if bins are spread evenly; NaN where that says nothing.
    """

    name: str
    estimate: float
    low: float
    high: float
    even: tuple[float, float]


@dataclass(frozen=True)
class Binned:
    """Shares of bins with the covariance of their noise, and the part of the sample.

    Attributes:
        edges: the edges, rising.
        shares: of the bins, one more than edges.
        noise: the covariance of the shares, given the people.
        sample: what one person's answer counts, 1 / n where nobody reported twice; the sample adds
            this times diag(f) - f f'. 0 where intervals are of the reporters.
        alpha: 1 less the level of intervals.
        ends: the noise if everybody were in the last bin, and if everybody were in the first one
            (`number_noise`); None takes the noise to be the same everywhere.
    """

    edges: Floats
    shares: Floats
    noise: Floats
    sample: float = 0.0
    alpha: float = 0.05
    ends: tuple[Floats, Floats] | None = None

    @property
    def last(self) -> int:
        """The code of the last bin."""
        return int(self.edges.size)

    @property
    def cumulative(self) -> tuple[Floats, Floats]:
        """The shares below each edge, and their standard errors."""
        below, noise = self._below
        held = np.clip(below, 0.0, 1.0)
        return below, np.sqrt(noise + self.sample * held * (1 - held))

    @property
    def _below(self) -> tuple[Floats, Floats]:
        """The shares below each edge, and the variance of their noise."""
        return np.cumsum(self.shares)[:-1], _below_edges(self.noise)

    @property
    def _noise_at_ends(self) -> tuple[Floats, Floats]:
        """The variance of the noise where nobody is below an edge, and how it grows with F."""
        if self.ends is None:
            return self._below[1], np.zeros(self.edges.size)
        nobody, everybody = (_below_edges(noise) for noise in self.ends)
        return nobody, everybody - nobody

    @property
    def band(self) -> tuple[Floats, Floats]:
        """The ends of the interval of each share below an edge, by itself, within 0 and 1.

        A score interval: every F with (F_hat - F)^2 <= z^2 (noise at F + c F (1 - F)), so that an
        edge below which nobody, or everybody, was seen has one too.
        """
        below, (noise, growth) = self._below[0], self._noise_at_ends
        z = float(normal_isf(self.alpha / 2)) ** 2
        lead, middle = 1 + z * self.sample, 2 * below + z * (self.sample + growth)
        # With noise a + g F: (1 + z c) F^2 - (2 F_hat + z (c + g)) F + F_hat^2 - z a = 0; no root
        # if F_hat is far off.
        inside = np.maximum(middle**2 - 4 * lead * (below**2 - z * noise), 0.0)
        ends = [(middle + side * np.sqrt(inside)) / (2 * lead) for side in (-1, 1)]
        return np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0)

    def quantile(self, tau: float, name: str = "") -> Number:
        """Return the quantile of a share, such as 0.5 for the median.

        Raises:
            InvalidParameter: unless the share lies between 0 and 1.
        """
        if not 0 < tau < 1:
            raise _validate.invalid("quantile", "a result", "between 0 and 1", tau)
        low, high = self.band
        # From the left while F is surely below tau; from the right while it is surely above.
        sure_below = int(np.argmin(np.append(high < tau, False)))
        sure_above = int(np.argmin(np.append((low > tau)[::-1], False)))
        ends = np.concatenate([[-math.inf], self.edges, [math.inf]])
        least, most = float(ends[sure_below]), float(ends[self.edges.size + 1 - sure_above])
        curve = self.cumulative[0]
        even = self._crossing(high, tau), self._crossing(low, tau)
        return Number(name or f"quantile {tau:g}", self._crossing(curve, tau), least, most, even)

    def _crossing(self, curve: Floats, tau: float) -> float:
        """Return where a curve through the edges first reaches tau; NaN in an open bin."""
        rising = np.maximum.accumulate(curve)
        place = int(np.searchsorted(rising, tau))
        if place in (0, rising.size):
            return float(self.edges[0]) if place == 0 and rising[0] == tau else math.nan
        before, after = float(rising[place - 1]), float(rising[place])
        part = (tau - before) / (after - before)
        return float(self.edges[place - 1] + part * (self.edges[place] - self.edges[place - 1]))

    @property
    def mean(self) -> Number:
        """The mean of the values cut to the range of the edges."""
        low = np.concatenate([self.edges[:1], self.edges])
        high = np.concatenate([self.edges, self.edges[-1:]])
        z = float(normal_isf(self.alpha / 2))
        ends = [self._weighted(weights) for weights in (low, high, (low + high) / 2)]
        (least, error_low), (most, error_high), (middle, error) = ends
        even = middle - z * error, middle + z * error
        return Number("mean", middle, least - z * error_low, most + z * error_high, even)

    def _weighted(self, weights: Floats) -> tuple[float, float]:
        # Four people spread over all bins: a few who agree by chance are not sure [AC98].
        added = 4 * self.sample
        held = (np.clip(self.shares, 0.0, 1.0) + added / self.shares.size) / (1 + added)
        held = held / held.sum()
        sample = self.sample * (held @ weights**2 - (held @ weights) ** 2)
        variance = max(0.0, float(weights @ self.noise @ weights + sample))
        return float(weights @ self.shares), math.sqrt(variance)

    def above(self, x: float) -> Number:
        """Return the share of values from x on.

        Raises:
            InvalidParameter: if x is no finite number.
        """
        if not math.isfinite(x):
            raise _validate.invalid("above", "a result", "a finite number", x)
        low, high = 1 - self.band[1], 1 - self.band[0]
        beyond = 1 - self.cumulative[0]
        name, place = f"share from {x:g} on", int(np.searchsorted(self.edges, x))
        if place < self.edges.size and self.edges[place] == x:
            ends = float(low[place]), float(high[place])
            return Number(name, float(beyond[place]), *ends, ends)
        # Inside of a bin: at least what lies beyond its upper edge, at most beyond its lower one.
        least = float(low[place]) if place < self.edges.size else 0.0
        most = float(high[place - 1]) if place else 1.0
        unknown = (math.nan, math.nan)
        if place in (0, self.edges.size):
            return Number(name, math.nan, least, most, unknown)
        part = (x - self.edges[place - 1]) / (self.edges[place] - self.edges[place - 1])
        told = [
            float((1 - part) * curve[place - 1] + part * curve[place])
            for curve in (beyond, low, high)
        ]
        return Number(name, told[0], least, most, (told[1], told[2]))


def _below_edges(noise: Floats) -> Floats:
    """Return 1' V 1 over the bins below each edge: sums of upper left corners."""
    corners = np.cumsum(np.cumsum(noise, axis=0), axis=1).diagonal()[:-1]
    return np.asarray(np.maximum(corners, 0.0))
