"""Choosing the levels of prefix growth, their sizes and cohorts, when a survey is published.

Each level needs people of its own, so that few levels with large steps are better, as long as the
collector can test every extension: a step is as long as `CANDIDATES` possible extensions of `BEAM`
kept beginnings allow, and the first level as long as so many beginnings allow. Level sizes are
equal: a string must pass all levels, so that the smallest decides (docs/mathematics.md,
section 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from deniable.errors import InvalidParameter
from deniable.protocol.coding_model import MAX_MODEL_BYTES
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import Parameters, Written

BEAM = 1_000
"""Beginnings that are kept from level to level."""
CANDIDATES = 2_400_000
"""Beginnings that are tested at one level."""
FIRST_DIGITS = 20
"""Binary digits of the first level with a coding model: a million beginnings."""
STEP_DIGITS = 10
"""Binary digits that each further level adds."""
VERIFICATION = 1.5
"""The verification group is so many times as large as a level: its test is stricter."""
PEOPLE = 1_000_000
"""How many people are expected where a survey does not say."""
POINTS = 8_192
"""Beginnings are hashed into at least so many points, and at most four times as many."""
MOST_COHORTS = 32
PER_COHORT = 1_000
"""People per cohort of a group below which a cohort, sent in clear, singles people out."""
LEVEL_WEIGHT = 100


class Groups(NamedTuple):
    """The sizes of the groups: integer weights, verification last, and cohorts in each."""

    weights: tuple[int, ...]
    cohorts: int


def lengths_for(letters: int, length: int, typical: int = 0) -> tuple[int, ...]:
    """Return the lengths of the levels.

    Args:
        letters: of the alphabet; with the end of the string each place has one possibility more.
        length: the most characters of a string.
        typical: with a coding model, the binary digits of nearly all codes; then the levels count
            digits. The last level comes near that number, and the model guesses the rest.
    """
    if typical:
        more = max(0, round((typical - FIRST_DIGITS) / STEP_DIGITS))
        return tuple(FIRST_DIGITS + STEP_DIGITS * level for level in range(more + 1))
    first = _characters(letters + 1, CANDIDATES)
    step = _characters(letters + 1, CANDIDATES // BEAM)
    return (*range(first, length, step), length)


def _characters(choices: int, candidates: int) -> int:
    """Return how many places of so many choices make at most so many candidates; at least 1."""
    places = 1
    while choices ** (places + 1) <= candidates:
        places += 1
    return places


def groups_for(people: int, levels: int, verification: float | None = None) -> Groups:
    """Return weights and cohorts for so many people.

    Args:
        people: in all groups.
        levels: their number.
        verification: the share of the people who report whole strings, instead of one and a half
            times a level's.

    Raises:
        InvalidParameter: if there are more groups than people.
    """
    if people < levels + 1:
        raise InvalidParameter(
            f"prefixes would divide {people:,} people into {levels + 1} groups: {levels} levels, "
            "and verification.",
            "Ask more people, shorten 'length', or give fewer 'lengths'.",
        )
    ratio = VERIFICATION if verification is None else levels * verification / (1 - verification)
    weights = (*(LEVEL_WEIGHT for _ in range(levels)), max(1, round(LEVEL_WEIGHT * ratio)))
    smallest = people * min(weights) // sum(weights)
    return Groups(weights, max(1, min(MOST_COHORTS, smallest // PER_COHORT)))


class Authored:
    """Stands where the mechanism stands while a survey is read: it knows people and folder.

    `resolve` returns the published integers; nothing of this is published.
    """

    def __init__(self, kind: type[Parameters], people: int | None, folder: Path) -> None:
        self._kind, self._people, self._folder = kind, people, folder

    @property
    def mechanism(self) -> str:
        """The mechanism's name."""
        return self._kind.mechanism

    @property
    def authored(self) -> Mapping[str, Written]:
        """What people may write."""
        return self._kind.authored

    def resolve(self, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Parameters:
        """Return the integers, for the survey's people and with the model's bytes."""
        known: dict[str, object] = {} if self._people is None else {"people": self._people}
        known |= wanted
        if "model" in known:
            known["model"] = _read_model(self._folder, known["model"])
        return self._kind.resolve(known, domain, absent)


def _read_model(folder: Path, name: object) -> bytes:
    try:
        with (folder / str(name)).open("rb") as file:
            return file.read(MAX_MODEL_BYTES + 1)
    except (OSError, ValueError):
        raise InvalidParameter(
            "There is no readable file of that name beside the survey for the 'model' of prefixes.",
            "Make it with deniable discover train LIST -o model.",
        ) from None
