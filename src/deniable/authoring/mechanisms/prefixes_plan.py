"""Choosing the levels of prefix growth, their sizes and cohorts, when a survey is published.

Each level needs people of its own, so that few levels with large steps are better, as long as the
collector can test every extension: a step is as long as `CANDIDATES` possible extensions of `BEAM`
kept beginnings allow, and the first level as long as `CANDIDATES` beginnings allow. Level sizes are
equal: a string must pass all levels, so that the smallest decides (docs/mathematics.md,
section 4).
"""

from __future__ import annotations

from typing import NamedTuple

from deniable.errors import InvalidParameter

BEAM = 1_000
"""Beginnings that are kept from level to level."""
CANDIDATES = 2_400_000
"""Beginnings that are tested at one level."""
FIRST_DIGITS = 20
"""Binary digits of the first level with a coding model: a million beginnings."""
STEP_DIGITS = 10
"""Binary digits that each further level adds."""
VERIFICATION = 1.5
"""The size of the verification group in levels: its test is stricter."""
PEOPLE = 1_000_000
"""The expected number of people where a survey does not say."""
POINTS = 8_192
"""The least number of points into which beginnings are hashed; the most is four times that."""
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
    """Return the most places whose combinations of choices are at most `candidates`; at least 1."""
    places = 1
    while choices ** (places + 1) <= candidates:
        places += 1
    return places


def groups_for(people: int, levels: int, verification: float | None = None) -> Groups:
    """Return the weights and cohorts of the groups.

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
    # A share s of the people is s/(1 - s) of all levels together, so L s/(1 - s) of one.
    ratio = VERIFICATION if verification is None else levels * verification / (1 - verification)
    weights = (*(LEVEL_WEIGHT for _ in range(levels)), max(1, round(LEVEL_WEIGHT * ratio)))
    smallest = people * min(weights) // sum(weights)
    return Groups(weights, max(1, min(MOST_COHORTS, smallest // PER_COHORT)))
