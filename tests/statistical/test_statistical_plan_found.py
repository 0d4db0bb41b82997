"""What a plan says of strings that nobody listed is what simulated crowds give.

ALPHA is the false-failure probability of each check; each has a control that is rejected.
"""

from __future__ import annotations

import numpy as np
import pytest

from deniable.discover.simulate import simulate
from deniable.mechanisms import Prefixes, mechanism_for
from deniable.plan import Setting, of_strings, predict
from deniable.plan.discovered import smallest_found
from deniable.protocol import MECHANISMS, PrefixesParameters
from deniable.testing.power import miss_spread
from deniable.testing.statistics import accept, proportion, reject, spread

ALPHA = 1e-10
WITHIN = 1.05**2 - 1
OFF = 1.5**2
NAMES = of_strings("abcdefgh", 8)
PEOPLE, RUNS, EACH = 40_000, 16, 12


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


def test_prefixes_find_a_string_of_the_smallest_share_every_second_time(
    rng: np.random.Generator,
) -> None:
    """The probability rises with the share s as Phi(6 ln(s / smallest)) or steeper, about.

    So 5% of the share are at most 0.14 of the probability; at one and a half times the share it is
    0.98 or more, and at two thirds 0.02 or less.
    """
    wanted = {"epsilon": 3.0, "people": PEOPLE, "lengths": [4, 6, 8]}
    parameters = MECHANISMS["prefixes"].resolve(wanted, NAMES, False)
    assert isinstance(parameters, PrefixesParameters)
    mechanism = mechanism_for(parameters)
    assert isinstance(mechanism, Prefixes)
    smallest = smallest_found(parameters, NAMES, PEOPLE)
    shares = smallest * np.repeat([1.0, 1.5, 2 / 3], [EACH, 3, 3])
    rest = 1_000
    law = np.concatenate([shares, np.full(rest, (1 - shares.sum()) / rest)])
    hits = np.zeros(len(shares))
    for _ in range(RUNS):
        names = some_names(rng, len(law))
        run = simulate(mechanism, NAMES, names, law, PEOPLE, rng)
        found = {row.value for row in run.discovery.found}
        hits += [name in found for name in names[: len(shares)]]
    often, trials = int(hits[:EACH].sum()), EACH * RUNS
    accept(proportion(often, trials, 0.5, 0.14), ALPHA)
    reject(proportion(int(hits[EACH : EACH + 3].sum()), 3 * RUNS, 0.5, 0.14), 1e-3, miss=1e-9)
    reject(proportion(int(hits[EACH + 3 :].sum()), 3 * RUNS, 0.5, 0.14), 1e-3, miss=1e-9)
