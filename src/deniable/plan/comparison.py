"""Plans of comparisons: the people that two arms need to show an effect, and the effect they show.

Model: the shares of an answer in two arms of n people each, f and f + effect, differ with variance
V = v(f)/n + v(f + effect)/n, v the variance of one report, noise and sample. A two-sided test at 5%
finds the effect with the wanted power if

    effect >= (Phi^-1(0.975) + Phi^-1(power)) sqrt(V).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from deniable import _validate
from deniable._distributions import normal_isf
from deniable.authoring.auto import Choice
from deniable.plan.collection import MOST_PEOPLE, Setting, known_mechanism
from deniable.plan.inverse import first_reached
from deniable.plan.prediction import deviation
from deniable.protocol import Field
from deniable.protocol.question import PLAIN_FIELD

POWER = 0.8
SHARE = 0.5
"""The share in the first arm, by default: the one that varies the most."""


@dataclass(frozen=True)
class Comparison:
    """The power of a comparison of two arms by one mechanism.

    Attributes:
        mechanism: its name.
        needed: the people in each arm that the effect needs; None if none are enough.
        shown: the smallest effect that the setting's people show, half of them in each arm; None
            where that is more than a share can change.
    """

    mechanism: str
    needed: int | None
    shown: float | None


def plan_comparison(
    setting: Setting,
    effect: float,
    *,
    share: float = SHARE,
    power: float = POWER,
    mechanism: str | None = None,
) -> tuple[Comparison, ...]:
    """Return what every suitable mechanism needs to tell two arms apart, the recommended first.

    Args:
        setting: epsilon, domain, and the people of both arms together.
        effect: the difference of an answer's shares that must be found.
        share: the answer's share in the first arm.
        power: the probability of finding it.
        mechanism: this one only.

    Raises:
        InvalidParameter: unless both shares lie in 0..1, the effect is not 0 and the power between
            0 and 1.

    Example:
        >>> from deniable.protocol import Boolean
        >>> setting = Setting(people=1_000, epsilon=1.0, domain=Boolean())
        >>> [(one.mechanism, one.needed) for one in plan_comparison(setting, 0.02)][:1]
        [('krr', 45935)]
    """
    effect = abs(effect)
    _validate.probability("share", "a comparison", share)
    if not 0 < effect <= 1 - share:
        raise _validate.invalid("effect", "a comparison", f"from 0 to {1 - share:g}", effect)
    if not 0 < power < 1:
        raise _validate.invalid("power", "a comparison", "between 0 and 1", power)
    errors = float(normal_isf(0.025) + normal_isf(1 - power))
    wanted = None if mechanism is None else known_mechanism(mechanism)
    choices = [one for one in setting.choices() if wanted in (None, one.mechanism)]
    found = []
    for choice in choices:
        reached = partial(_reached, choice, setting, share, effect, errors)
        need = first_reached(reached, MOST_PEOPLE)
        half = setting.with_people(max(1, setting.people // 2))
        shown = errors * _error(choice, half, share, 0.0)
        found.append(Comparison(choice.mechanism, need, shown if shown <= 1 - share else None))
    return tuple(found)


def _reached(
    choice: Choice, setting: Setting, share: float, effect: float, errors: float, people: int
) -> bool:
    return errors * _error(choice, setting.with_people(people), share, effect) <= effect


def _error(choice: Choice, arm: Setting, share: float, effect: float) -> float:
    field = Field(PLAIN_FIELD, arm.domain, choice.parameters)
    both = (deviation(field, arm, share), deviation(field, arm, share + effect))
    return math.hypot(*both)
