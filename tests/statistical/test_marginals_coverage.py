"""The 95% intervals of raw tables of records cover the truth as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.marginals import raw_table
from deniable.mechanisms import PROFILE_MECHANISMS
from deniable.mechanisms.profile_base import unnamed_profile
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9
RUNS = 500
PEOPLE = 4_000
MISS = 1e-12
"""An interval of half its width covers about 67%: 500 runs tell it from 93% but for so much."""

METHODS = {
    "views": ((2, 2, 3, 2), {}),
    "views of pairs": ((2, 2, 2, 2), {"size": 2}),
    "coefficients": ((2, 3, 2, 2), {}),
    "coefficients of contrasts": ((2, 3, 2, 2), {"basis": "contrasts"}),
    "inp_ht": ((2, 2, 2, 2), {}),
    "inp_ps": ((2, 2, 2), {}),
    "inp_rr": ((2, 2, 2), {}),
    "marg_rr": ((2, 2, 2), {}),
    "marg_ps": ((2, 2, 3), {}),
    "marg_ht": ((2, 2, 2), {}),
    "inp_em": ((2, 2, 2), {}),
    "inp_olh": ((2, 2, 2), {"seeds": 1_024}),
}


@pytest.mark.parametrize("name", METHODS)
def test_intervals_cover(name: str, rng: np.random.Generator) -> None:
    """One cell of one table per run, so that the runs are independent."""
    answers, extra = METHODS[name]
    kind, profile = PROFILE_MECHANISMS[name.split(" ")[0]], unnamed_profile(answers)
    wanted: dict[str, object] = {"epsilon": 1.5, "order": 2, **extra}
    mechanism = kind.of(resolve(kind.parameters_type, wanted, profile, False), profile)
    codes = np.stack([rng.integers(0, count, size=PEOPLE) for count in answers], axis=1)
    codes[:, 1] = np.where(rng.random(PEOPLE) < 0.7, np.minimum(codes[:, 0], 1), codes[:, 1])
    covered = narrow = 0
    for _ in range(RUNS):
        first, second = rng.choice(len(answers), size=2, replace=False).tolist()
        counts = mechanism.accumulate(mechanism.simulate(codes, rng))
        table = raw_table(mechanism, counts, (first, second))
        place = tuple(int(rng.integers(0, size)) for size in table.probability.shape)
        true = np.mean((codes[:, first] == place[0]) & (codes[:, second] == place[1]))
        assert table.low is not None
        off, half = (
            abs(table.probability[place] - true),
            table.probability[place] - table.low[place],
        )
        covered += bool(off <= half)
        narrow += bool(off <= 0.5 * half)
    accept(proportion(covered, RUNS, 0.95, tolerance=0.02), ALPHA)
    reject(proportion(narrow, RUNS, 0.95, tolerance=0.02), ALPHA, miss=MISS)
