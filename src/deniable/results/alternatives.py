"""A question's mechanism beside its alternatives, at the same epsilon: why this one."""

from __future__ import annotations

import math

from deniable.authoring.auto import Choice, choices, noise_of, work_of
from deniable.authoring.auto_profile import profile_choices, profile_noise
from deniable.authoring.profile_noise import PEOPLE
from deniable.errors import InvalidParameter
from deniable.protocol import (
    Field,
    Profile,
    ProfileParameters,
    Question,
    RapporParameters,
    Sets,
    StringSets,
    ViewsParameters,
)
from deniable.protocol.epsilon import as_float
from deniable.protocol.parameters import answers_of
from deniable.protocol.question import PLAIN_FIELD

_SHOWN = 4
"""The number of alternatives that are put into words; `--json` has all."""


def alternatives(
    question: Question, field: Field, people: int | None = None, listed: int = 0
) -> list[Choice]:
    """Return the mechanisms that `mechanism = "auto"` compares for this field, the best first.

    `listed` is the number of strings in the field's candidate file, 0 if there is none. The field's
    own mechanism stands among them with its own numbers, whatever it was chosen by.

    Edge cases: none for epsilons that "auto" does not take (a permanent response that costs no
    more than one report of it, or an epsilon above 32), for sets with a bit per name, and
    for strings that are found, not listed.
    """
    own = field.parameters
    # "auto" compares other mechanisms for profiles, by another measure.
    if isinstance(own, ProfileParameters):
        return _profile_choices(field, own, people)
    wanted: dict[str, object] = {"epsilon": as_float(own.epsilon_once)}
    if own.memoised:
        wanted["epsilon_forever"] = as_float(own.epsilon_forever or 0)
    if own.per_member or own.finds:
        return []
    try:
        found = choices(field.domain, question.absent, wanted, people, listed)
    except InvalidParameter:
        return []
    answers = answers_of(field.domain, question.absent) or 0
    mine = Choice(own, noise_of(own, answers, people, listed), work_of(own))
    return [mine if choice.mechanism == own.mechanism else choice for choice in found] + (
        [] if any(choice.mechanism == own.mechanism for choice in found) else [mine]
    )


def _profile_choices(field: Field, own: ProfileParameters, people: int | None) -> list[Choice]:
    """Return the mechanisms that "auto" compares for a profile, with the field's own among them.

    A mechanism with other integers than "auto" would give it, such as views of another size, stands
    beside that one.
    """
    wanted = {"epsilon": as_float(own.epsilon_once), "order": own.order}
    try:
        found = profile_choices(field.domain, {**wanted, "people": people or PEOPLE})
    except InvalidParameter:
        return []
    if any(choice.parameters == own for choice in found):
        return found
    same = [choice for choice in found if choice.mechanism == own.mechanism]
    noise = profile_noise(own, own.epsilon_once) if same else math.nan
    return [*found, Choice(own, noise, same[0].work if same else "")]


def why(field: Field, found: list[Choice], listed: int = 0, people: int | None = None) -> str:
    """Return the comparison in words; nothing where there is nothing to compare."""
    if len(found) < 2:
        return ""
    mine = next(c for c in found if c.parameters == field.parameters)
    name = "" if field.name == PLAIN_FIELD else f" of {field.name}"
    others = [choice for choice in found if choice is not mine]
    shown = ", ".join(
        f"{_named(c)} {c.noise:.3g} ({c.size:,} bytes, work {c.work})" for c in others[:_SHOWN]
    )
    if math.isnan(mine.noise):
        return (
            f"The mechanism{name} is {_called(field)}, {mine.size:,} bytes a report, for which "
            f'there is no closed form. "auto" would choose {_named(found[0])}'
            f"{_expected(found[0], people)}. By n times the variance of {_about(field, listed)}: "
            f"{shown}."
        )
    return (
        f"The mechanism{name} is {_called(field)}, {_verdict(found[0], mine, people)}: n reports "
        f"give the share of {_about(field, listed)} with variance {mine.noise:.3g} / n, "
        f"{mine.size:,} bytes each, and work {mine.work}. At the same epsilon: {shown}."
    )


def chosen_words(field: Field, found: list[Choice], people: int | None = None) -> str:
    """Return in plain words which mechanism runs; nothing where there is nothing to compare."""
    mine = next((c for c in found if c.parameters == field.parameters), None)
    if len(found) < 2 or mine is None or math.isnan(mine.noise):
        return ""
    name = "" if field.name == PLAIN_FIELD else f" of {field.name}"
    return f"The mechanism{name} is {_called(field)}, {_verdict(found[0], mine, people)}."


def _verdict(best: Choice, mine: Choice, people: int | None) -> str:
    if _of_profile(best):
        reason = f"the least error of smoothed tables{_expected(best, people)}"
        if best is mine:
            return f'what "auto" chooses ({reason})'
        return f'where "auto" would choose {_named(best)}, for {reason}'
    if best is mine:
        return 'what "auto" chooses (the shortest or simplest within 5% of the least variance)'
    if best.noise < mine.noise:
        less = f"{100 * (1 - best.noise / mine.noise):.1f}% less variance"
        return f'where "auto" would choose {best.mechanism}, for {less}'
    return f'where "auto" would choose {best.mechanism}, as good and simpler or shorter'


def _expected(choice: Choice, people: int | None) -> str:
    """Return for how many people a profile's mechanism is chosen; empty for other domains."""
    if not _of_profile(choice):
        return ""
    if people:
        return f" with {people:,} people"
    return f" with {PEOPLE:,} people, the default where a survey does not say"


def _of_profile(choice: Choice) -> bool:
    # Mechanisms of profiles are compared by the error of smoothed tables.
    return isinstance(choice.parameters, ProfileParameters)


def _named(choice: Choice) -> str:
    """Return the name of a mechanism; `views` with their size, which tells two of them apart."""
    # Views alone are told apart by their size.
    if not isinstance(choice.parameters, ViewsParameters):
        return choice.mechanism
    return f"views of {max(map(len, choice.parameters.views))}"


def _about(field: Field, listed: int) -> str:
    if isinstance(field.domain, Profile):
        order = field.parameters.published()["order"]
        return f"a cell of a table of {order} attributes, on average"
    if isinstance(field.domain, Sets | StringSets):
        return "a drawn member, on average"
    if field.domain.size is None and listed:
        return f"one of the {listed:,} candidates, on average"
    return "a rare string" if field.domain.size is None else "an answer, on average"


def _called(field: Field) -> str:
    parameters = field.parameters
    # Views are told apart by their size, and RAPPOR by its form.
    if isinstance(parameters, ViewsParameters):
        return f"views of {max(map(len, parameters.views))} attributes"
    if isinstance(parameters, RapporParameters):  # the forms are different mechanisms to people
        return f"{parameters.form} {parameters.mechanism}"
    return parameters.mechanism
