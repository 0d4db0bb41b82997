"""Plans inverted: the number of people, or the epsilon, that a wanted error needs.

The wanted error is half the width of the 95% interval of a share of 1%, as `Prediction.margin`.
"""

from __future__ import annotations

from collections.abc import Callable

from deniable import _validate
from deniable.plan.collection import MOST_PEOPLE, Setting
from deniable.plan.prediction import margin_of

LARGEST = 16_000
"""The largest epsilon considered, in thousandths: nobody should plan for more."""
ONE_OF_THEM = 100
"""The fewest people of whom 1% is a person: of fewer reporters there is no such share to know."""


def people_needed(setting: Setting, mechanism: str, error: float) -> int | None:
    """Return the fewest people for an error at the setting's epsilon; its own number is ignored.

    Guarantees: the number returned reaches the error, and one person less does not.

    Edge cases: of the reporters it is 100 at least, of whom 1% is one. None where no number of
    people reaches it, since the error of collisions does not fall with n, or where the mechanism
    has no form.

    Raises:
        InvalidParameter: unless the error is a number above 0.

    Example:
        >>> from deniable.plan import of_categories
        >>> people_needed(Setting(people=1, epsilon=1.0, domain=of_categories(10)), "krr", 0.01)
        141624
    """
    error = _validate.positive("error", "plan", error)

    def reached(people: int) -> bool:
        if setting.of == "reporters" and people < ONE_OF_THEM:
            return False
        asked = setting.with_people(people)
        choice = asked.choice(mechanism)
        return choice is not None and margin_of(choice, asked) <= error

    return first_reached(reached, MOST_PEOPLE)


def epsilon_needed(setting: Setting, mechanism: str, error: float) -> float | None:
    """Return the smallest epsilon, in thousandths, for an error with the setting's people.

    Edge cases: None where none up to 16 (or up to the epsilon for ever) is enough.

    Raises:
        InvalidParameter: unless the error is a number above 0.

    Example:
        >>> from deniable.plan import of_categories
        >>> setting = Setting(people=50_000, epsilon=1.0, domain=of_categories(10))
        >>> epsilon_needed(setting, "krr", 0.01)
        1.409
    """
    error = _validate.positive("error", "plan", error)
    most = LARGEST
    if setting.forever is not None:
        most = min(most, int(setting.forever * 1_000) - 1)

    def reached(thousandths: int) -> bool:
        asked = setting.with_epsilon(thousandths / 1_000)
        choice = asked.choice(mechanism)
        return choice is not None and margin_of(choice, asked) <= error

    found = first_reached(reached, most) if most >= 1 else None
    return None if found is None else found / 1_000


def first_reached(reached: Callable[[int], bool], most: int) -> int | None:
    """Return the first number from 1 to `most` for which `reached` is true; None if none is.

    `reached` must stay true for all larger numbers: a galloping search, then bisection.
    """
    high = 1
    while not reached(high):
        if high == most:
            return None
        high = min(most, high * 4)
    low = high // 4
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high
