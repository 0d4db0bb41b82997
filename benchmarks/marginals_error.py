"""How far tables of two attributes are from the truth: designs and bases, raw and smoothed.

Mean total variation over all pairs; epsilon ln 3; made-up people with two causes behind all
attributes (a Gaussian copula).
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from _measure import arguments
from deniable.authoring import resolve
from deniable.marginals import smoothed_tables
from deniable.mechanisms import PROFILE_MECHANISMS, ProfileMechanism
from deniable.mechanisms.profile_base import unnamed_profile

DESIGNS: dict[str, tuple[str, dict[str, object]]] = {
    "inp_ht": ("inp_ht", {}),
    "marg_ps": ("marg_ps", {}),
    "coefficients, signs": ("coefficients", {}),
    "coefficients, contrasts": ("coefficients", {"basis": "contrasts"}),
    "views of pairs": ("views", {"size": 2}),
}
SHAPES = ((2,) * 8, (2,) * 16, (3,) * 8, (4,) * 8, (5,) * 8, (8,) * 6)


def made(name: str, answers: tuple[int, ...]) -> ProfileMechanism:
    """Return a design for attributes of these numbers of answers."""
    method, extra = DESIGNS[name]
    kind, record = PROFILE_MECHANISMS[method], unnamed_profile(answers)
    wanted: dict[str, object] = {"epsilon": math.log(3), "order": 2, **extra}
    return kind.of(resolve(kind.parameters_type, wanted, record, False), record)


def people(answers: tuple[int, ...], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return people of one population, whatever the run: its loadings and shares have a seed."""
    fixed = np.random.default_rng(5)
    loading = 0.8 * fixed.normal(size=(len(answers), 2))
    score = rng.normal(size=(n, 2)) @ loading.T + rng.normal(size=(n, len(answers)))
    score /= np.sqrt(1 + np.square(loading).sum(axis=1))
    columns = []
    for column, count in zip(score.T, answers, strict=True):
        cuts = stats.norm.ppf(np.cumsum(fixed.dirichlet(np.full(count, 3.0)))[:-1])
        columns.append(np.searchsorted(cuts, column))
    return np.stack(columns, axis=1).astype(np.int64)


def errors(answers: tuple[int, ...], n: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Return for each design the error of raw and of smoothed tables, in one run."""
    codes, found = people(answers, n, rng), []
    pairs = list(combinations(range(len(answers)), 2))
    true = {}
    for pair in pairs:
        shape = tuple(answers[i] for i in pair)
        places = np.ravel_multi_index(tuple(codes[:, pair].T), shape)
        true[pair] = np.bincount(places, minlength=math.prod(shape)).reshape(shape) / n
    for name in DESIGNS:
        mechanism = made(name, answers)
        counts = mechanism.accumulate(mechanism.simulate(codes, rng))
        smoothed = smoothed_tables(mechanism, counts)
        raw = [np.abs(mechanism.marginal(counts, pair)[0] - true[pair]).sum() for pair in pairs]
        ours = [np.abs(smoothed[pair].probability - true[pair]).sum() for pair in pairs]
        found.append((float(np.mean(raw)) / 2, float(np.mean(ours)) / 2))
    return found


def main() -> None:
    """Print a row per shape and design: raw, smoothed."""
    options = arguments(__doc__, people=(2**18, "people"), runs=(4, "runs of each"))
    rng = np.random.default_rng(1)
    for answers in SHAPES:
        runs = np.array([errors(answers, options.people, rng) for _ in range(options.runs)])
        print(f"{len(answers)} attributes of {answers[0]} answers: raw, smoothed")
        for name, (raw, smoothed) in zip(DESIGNS, runs.mean(axis=0), strict=True):
            print(f"  {name:24} {raw:.4f} {smoothed:.4f}")


if __name__ == "__main__":
    main()
