"""Imagined growth: what must be shown at a level is what real growth asks for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.discover import discover, simulated_counts
from deniable.discover.extensions import branches_of
from deniable.discover.prefixes.chance_of_finding import Group
from deniable.discover.prefixes.imagined_crowd import imagined_levels
from deniable.mechanisms import Prefixes
from deniable.protocol import Strings

LETTERS, BEAM, PEOPLE, SHARE = "abcdefgh", 100, 30_000, 0.04


def test_levels_ask_for_what_real_ones_do() -> None:
    """Half the letters of a thousand: the odds of the last beginning that is kept."""
    lengths = [3, 5, 7]
    domain = Strings(LETTERS, 7)
    mechanism = Prefixes(
        epsilon=2.0, alphabet=LETTERS, length=7, people=PEOPLE, lengths=tuple(lengths)
    )
    shape, branches = mechanism.parameters, branches_of(mechanism.parameters, domain)
    groups = [Group(PEOPLE * w / shape.total_weight, mechanism.pure) for w in shape.weights[:-1]]
    counts = [branches.count(level) for level in range(len(groups))]
    rng = np.random.default_rng(2)
    imagined, real = [], []
    for _ in range(6):
        levels = imagined_levels(groups, counts, SHARE, BEAM, rng)
        imagined.append([level.odds for level in levels])
        strings = sorted({"".join(rng.choice(list(LETTERS), size=7)) for _ in range(30)})[:25]
        held, _ = simulated_counts(mechanism, strings, np.full(25, SHARE), PEOPLE, rng)
        found = discover(mechanism, held, domain, beam=BEAM)
        real.append([level.kept[-1].odds for level in found.levels])
    assert np.mean(imagined, axis=0) == pytest.approx(np.mean(real, axis=0), abs=0.5)
    assert [level.extensions for level in levels] == counts


def test_where_all_are_kept_nothing_is_asked_for() -> None:
    group = Group(1_000.0, Prefixes(epsilon=1.0, alphabet="ab", length=4, people=1_000).pure)
    rng = np.random.default_rng(1)
    first, second = imagined_levels([group, group], [15, 7], 0.2, 50, rng)
    assert math.isinf(first.odds)
    assert math.isfinite(second.odds)
