"""The noise-aware test on real mechanisms' tables: its level, and that the plain one has none."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.marginals.independence import plain_chi_square
from deniable.marginals.pairs import independence
from deniable.marginals.raw import raw_table
from deniable.mechanisms import ProfileMechanism, mechanism_of
from deniable.protocol import Attribute, Boolean, Categories, Field, Profile
from deniable.testing.statistics import accept, proportion, reject

RUNS = 1_000
PEOPLE = 8_000
RECORD = Profile(
    (
        Attribute("a", Boolean()),
        Attribute("b", Categories(("x", "y", "z"))),
        Attribute("c", Boolean()),
    )
)


def mechanism_named(name: str) -> ProfileMechanism:
    parameters = resolve(name, {"epsilon": 2.0, "order": 2}, RECORD, False)
    found = mechanism_of(Field("value", RECORD, parameters), absent=False)
    assert isinstance(found, ProfileMechanism)
    return found


def rejections(mechanism: ProfileMechanism, rng: np.random.Generator) -> tuple[int, int]:
    """Return how often independent attributes are rejected at 5%: with the noise, and without."""
    aware = plain = 0
    for _ in range(RUNS):
        codes = np.column_stack(
            [
                rng.random(PEOPLE) < 0.3,
                rng.choice(3, PEOPLE, p=[0.5, 0.3, 0.2]),
                rng.random(PEOPLE) < 0.5,
            ]
        ).astype(np.int64)
        table = raw_table(mechanism, mechanism.accumulate(mechanism.simulate(codes, rng)), (0, 1))
        aware += independence(table).p_value < 0.05
        plain += plain_chi_square(table.probability, PEOPLE).p_value < 0.05
    return aware, plain


@pytest.mark.parametrize("name", ["coefficients", "views", "marg_ps"])
def test_the_level_is_the_stated_one(name: str) -> None:
    aware, plain = rejections(mechanism_named(name), np.random.default_rng(11))
    # The chi-square limit holds for many reports: two points are allowed around 5%.
    accept(proportion(aware, RUNS, 0.05, tolerance=0.02))
    reject(proportion(plain, RUNS, 0.05, tolerance=0.02), miss=1e-12)
