"""The mechanisms that could carry a profile, those that `mechanism = "auto"` compares first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deniable.authoring import resolve
from deniable.authoring.auto import Choice
from deniable.authoring.auto_profile import profile_choices
from deniable.errors import InvalidParameter
from deniable.protocol import PROFILE_MECHANISMS, Profile

NOT_COMPARED = float("nan")
# How each of the papers' methods estimates tables is its own mathematics.
WORK = {
    "inp_rr": "2^d n + C(d,k) 2^d",
    "inp_ht": "n + C(d,k) k 2^k",
    "marg_rr": "2^k n + C(d,k) 2^k",
    "marg_ps": "n + C(d,k) 2^k",
    "marg_ht": "n + C(d,k) k 2^k",
    "inp_em": "d n + C(d,k) 4^k",
    "inp_olh": "n + seeds 2^d",
    "inp_ht_cms": "n + C(d,k) rows 2^d",
    "inp_ps": "n + 2^d + C(d,k) 2^k",
    "coefficients": "n + C(d,k) k 2^k",
    "views": "n + views * cells",
}
"""The work of counting and of all tables, for n reports about d yes/no attributes."""


def choices_of_profiles(
    profile: Profile, wanted: Mapping[str, object], only: str | None = None
) -> list[Choice]:
    """Return the mechanisms that fit a profile, or one of them.

    Guarantees: the first is the one that "auto" takes, unless `only` names another.

    Args:
        profile: the attributes.
        wanted: `epsilon`, `order` and `people`.
        only: try this one only, if "auto" does not compare it.

    Raises:
        InvalidParameter: if a parameter is out of range, or none fits.
    """
    compared = profile_choices(profile, wanted)
    known = {choice.mechanism for choice in compared}
    tried = [name for name in PROFILE_MECHANISMS if name not in known and only in (None, name)]
    return [*compared, *_others(tried, profile, wanted)]


def _others(names: list[str], profile: Profile, wanted: Mapping[str, object]) -> Iterator[Choice]:
    for name in names:
        try:
            parameters = resolve(name, wanted, profile, False)
        except InvalidParameter:
            continue  # too many cells, tables or bits
        yield Choice(parameters, NOT_COMPARED, WORK[name])


def cells_tested(answers: tuple[int, ...], order: int) -> int:
    """Return the number of cells of all tables of `order` attributes.

    The sum over all tables is the elementary symmetric polynomial of that order in the numbers of
    answers, which takes d times `order` steps instead of one per table.
    """
    sums = [1, *([0] * order)]
    for count in answers:
        for taken in range(order, 0, -1):
            sums[taken] += sums[taken - 1] * count
    return sums[order]
