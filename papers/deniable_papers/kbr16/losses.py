"""l1 losses of O-RR and O-RAPPOR with given or searched k, C and h."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from deniable.mechanisms.base import Floats
from deniable_papers.kbr16.cohorts import (
    Cohorts,
    hashed,
    linear,
    orappor_shares,
    orr_shares,
    permuted,
)
from deniable_papers.kbr16.grid_search import Choice, Setting
from deniable_papers.kbr16.least_squares import decoded, largest_eigenvalue
from deniable_papers.kbr16.shapes import geometric

PILOT_RUNS = 4
THREADS = 2
"""Runs at the same time; each has its own generator, so that the outcome is the same."""


@dataclass(frozen=True)
class Measured:
    """The losses of one mechanism at one epsilon.

    Attributes:
        choice: k, C and h.
        projected: a loss per run of the paper's decoder, least squares and then projection.
        simplex: of least squares on the simplex.
    """

    choice: Choice
    projected: Floats
    simplex: Floats


def measure(
    setting: Setting,
    mechanism: str,
    choice: Choice,
    epsilons: Sequence[float],
    generators: Sequence[np.random.Generator],
) -> dict[float, Measured]:
    """Return the losses against the sample's frequencies: new people and hashes in every run."""

    def one_run(rng: np.random.Generator) -> Floats:
        table = np.empty((len(epsilons), 2))
        totals = np.asarray(
            rng.multinomial(setting.people, geometric(setting.answers)), dtype=np.int64
        )
        truth = totals / setting.people
        cohorts = _cohorts(setting, choice, rng)
        held, people = cohorts.held(totals, rng)
        scale = largest_eigenvalue(cohorts)
        for i, epsilon in enumerate(epsilons):
            if mechanism == "orr":
                shares = orr_shares(held, epsilon, rng)
            else:
                shares = orappor_shares(held, people, epsilon, rng, choice.hashes)
            found = decoded(cohorts, shares, scale)
            table[i] = [np.abs(one - truth).sum() for one in (found.projected, found.simplex)]
        return table

    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        losses = np.array(list(pool.map(one_run, generators)))
    return {
        epsilon: Measured(choice, losses[:, i, 0], losses[:, i, 1])
        for i, epsilon in enumerate(epsilons)
    }


def _cohorts(setting: Setting, choice: Choice, rng: np.random.Generator) -> Cohorts:
    if choice.linear:
        return linear(setting.answers, choice.size, rng)
    made = permuted if setting.closed else hashed
    return made(setting.answers, choice.count, choice.size, rng, choice.hashes)


def searched(
    setting: Setting,
    mechanism: str,
    choices: Mapping[float, Sequence[Choice]],
    seeds: np.random.SeedSequence,
    step: Callable[[], None],
) -> dict[float, Choice]:
    """Return for each epsilon the choice with the least mean loss over a few runs.

    The runs that choose are not the runs that are reported: the least of many noisy losses is too
    small.
    """
    every = list(dict.fromkeys(choice for some in choices.values() for choice in some))
    best: dict[float, tuple[float, Choice]] = {}
    for choice, seed in zip(every, seeds.spawn(len(every)), strict=True):
        generators = [np.random.default_rng(child) for child in seed.spawn(PILOT_RUNS)]
        wanted = [epsilon for epsilon, some in choices.items() if choice in some]
        for epsilon, found in measure(setting, mechanism, choice, wanted, generators).items():
            loss = float(found.simplex.mean())
            if epsilon not in best or loss < best[epsilon][0]:
                best[epsilon] = (loss, choice)
        step()
    return {epsilon: best[epsilon][1] for epsilon in choices}


def measured(
    setting: Setting,
    mechanism: str,
    chosen: Mapping[float, Choice],
    runs: int,
    seeds: np.random.SeedSequence,
    step: Callable[[], None],
) -> dict[float, Measured]:
    """Return the losses at every epsilon with its choice."""
    found: dict[float, Measured] = {}
    for choice in dict.fromkeys(chosen.values()):
        generators = [np.random.default_rng(child) for child in seeds.spawn(runs)]
        wanted = [epsilon for epsilon, one in chosen.items() if one == choice]
        found |= measure(setting, mechanism, choice, wanted, generators)
        for _ in wanted:
            step()
    return {epsilon: found[epsilon] for epsilon in chosen}
