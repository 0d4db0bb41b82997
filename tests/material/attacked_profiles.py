"""Profiles of people, some of them crafted who push a cell of a pair, for every mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.authoring import resolve
from deniable.crafted.raw_tables import Shift
from deniable.crafted.reports_of_cells import crafted_cells
from deniable.crafted.weighted_sums import most_among, weighted_shift
from deniable.mechanisms import Counts, ProfileMechanism, mechanism_of
from deniable.protocol import Attribute, Categories, Field, Profile, ProfileParameters

PEOPLE = 20_000
ANSWERS = (2, 2, 3)


@dataclass(frozen=True)
class Attack:
    """What a crowd with crafted reported, and what its honest people did.

    Attributes:
        mechanism: of the profile.
        seen: of all reports.
        honest: without the crafted ones.
        share: of crafted reports.
    """

    mechanism: ProfileMechanism
    seen: Counts
    honest: Counts
    share: float

    def shift(self, pair: tuple[int, ...]) -> Shift:
        parameters = self.mechanism.parameters
        return lambda weights: weighted_shift(parameters, pair, weights, self.share)

    def among(self, pair: tuple[int, ...]) -> float:
        return most_among(self.mechanism.parameters, pair, self.share)


def mechanism_for(
    name: str, answers: tuple[int, ...] = ANSWERS, order: int = 2
) -> ProfileMechanism:
    domains = [Categories(tuple(f"{i}" for i in range(count))) for count in answers]
    profile = Profile(tuple(Attribute(f"a{i}", domain) for i, domain in enumerate(domains)))
    parameters = resolve(name, {"epsilon": 2.0, "order": order}, profile, False)
    found = mechanism_of(Field("value", profile, parameters), False)
    assert isinstance(found, ProfileMechanism)
    assert isinstance(parameters, ProfileParameters)
    return found


def attack(
    name: str,
    share: float,
    pair: tuple[int, ...],
    rng: np.random.Generator,
    *,
    answers: tuple[int, ...] = ANSWERS,
    people: int = PEOPLE,
    order: int = 2,
) -> Attack:
    """Return people whose attributes go together; liars push the last cell of a table up."""
    mechanism = mechanism_for(name, answers, order)
    common = rng.random(people) < 0.5
    codes = np.stack(
        [
            np.minimum(rng.integers(0, count, people), count - 1 - (common * (count > 1)))
            for count in answers
        ],
        axis=1,
    )
    reports = mechanism.simulate(codes, rng)
    liars = round(share * people)
    cell = tuple(answers[i] - 1 for i in pair)
    fake = crafted_cells(mechanism.parameters, pair, cell, liars, rng)
    honest = reports[liars:].copy()
    reports[:liars] = mechanism.records(fake)
    return Attack(mechanism, mechanism.accumulate(reports), mechanism.accumulate(honest), share)
