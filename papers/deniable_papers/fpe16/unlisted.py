"""How much strings that nobody listed bias the cells of those that were listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.mechanisms.base import Floats
from deniable_papers.common.scoring import mean
from deniable_papers.fpe16.strings import client, crowd, fitted
from deniable_papers.fpe16.tables import collapsed, declining

LISTED, UNLISTED_STRINGS = 5, 95
UNLISTED = 0.20


def shares() -> Floats:
    """Return the shares of five listed strings, 80% together, and of 95 that nobody listed."""
    listed, rest = declining(LISTED), declining(UNLISTED_STRINGS, 0.95)
    return np.concatenate([(1 - UNLISTED) * listed, UNLISTED * rest])


def unlisted(
    epsilon: float, people: int, generators: Sequence[np.random.Generator]
) -> dict[str, Any]:
    """Measure the bias of the 25 cells of listed strings, one run per generator.

    Model: with estimate e_r, truth t and standard error s_r in run r, z_r = (e_r - t) / s_r is
    standard normal where nothing is biased, and its mean over R runs has the noise 1 / sqrt(R) in
    each cell. `bias` is the root mean square over the cells of the mean of z, with that noise
    taken off.
    """
    marginal = shares()
    law = np.outer(marginal, marginal)
    places = list(range(LISTED))
    truth = collapsed(law, places, places)
    scores, inside, others = [], [], []
    for rng in generators:
        joint = fitted(crowd(law, client(epsilon), people, rng), places, places, other=True)
        scores.append(((joint.probability - truth) / joint.std_error)[:-1, :-1])
        inside.append(((joint.low <= truth) & (truth <= joint.high))[:-1, :-1])
        others.append(joint.probability[-1].sum())
    z = np.array(scores)
    average, noise = z.mean(axis=0), z.var(axis=0, ddof=1) / len(z)
    squared = float(np.square(average).mean() - noise.mean())
    return {
        "runs": len(z),
        "bias": mean([np.sqrt(max(0.0, squared))]),
        "mean_bias": mean([average.mean()]),
        "mean_bias_noise": mean([np.std(z.mean(axis=(1, 2)), ddof=1) / np.sqrt(len(z))]),
        "largest_cell": mean([np.abs(average).max()]),
        "noise_of_a_cell": mean([np.sqrt(noise.mean())]),
        "coverage": mean([float(np.mean(inside))]),
        "other_true": mean([UNLISTED]),
        "other_estimated": mean(others),
    }
