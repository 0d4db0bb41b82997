"""Numbers in bins: coverage of the mean, of quantiles and of shares above."""

from __future__ import annotations

import numpy as np

from _honesty.grid import Cell, Measured, closed_shares, over_runs
from _honesty.shares import mechanism_of
from deniable.decode.number_noise import imagined_noise
from deniable.decode.numbers import Binned

BINS = 20
EDGES = np.arange(1.0, BINS)
MECHANISMS = ("krr", "oue", "subset", "rappor basic")
QUANTILES = (0.25, 0.5, 0.9)


def simulated(cell: Cell, runs: int) -> list[Measured]:
    """Return how often intervals hold the population's numbers; values lie low in their bins.

    Several epochs are those of the same people, whose answers stay.
    """
    mechanism = mechanism_of(cell.mechanism, cell.epsilon, cell.people)
    shares, rng = closed_shares(cell.population, BINS), cell.rng
    values = np.append(0.0, EDGES) + 0.1
    below = np.cumsum(shares)
    truth = {f"q{tau}": values[int(np.searchsorted(below, tau - 1e-12))] for tau in QUANTILES}
    mean = float(shares @ np.clip(values, EDGES[0], EDGES[-1]))
    held: dict[str, list[float]] = {"mean": [], "quantiles": [], "shares above": []}
    n = cell.people * cell.epochs
    nobody, everybody = (imagined_noise(mechanism, None, bin_, n)[1] for bin_ in (BINS - 1, 0))
    ends = nobody, everybody
    for _ in range(runs):
        codes = np.tile(rng.choice(BINS, cell.people, p=shares / shares.sum()), cell.epochs)
        found = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
        noise = np.diag(found.variance) if found.covariance is None else found.covariance
        bins = Binned(EDGES, found.frequency, noise, cell.epochs / n, ends=ends)
        told = bins.mean
        held["mean"].append(float(told.low <= mean <= told.high))
        each = [(bins.quantile(tau), truth[f"q{tau}"]) for tau in QUANTILES]
        held["quantiles"].append(float(np.mean([one.low <= x <= one.high for one, x in each])))
        low, high = bins.band
        inside = (low <= below[:-1] + 1e-9) & (below[:-1] - 1e-9 <= high)
        held["shares above"].append(float(np.mean(inside)))
    return [
        one
        for name, values_held in held.items()
        for one in over_runs(f"coverage of {name}", values_held)
    ]
