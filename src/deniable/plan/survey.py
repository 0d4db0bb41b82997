"""The plan of a whole survey: a prediction and warnings for each field before it is published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from deniable.authoring.field import count_listed
from deniable.plan.collection import Setting
from deniable.plan.plan import warn
from deniable.plan.prediction import Prediction, predict
from deniable.protocol import Field, ProfileParameters, Question, Survey, thresholds
from deniable.protocol.budget import Budget, budget_of
from deniable.protocol.composition import reports_within, survey_cost
from deniable.protocol.epochs import day_number
from deniable.protocol.epsilon import as_float
from deniable.protocol.question import WHOLE

YEAR = 365


@dataclass(frozen=True)
class Planned:
    """The prediction for one field of a question.

    Attributes:
        question: its id. field: its name.
        prediction: of the mechanism that the survey names.
        warnings: that nothing, or little, can be learned; that epsilon grows with every report.
        answers: the number of answers, or of cells of a table; 0 for strings.
    """

    question: str
    field: str
    prediction: Prediction
    warnings: tuple[str, ...]
    answers: int = 0


@dataclass(frozen=True)
class Mix:
    """The cost of a mix of levels, where an estimate pools them.

    Attributes:
        question: its id. field: its name.
        rare_error: the standard deviation of a rare share, all levels together.
        best: the level with the smallest error, if everybody chose it.
        best_error: that error.
    """

    question: str
    field: str
    rare_error: float
    best: str
    best_error: float

    @property
    def cost(self) -> float:
        """The share of people that is lost to the mix: as many fewer at the best level alone."""
        return 1 - (self.best_error / self.rare_error) ** 2


@dataclass(frozen=True)
class SurveyPlan:
    """The predictions for all fields of a survey, and its epsilon in a year.

    Attributes:
        people: the number of people who report to each question; of a question that asks some
            devices only, or has levels, it is the share of them that the survey says.
        fields: one plan per field.
        epsilon_year: the epsilon of a device in 365 days if its values stay the same and it had no
            ceiling.
        budget: the survey's cost beside its ceiling.
        mixes: of questions with levels, what their mix costs.
    """

    people: int
    fields: tuple[Planned, ...]
    epsilon_year: float
    budget: Budget
    mixes: tuple[Mix, ...] = ()

    @property
    def epsilon_disclosed(self) -> float:
        """The epsilon of a device in 365 days, at most the ceiling."""
        return min(self.epsilon_year, as_float(self.budget.ceiling))


def plan_survey(
    survey: Survey, people: int, folder: Path | None = None, delta: float | None = None
) -> SurveyPlan:
    """Predict every field of a survey, with the mechanisms that the survey names.

    Args:
        survey: with its integers.
        people: the number of people who report to each question.
        folder: of the candidate files.
        delta: with it also the central epsilon of a shuffled crowd.

    Raises:
        InvalidParameter: if a number is out of range.
    """
    fields = tuple(
        _planned(question, field, _reporting(survey, question, people), folder, delta)
        for question in survey.questions
        for field in question.fields
    )
    year = as_float(survey_cost(survey.costliest().questions, YEAR))
    budget = budget_of(survey, day_number())
    return SurveyPlan(people, fields, year, budget, tuple(_mixes(survey, people, folder)))


def _mixes(survey: Survey, people: int, folder: Path | None) -> Iterator[Mix]:
    """Yield the mix of every question with several levels, field by field."""
    for question in survey.asked:
        levels = survey.levels(question)
        if len(levels) < 2 or question != levels[0]:
            continue
        for place, field in enumerate(question.fields):
            alone, parts = {}, []
            for level in levels:
                own, some = level.fields[place], _reporting(survey, level, people)
                everybody = round(some * people / max(1, _share_of(survey, level, people)))
                part = _planned(level, own, some, folder, None).prediction.rare_error
                whole = _planned(level, own, everybody, folder, None).prediction.rare_error
                alone[level.level] = whole
                parts.append(part)
            best = min(alone, key=lambda name: alone[name])
            # Different people chose different levels: informations add up.
            pooled = sum(error**-2 for error in parts) ** -0.5
            yield Mix(question.id, field.name, pooled, best, alone[best])


def _share_of(survey: Survey, level: Question, people: int) -> float:
    """Return how many people choose a level, of all who are there."""
    share = level.share / WHOLE if level.share else 1 / len(survey.levels(level))
    return people * share


def _reporting(survey: Survey, question: Question, people: int) -> int:
    """Return how many of the people report to a question, at its level."""
    share = 1.0 if question.asked is None else question.asked / thresholds.ONE
    if question.level:
        share *= question.share / WHOLE if question.share else 1 / len(survey.levels(question))
    return max(1, round(people * share))


def _planned(
    question: Question, field: Field, people: int, folder: Path | None, delta: float | None
) -> Planned:
    listed = count_listed(folder / field.candidates) if field.candidates and folder else 0
    once = as_float(field.parameters.epsilon_once)
    setting = Setting(people, once, field.domain, None, question.absent, listed)
    # Tables of a profile have an order.
    if isinstance(field.parameters, ProfileParameters):
        setting = replace(setting, order=field.parameters.order)
    prediction = predict(field.parameters, setting, delta)
    if question.repeat in ("once", "permanent"):
        prediction = replace(prediction, forever=once)
    return Planned(
        question.title,
        field.name,
        prediction,
        (*warn(prediction, setting), *_growing(question, field)),
        answers=setting.answers,
    )


def _growing(question: Question, field: Field) -> list[str]:
    if question.repeat != "epoch" or field.parameters.epsilon_forever is not None:
        return []
    year = as_float(reports_within(question, YEAR) * field.parameters.epsilon_once)
    return [
        f"Every report adds its epsilon: {year:,.1f} in a year. Use epsilon_forever, or repeat = "
        '"permanent" or "once".'
    ]
