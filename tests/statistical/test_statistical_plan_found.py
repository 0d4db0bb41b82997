"""What a plan says of strings that nobody listed is what simulated crowds give.

ALPHA is the false-failure probability of each check; each has a control that is rejected.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.discover import train
from deniable.discover.prefixes.simulate import simulate
from deniable.mechanisms import Prefixes, mechanism_for
from deniable.plan import Setting, of_strings, predict
from deniable.plan.unlisted_strings import smallest_found
from deniable.protocol import PrefixesParameters
from deniable.testing.power import miss_spread
from deniable.testing.statistics import Check, accept, mean, proportion, reject, spread

ALPHA = 1e-10
WITHIN = 1.05**2 - 1
OFF = 1.5**2
NAMES = of_strings("abcdefgh", 8)
PEOPLE, RUNS, RARE = 40_000, 6, 500
TOLERANCE = 0.08


@pytest.mark.parametrize(("name", "epsilon"), [("prefixes", 2.0), ("ngrams", 6.0)])
def test_whole_strings_that_nobody_holds(
    name: str, epsilon: float, rng: np.random.Generator
) -> None:
    """Ten strings of a tenth each, 100 that nobody holds; new names in every round."""
    setting = Setting(20_000, epsilon, NAMES, listed=110)
    choice = setting.choice(name)
    assert choice is not None
    mechanism = mechanism_for(choice.parameters)
    codes = np.repeat(np.arange(10), setting.people // 10)
    found = []
    for _ in range(8):
        listed = some_names(rng, 110)
        counts = mechanism.accumulate(mechanism.simulate(codes, rng, listed))
        found.append(mechanism.estimate(counts, listed).frequency[10:])
    deviations = np.concatenate(found)
    error = predict(choice.parameters, setting).rare_error
    accept(spread(deviations, error**2, WITHIN), ALPHA)
    for wrong, ratio in ((1 / OFF, OFF / (1 + WITHIN)), (OFF, 1 / (OFF * (1 - WITHIN)))):
        miss = miss_spread(ratio, deviations.size, ALPHA)
        assert miss < 1e-9
        reject(spread(deviations, wrong * error**2, WITHIN), ALPHA, miss=miss)


def some_names(rng: np.random.Generator, count: int) -> list[str]:
    """Return different strings of full length."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(list(NAMES.letters), size=NAMES.length))] = None
    return list(found)


def near(learnable: float, share: float, runs: int) -> Check:
    """Tell whether what discoveries call learnable is within 5% of a share, on average.

    That of one discovery has a standard deviation of 2%, at most 3% of the share.
    """
    allowed = min(max(learnable, 0.95 * share), 1.05 * share)
    return mean(learnable, allowed, 0.03 * share / math.sqrt(runs))


def refuse(check: Check, alpha: float) -> None:
    """Reject what is about 12 standard errors off."""
    reject(check, alpha, miss=1e-9)


def made_up(rng: np.random.Generator, count: int) -> list[str]:
    """Return different strings of four syllables out of sixteen, as a model can learn them."""
    syllables = [one + other for one in "bcdf" for other in "aegh"]
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(syllables, size=4))] = None
    return list(found)


@pytest.mark.parametrize("way", ["few levels", "many noisy levels", "coded"])
def test_half_of_the_strings_of_the_smallest_share_are_found(
    way: str, rng: np.random.Generator
) -> None:
    """Crowds of 1 / s strings of share s, which a discovery also calls the learnable share.

    The chance rises with the share s as Phi(4 ln(s / smallest)) or steeper, about: 5% of the share
    are 0.08 of the chance, and at twice or half the share it is 0.99 or 0.01.
    """
    wanted: dict[str, object] = {"epsilon": 3.0, "people": PEOPLE, "lengths": [4, 6, 8]}
    names = some_names
    if way == "many noisy levels":
        wanted |= {"epsilon": 1.5, "lengths": [4, 5, 6, 7, 8]}
    if way == "coded":
        model = train(made_up(rng, 500), NAMES).to_bytes()
        wanted |= {"lengths": [11, 14, 17, 20], "model": model}
        names = made_up
    parameters = resolve("prefixes", wanted, NAMES, False)
    assert isinstance(parameters, PrefixesParameters)
    mechanism = Prefixes.from_parameters(parameters)
    smallest = smallest_found(parameters, NAMES, PEOPLE)
    for factor, runs in ((1.0, RUNS), (2.0, 5), (0.5, 2)):
        count = int(1 / (factor * smallest))
        law = np.repeat([factor * smallest, 1 - count * factor * smallest], [count, RARE])
        law[count:] /= RARE
        hits, limits = 0, []
        for _ in range(runs):
            strings = names(rng, len(law))
            run = simulate(mechanism, NAMES, strings, law, PEOPLE, rng)
            hits += len({row.value for row in run.discovery.found} & set(strings[:count]))
            limits.append(run.discovery.learnable)
        check = proportion(hits, runs * count, 0.5, TOLERANCE)
        if factor == 1.0:
            accept(check, ALPHA)
            for wanted_share, judge in ((smallest, accept), (1.25 * smallest, refuse)):
                judge(near(float(np.mean(limits)), wanted_share, runs), ALPHA)
        else:
            reject(check, 1e-3, miss=1e-9)
