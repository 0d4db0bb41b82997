"""What a plan of a profile predicts is what simulated crowds give: errors of cells within 5%.

ALPHA is the false-failure probability of each check. Control: a prediction 60% too small, or too
large, is rejected.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deniable.mechanisms import ProfileMechanism, mechanism_of
from deniable.plan import Setting, of_attributes
from deniable.plan.profiles.cells import cell_deviation
from deniable.protocol import PROFILE_MECHANISMS, Field, ProfileParameters
from deniable.testing.power import miss_spread
from deniable.testing.statistics import accept, reject, spread

ALPHA = 1e-10
WITHIN = 1.05**2 - 1
OFF = 1.6**2
RUNS = 400


@pytest.mark.parametrize("name", PROFILE_MECHANISMS)
def test_a_cell_of_two_attributes(name: str, rng: np.random.Generator) -> None:
    """Every record is held by as many people; a cell each of two tables that share nothing."""
    domain = of_attributes(4)
    choice = Setting(2_048, 1.5, domain).choice(name)
    assert choice is not None
    parameters = choice.parameters
    assert isinstance(parameters, ProfileParameters)
    mechanism = mechanism_of(Field("value", domain, parameters), False)
    assert isinstance(mechanism, ProfileMechanism)
    codes = np.tile(np.array(list(product(range(2), repeat=4))), (128, 1))
    found = []
    for _ in range(RUNS):
        counts = mechanism.accumulate(mechanism.simulate(codes, rng))
        found += [mechanism.marginal(counts, pair)[0][0, 0] - 0.25 for pair in ((0, 1), (2, 3))]
    variance = cell_deviation(parameters, len(codes), 0.25) ** 2
    accept(spread(found, variance, WITHIN), ALPHA)
    for wrong, ratio in (
        (variance / OFF, OFF / (1 + WITHIN)),
        (variance * OFF, 1 / (OFF * (1 - WITHIN))),
    ):
        miss = miss_spread(ratio, len(found), ALPHA)
        assert miss < 1e-9
        reject(spread(found, wrong, WITHIN), ALPHA, miss=miss)
