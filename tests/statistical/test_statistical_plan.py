"""What a plan predicts is what simulated crowds give: errors within 5%.

ALPHA is the false-failure probability of each check. Control: a prediction 50% too small, or too
large, is rejected.
"""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode import decode
from deniable.mechanisms import ORR, mechanism_for
from deniable.mechanisms.base import Floats
from deniable.mechanisms.candidates import every_code
from deniable.plan import Setting, of_categories, predict
from deniable.protocol import Strings
from deniable.testing.power import miss_spread
from deniable.testing.statistics import accept, reject, spread

ALPHA = 1e-10
WITHIN = 1.05**2 - 1
"""5% of an error is so much of its variance."""
OFF = 1.5**2
ANSWERS, PEOPLE, RUNS = 20, 1_000, 200
STRINGS, LISTED, ROUNDS = 20_000, 210, 4

CLOSED = ("krr", "pgr", "subset", "oue", "hadamard", "olh", "orr")
TWO_STAGES = ("krr", "oue", "rappor")
OPEN = [
    *((name, 1.0) for name in ("pgr", "rappor", "olh", "hcms", "orr")),
    ("rappor", 6.0),
    ("orr", 3.0),
    ("orr", 6.0),
]


def check(deviations: Floats, error: float) -> None:
    accept(spread(deviations, error**2, WITHIN), ALPHA)
    for wrong in (error**2 / OFF, error**2 * OFF):
        # The nearer end of the band is tested: the control is as far from it as this ratio says.
        ratio = OFF / (1 + WITHIN) if wrong < error**2 else 1 / (OFF * (1 - WITHIN))
        miss = miss_spread(ratio, deviations.size, ALPHA)
        assert miss < 1e-9
        reject(spread(deviations, wrong, WITHIN), ALPHA, miss=miss)


@pytest.mark.parametrize(
    ("name", "forever"),
    [*((name, None) for name in CLOSED), *((name, 3.0) for name in TWO_STAGES)],
)
def test_a_rare_answer_of_a_closed_domain(
    name: str, forever: float | None, rng: np.random.Generator
) -> None:
    setting = Setting(PEOPLE, 1.0, of_categories(ANSWERS), forever)
    choice = setting.choice(name)
    assert choice is not None
    mechanism = mechanism_for(choice.parameters)
    asked = every_code(ANSWERS, False) if mechanism.hashed else None
    codes = np.repeat([1, 2, 3], [PEOPLE // 2, PEOPLE // 4, PEOPLE // 4])
    # Four absent answers of a run are correlated by less than 0.1, their squares by less than 0.01.
    deviations = np.empty((RUNS, 4))
    for run in range(RUNS):
        counts = mechanism.accumulate(mechanism.simulate(codes, rng, asked))
        deviations[run] = mechanism.estimate(counts, asked).frequency[-4:]
    check(deviations.ravel(), predict(choice.parameters, setting).rare_error)


@pytest.mark.parametrize(("name", "epsilon"), OPEN)
def test_strings_that_nobody_holds(name: str, epsilon: float, rng: np.random.Generator) -> None:
    """Ten strings of a tenth each (their squares sum to 0.1, as assumed), 200 that nobody holds.

    New names in every round: each absent string is another draw of the hash functions.
    """
    setting = Setting(STRINGS, epsilon, Strings(), listed=LISTED)
    choice = setting.choice(name)
    assert choice is not None
    mechanism = mechanism_for(choice.parameters)
    codes = np.repeat(np.arange(10), STRINGS // 10)
    found = []
    for _ in range(ROUNDS):
        tag = rng.bytes(8).hex()
        listed = [f"{tag}/{i}" for i in range(LISTED)]
        counts = mechanism.accumulate(mechanism.simulate(codes, rng, listed))
        found.append(mechanism.estimate(counts, listed).frequency[10:])
    check(np.concatenate(found), predict(choice.parameters, setting).rare_error)


def test_strings_that_nobody_holds_on_a_list_that_orr_screens(rng: np.random.Generator) -> None:
    """As above, 200 of 1,990: 768 numbers tell so many apart only if most are left out."""
    mechanism, setting = ORR(epsilon=1.0), Setting(STRINGS, 1.0, Strings(), listed=2_000)
    codes = np.repeat(np.arange(10), STRINGS // 10)
    found = []
    for _ in range(ROUNDS):
        tag = rng.bytes(8).hex()
        listed = [f"{tag}/{i}" for i in range(setting.listed)]
        counts = mechanism.accumulate(mechanism.simulate(codes, rng, listed))
        found.append(decode(mechanism, counts, listed).frequency[10:LISTED])
    check(np.concatenate(found), predict(mechanism.parameters, setting).rare_error)
