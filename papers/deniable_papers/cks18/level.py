"""The level of the noise-aware test: how often it rejects attributes that are independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from deniable.authoring import authoring_of
from deniable.authoring.auto_profile import AUTHORING
from deniable.errors import InvalidParameter
from deniable.marginals.pairs import independence
from deniable.marginals.raw import raw_table
from deniable.mechanisms import ProfileMechanism, mechanism_for
from deniable.protocol import Attribute, Categories, Profile
from deniable_papers.cks18.methods import OURS, every_report
from deniable_papers.common.scoring import mean

# Mechanism, levels of the attributes, share of each attribute's first level, epsilon, people.
SETTINGS: tuple[tuple[str, tuple[int, ...], float, float, int], ...] = (
    (OURS, (2, 2, 2, 2), 0.5, 1.1, 2**14),
    (OURS, (2,) * 8, 0.5, 1.1, 2**18),
    (OURS, (2,) * 8, 0.95, 1.1, 2**18),
    (OURS, (2,) * 8, 0.8, 0.4, 2**18),
    (OURS, (2,) * 8, 0.8, 3.0, 2**16),
    (OURS, (3, 4, 2), 0.5, 2.0, 2**16),
    (OURS, (3, 3, 3, 3), 0.6, 1.1, 2**18),
    ("inp_ht", (2,) * 8, 0.8, 1.1, 2**18),
    ("marg_ps", (2,) * 8, 0.8, 1.1, 2**18),
    ("inp_ps", (2,) * 6, 0.8, 2.0, 2**18),
)
LEVEL = 0.05


def shares_of(levels: int, first: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the shares of an attribute's levels: the first as given, the others equal."""
    return np.array([first] + [(1 - first) / (levels - 1)] * (levels - 1))


def rejections(runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return the share of runs in which independent attributes are rejected at 5%, by setting.

    One pair of attributes is tested in each run. Reports are drawn as counts: given independent
    people a report is one of a few symbols with known probabilities.
    """
    found: dict[str, Any] = {}
    rates = []
    for name, levels, first, epsilon, people in SETTINGS:
        rate = _rate(_mechanism(name, levels, epsilon, people), first, people, runs, rng)
        text = "x".join(map(str, levels))
        found[f"{name}, levels {text}, share {first:g}, epsilon {epsilon:g}, n={people}"] = rate
        rates.append(rate)
    return {"pooled": mean(rates), "settings": found, "runs": runs}


def _mechanism(name: str, levels: Sequence[int], epsilon: float, people: int) -> ProfileMechanism:
    profile = Profile(
        tuple(
            Attribute(f"a{i}", Categories(tuple(str(j) for j in range(count))))
            for i, count in enumerate(levels)
        )
    )
    authoring = AUTHORING if name == OURS else authoring_of(name)
    wanted = {"epsilon": epsilon, "order": 2, "people": people}
    parameters = authoring.resolve(wanted, profile, False)
    return cast(ProfileMechanism, mechanism_for(parameters))


def _rate(
    mechanism: ProfileMechanism, first: float, people: int, runs: int, rng: np.random.Generator
) -> float:
    joint = np.ones(1)
    for count in mechanism.answers:
        joint = np.outer(joint, shares_of(count, first)).ravel()
    reports = every_report(mechanism)
    if reports is None:
        raise InvalidParameter("Reports of this mechanism are too many to be listed.")
    chance = mechanism.likelihood(reports) @ joint
    rejected = 0
    for counts in rng.multinomial(people, chance / chance.sum(), size=runs):
        table = raw_table(mechanism, mechanism.accumulate(np.repeat(reports, counts)), (0, 1))
        rejected += independence(table).p_value < LEVEL
    return rejected / runs
