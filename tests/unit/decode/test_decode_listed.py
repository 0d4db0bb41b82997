"""Strings by mechanisms that know answers by their hashes: the default decoder on a list."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode import decode
from deniable.decode.simplex import project, project_at_most
from deniable.mechanisms import HCMS, OLH, ORR, PGR, Mechanism

LISTED = [f"word{i}" for i in range(8)]
SHARES = np.array([0.3, 0.2, 0.1, 0.05, 0.05, 0.0, 0.0, 0.0])
UNLISTED = [f"other{i}" for i in range(40)]
PEOPLE = 60_000
MECHANISMS: list[Mechanism] = [
    OLH(epsilon=2.0, seeds=4096),
    ORR(epsilon=2.0, symbols=16, cohorts=32),
    PGR(epsilon=2.0, cohorts=32),
    HCMS(epsilon=2.0),
]


def counts_of(mechanism, strings, shares, rng):
    codes = rng.choice(len(strings), PEOPLE, p=shares)
    return mechanism.accumulate(mechanism.simulate(codes, rng, strings))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_strings_outside_the_list_are_weighed_and_warned_of(mechanism, rng):
    strings = LISTED + UNLISTED
    shares = np.append(SHARES, np.full(40, 0.3 / 40))
    found = decode(mechanism, counts_of(mechanism, strings, shares, rng), LISTED)
    assert found.method == "listed"
    assert found.other is not None
    # 7 standard errors: below 1e-11 under a fresh seed
    assert abs(found.other.frequency - 0.3) < 7 * found.other.std_error + 0.01
    assert found.other.suspected
    assert any("do not add up to everybody" in note for note in found.notes)
    assert np.all(np.abs(found.frequency - SHARES) < 7 * found.std_error + 0.01)
    assert found.holm[:3].all()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_a_complete_list_leaves_nothing_over(mechanism, rng):
    shares = SHARES / SHARES.sum()
    found = decode(mechanism, counts_of(mechanism, LISTED, shares, rng), LISTED)
    assert found.other is not None
    assert abs(found.other.frequency) < 7 * found.other.std_error + 0.01
    assert found.likely.min() >= 0
    assert found.likely.sum() <= 1 + 1e-9
    assert np.all(np.abs(found.likely - shares) < 7 * found.std_error + 0.02)


def test_shares_that_fit_are_only_clipped_and_others_projected():
    assert project_at_most(np.array([0.5, -0.1, 0.2])).tolist() == [0.5, 0.0, 0.2]
    too_much = np.array([0.9, 0.4, -0.1])
    assert np.allclose(project_at_most(too_much), project(too_much))
    known = project_at_most(np.array([0.9, np.nan, 0.4]))
    assert np.isnan(known[1])
    assert known[[0, 2]].sum() == pytest.approx(1)
