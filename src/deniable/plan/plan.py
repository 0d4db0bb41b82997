"""All mechanisms side by side, and the one that `mechanism = "auto"` takes, with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.plan.collection import FIND, Setting, known_mechanism
from deniable.plan.inverse import epsilon_needed, people_needed
from deniable.plan.prediction import Prediction, predict
from deniable.protocol import Profile

NOTHING = 0.5
"""The detection limit from which on nothing can be learned."""


@dataclass(frozen=True)
class Needed:
    """The people, or the epsilon, that a wanted error needs; None where none is enough."""

    people: int | None
    epsilon: float | None


@dataclass(frozen=True)
class Plan:
    """The predictions of all suitable mechanisms, and a recommendation.

    Attributes:
        setting: the planned collection.
        predictions: one per suitable mechanism, the recommended one first.
        recommended: the mechanism that "auto" takes.
        reason: of the recommendation, in a sentence.
        warnings: of detection limits too high to learn anything, or much.
        error: the wanted error; None if none was asked for.
        needed: by mechanism, the people or the epsilon that this error needs.
    """

    setting: Setting
    predictions: tuple[Prediction, ...]
    recommended: str
    reason: str
    warnings: tuple[str, ...]
    error: float | None
    needed: dict[str, Needed]

    @property
    def best(self) -> Prediction:
        """The first prediction."""
        return self.predictions[0]

    @property
    def asked(self) -> float | None:
        """The share of devices to ask (`asked` in a survey) that suffices for the wanted error.

        Of the first mechanism shown. None without a wanted error, or where all are too few.
        """
        need = self.needed.get(self.predictions[0].mechanism)
        if need is None or need.people is None or need.people > self.setting.people:
            return None
        return _least_share(need.people, self.setting.people)


def _least_share(part: int, whole: int) -> float:
    """Return the smallest share of thousandths (at least one) that holds part of a whole."""
    return max(1, -(-1_000 * part // whole)) / 1_000


def make_plan(
    setting: Setting,
    mechanism: str | None = None,
    error: float | None = None,
    delta: float | None = None,
) -> Plan:
    """Predict errors, detection limit and costs of every suitable mechanism, or of one.

    Args:
        setting: people, epsilon, answers.
        mechanism: predict this one only; the recommendation stays.
        error: with it also the number of people, or the epsilon, that this error needs.
        delta: with it also the central epsilon of a shuffled crowd.

    Raises:
        InvalidParameter: if the mechanism is unknown or has no form for the setting, or a number
            is out of range.

    Example:
        >>> from deniable.plan import of_categories
        >>> plan = make_plan(Setting(people=50_000, epsilon=1.0, domain=of_categories(10)))
        >>> plan.predictions[0].mechanism
        'subset'
    """
    found = setting.choices()
    chosen = found
    if mechanism is not None:
        chosen = [c for c in found if c.mechanism == known_mechanism(mechanism)]
        # One of yours, or one that `auto` does not compare here.
        if not chosen and (named := setting.choice(mechanism)):
            chosen = [named]
        if not chosen:
            raise InvalidParameter(
                f"{mechanism} has no form for these answers and epsilons.",
                f"Use one of: {', '.join(choice.mechanism for choice in found)}.",
            )
    predictions = tuple(predict(choice.parameters, setting, delta) for choice in chosen)
    every = predictions
    if mechanism is not None:
        every = tuple(predict(choice.parameters, setting) for choice in found)
    needed = {}
    if error is not None:
        needed = {
            prediction.mechanism: Needed(
                people_needed(setting, prediction.mechanism, error),
                epsilon_needed(setting, prediction.mechanism, error),
            )
            for prediction in predictions
        }
    warnings = tuple(warn(predictions[0], setting))
    name = found[0].mechanism
    why = _reason(setting, every)
    return Plan(setting, predictions, name, why, warnings, error, needed)


def _reason(setting: Setting, predictions: tuple[Prediction, ...]) -> str:
    if isinstance(setting.domain, Profile):
        return reason_of_profile(predictions, setting.people)
    if predictions[0].mechanism in FIND:
        return reason_of_found(predictions)
    return reason(tuple(one for one in predictions if one.mechanism not in FIND))


def reason_of_found(predictions: tuple[Prediction, ...]) -> str:
    """Return the reason for the first mechanism where no candidate strings are listed."""
    best = predictions[0]
    words = f"{best.mechanism} finds strings that nobody listed"
    others = [one for one in predictions[1:] if one.mechanism in FIND]
    if others:
        ratio = others[0].smallest / best.smallest
        words += f"; so does {others[0].mechanism}, from shares {ratio:.2g} times as large on"
    return f"{words}. The others can only test for strings of a list."


def reason(predictions: tuple[Prediction, ...]) -> str:
    """Return the reason for the first mechanism, in a sentence."""
    best, others = predictions[0], predictions[1:]
    if not others:
        return f"{best.mechanism} is the only mechanism with a form for this."
    least = min(others, key=lambda p: p.mean_error)
    if best.mean_error <= least.mean_error:
        if least.mean_error < 1.0005 * best.mean_error:
            return (
                f"{best.mechanism} has the least expected error; {least.mechanism} has the same, "
                "and comes after it in the order of preference."
            )
        return (
            f"{best.mechanism} has the least expected error; the next, {least.mechanism}, has "
            f"{_more(least, best)} more."
        )
    shorter = (
        f"shorter reports ({best.size:,} bytes, not {least.size:,})"
        if best.size < least.size
        else f"simpler estimates ({best.work}, not {least.work})"
    )
    return (
        f"{best.mechanism} has {_more(best, least)} more error than {least.mechanism}, the least, "
        f"and {shorter}."
    )


def reason_of_profile(predictions: tuple[Prediction, ...], people: int) -> str:
    """Return the reason for the first mechanism of a profile, in a sentence."""
    best = predictions[0]
    least = min(predictions, key=lambda p: p.mean_error)
    words = (
        f"{best.mechanism}, with {people:,} people, leaves the least error in smoothed tables of "
        'those that "auto" compares'
    )
    if least.mechanism == best.mechanism:
        return f"{words}, and the least in raw ones."
    return f"{words}; raw cells, as shown here, have the least with {least.mechanism}."


def warn(prediction: Prediction, setting: Setting) -> list[str]:
    """Return warnings where the detection limit lets nothing, or little, be learned."""
    smallest, warnings = prediction.smallest, []
    if smallest >= NOTHING:
        warnings.append(
            "Nothing can be learned: not even an answer that every second person gives would be "
            f"told from none. Ask more people than {setting.people:,}, or allow a larger epsilon "
            f"than {prediction.epsilon:g}."
        )
    elif setting.answers and smallest > 1 / setting.answers:
        what = "cells of a table" if isinstance(setting.domain, Profile) else "answers"
        warnings.append(
            f"Only {what} above {100 * smallest:.3g}% are seen: of {setting.answers:,} {what} "
            "the average one is not. Use fewer, or ask more people."
        )
    return warnings


def _more(one: Prediction, other: Prediction) -> str:
    return f"{100 * (one.mean_error / other.mean_error - 1):.1f}%"
