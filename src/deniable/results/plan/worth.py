"""The last sentence of a plan: whether the question is worth asking."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.plan import Plan
from deniable.plan.prediction import Prediction
from deniable.plan.survey import SurveyPlan
from deniable.protocol.question import PLAIN_FIELD
from deniable.results.table.text import percent

TYPICAL = 0.05
"""The share that a string should be found at, where no list says how many there are."""
_MOST_TIMES = 10_000


def worth_asking(plan: Plan) -> str:
    """Say whether the recommended mechanism tells a typical answer from nothing.

    Model: the detection limit falls with the square root of the people; a typical answer has the
    share 1/k among k answers, and TYPICAL among strings.
    """
    best, setting = plan.best, plan.setting
    typical = 1 / setting.answers if setting.answers else TYPICAL
    what = f"{setting.answers:,} answers have {_share(typical)} each on average"
    if not setting.answers:
        what = f"a frequent string has {_share(typical)} or more"
    if best.smallest <= typical:
        return (
            f"Worth asking: with {best.mechanism} a share of {_share(best.smallest)} is found "
            f"every second time, and {what}."
        )
    times = (best.smallest / typical) ** 2
    people = f"about {_rounded(setting.people * times):,} people"
    needed = people if times <= _MOST_TIMES else "far more people"
    return (
        f"Not worth asking like this: only a share of {_share(best.smallest)} is found every "
        f"second time, and {what}. That needs {needed}, a higher epsilon, or fewer answers."
    )


def worth_asking_all(plan: SurveyPlan) -> str:
    """Say of every field of a survey whether it is worth asking."""
    names: dict[bool, list[str]] = {True: [], False: []}
    for one in plan.fields:
        name = one.question if one.field == PLAIN_FIELD else f"{one.question}.{one.field}"
        names[_worth(one.prediction, one.answers)].append(name)
    told = [f"Worth asking: {_listed(names[True])}."] if names[True] else []
    if names[False]:
        told.append(
            f"Not worth asking like this: {_listed(names[False])}; a typical answer would not be "
            "found. Ask more people, a higher epsilon, or fewer answers."
        )
    return " ".join(told)


def _worth(one: Prediction, answers: int) -> bool:
    return one.smallest <= (1 / answers if answers else TYPICAL)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _share(share: float) -> str:
    return percent(share, share / 10)


def _rounded(number: float) -> int:
    """Return a number in two digits: a plan is no promise."""
    size = int(10 ** max(0, len(str(round(number))) - 2))
    return -(-round(number) // size) * size
