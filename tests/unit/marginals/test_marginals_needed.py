"""One table of many attributes is the one among all tables, from a tenth of the moments."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.marginals.smoothed import smooth, smoothed_tables
from deniable.mechanisms import ProfileMechanism, mechanism_for
from deniable.protocol import Attribute, Boolean, Profile

PROFILE = Profile(tuple(Attribute(f"a{place}", Boolean()) for place in range(18)))


@pytest.mark.parametrize("name", ["marg_ps", "coefficients", "views"])
def test_one_table_is_that_of_a_fit_to_all_its_moments(name: str, rng: np.random.Generator) -> None:
    mechanism = mechanism_for(resolve(name, {"epsilon": 2.0, "order": 3}, PROFILE, False))
    assert isinstance(mechanism, ProfileMechanism)
    people = rng.integers(2, size=(3_000, 18))
    people[:, 1] = people[:, 0]
    counts = mechanism.accumulate(mechanism.simulate(people, rng))
    wanted = [(0, 1, 2), (3, 5, 7)]
    needed = mechanism.moments(counts, needed=set(wanted))
    every = mechanism.moments(counts)
    pairs = 18 + comb(18, 2)
    assert len(needed.measured) == pairs + 2
    assert len(every.measured) == pairs + comb(18, 3)
    expected, _ = smooth(every, 3, wanted)
    found = smoothed_tables(mechanism, counts, subsets=wanted)
    for places in wanted:
        assert np.array_equal(found[places].probability, expected[places])
    for pair in combinations(range(18), 2):
        assert np.array_equal(needed.measured[pair].theta, every.measured[pair].theta)
