"""Every concern answers for every mechanism, and refuses a kind of report that it does not know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from deniable.audit.attack.averaging import right_guesses
from deniable.audit.attack.detection import advise, most_equal
from deniable.audit.attack.linking import chance_equal, linkable
from deniable.audit.channel_checks import channel_checks, permanence_checks
from deniable.audit.exact import proofs
from deniable.audit.reading import Report, log_ratios, reports_of
from deniable.audit.sample.permanent import LettingThrough, permanent_outcomes
from deniable.audit.sample.probability_scores import Tally, directions
from deniable.authoring.auto import noise_of, work_of
from deniable.client.encode import encode_drawn
from deniable.client.randomness import SystemDraws
from deniable.decode.distribution_estimates import has_support
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.plan.costs import operations, words
from deniable.plan.profiles.cells import cell_deviation
from deniable.privacy import epsilon_after
from deniable.privacy.posteriors import false_discovery_rate
from deniable.privacy.shuffling.two_level import levels
from deniable.protocol import Answer, Field, KRRParameters, ProfileParameters, Question
from deniable.protocol.channel import Channel, Own, Rest, Value, reported
from deniable.results.disclosure.randomised import how
from material.channels import CASES, THREE, Case

Concern = Callable[[Case, np.random.Generator], object]


def question_of(field: Field) -> Question:
    repeat = "epoch" if field.parameters.memoised else "once"
    return Question("q", 1, "?", "me", date(2099, 12, 31), 1, repeat, "recorded", (field,))


MADE: dict[str, list[bytes]] = {}


def some_reports(case: Case, rng: np.random.Generator) -> list[bytes]:
    if str(case) not in MADE:
        draws, field = SystemDraws(rng.bytes), case.field
        answer = reported(case.domain, field.parameters, case.answers[0])[0][0]
        MADE[str(case)] = [encode_drawn(field, answer, draws, draws, draws) for _ in range(1_000)]
    return MADE[str(case)]


def sides(case: Case, rng: np.random.Generator) -> tuple[Answer, list[Report]]:
    parameters = case.field.parameters
    answer = reported(case.domain, parameters, case.answers[0])[0][0]
    return answer, reports_of(parameters, some_reports(case, rng))


def proof(case: Case, rng: np.random.Generator) -> object:
    return proofs._structural(case.field, case.absent, rng)(proofs.ONCE)[0]


def checks(case: Case, rng: np.random.Generator) -> object:
    answer, reports = sides(case, rng)
    return channel_checks(case.field.parameters, [(answer, reports)])


def scores(case: Case, rng: np.random.Generator) -> object:
    answer, reports = sides(case, rng)
    tally = Tally(case.field.parameters)
    tally.add(answer, reports)
    assert list(directions(case.field.parameters))
    return tally.errors()


def ratios(case: Case, rng: np.random.Generator) -> object:
    answer, reports = sides(case, rng)
    return log_ratios(case.field.parameters.channel, answer, answer, reports)


def advice(case: Case, rng: np.random.Generator) -> object:
    layout = case.field.parameters.layout
    data = b"".join(some_reports(case, rng))
    looks = advise(case.field.parameters, np.frombuffer(data, dtype=np.dtype(layout.descr)))
    return all(0 <= look.p_value <= 1 for look in looks) and most_equal(case.field.parameters)


def linked(case: Case, rng: np.random.Generator) -> object:
    return linkable(question_of(case.field), case.field.parameters, 2, 50, rng).area


def permanence(case: Case, rng: np.random.Generator) -> object:
    parameters = case.field.parameters
    if not parameters.memoised:
        return True
    answer, reports = sides(case, rng)
    assert LettingThrough(parameters).below(3) == 0
    list(permanence_checks(parameters, answer, [reports[:3]] * 400))
    return list(permanent_outcomes(parameters, answer, reports))


def collisions(case: Case, rng: np.random.Generator) -> object:
    parameters = case.field.parameters
    if isinstance(parameters, ProfileParameters) or parameters.finds:
        return True  # these have noise and work of their own
    return noise_of(parameters, case.domain.size or 0) > 0 and work_of(parameters)


def cells(case: Case, rng: np.random.Generator) -> object:
    parameters = case.field.parameters
    if not isinstance(parameters, ProfileParameters):
        return True
    return cell_deviation(parameters, 1_000, 0.1) > 0


CONCERNS: dict[str, Concern] = {
    "proof": proof,
    "checks": checks,
    "scores": scores,
    "ratios": ratios,
    "advice": advice,
    "linking": linked,
    "permanence": permanence,
    "collisions": collisions,
    "cells": cells,
    "equal records": lambda case, _: 0 < chance_equal(case.field.parameters) <= 1,
    "averaging": lambda case, rng: right_guesses(case.field.parameters, 3, True, 50, rng) >= 0,
    "words": lambda case, _: words(case.field.parameters, 1_000) > 0,
    "operations": lambda case, _: operations(case.field.parameters, 1_000, 10) > 0,
    "sentences": lambda case, _: how(case.field),
    "two levels": lambda case, _: levels(case.field.parameters) or True,
    "over time": lambda case, _: epsilon_after(case.field.parameters, 3) > 0,
    "posterior": lambda case, _: false_discovery_rate(case.field.parameters, np.array([0.1])),
    "support": lambda case, _: has_support(mechanism_of(case.field, case.absent)) in (True, False),
}


@pytest.mark.parametrize("concern", CONCERNS)
def test_every_mechanism_is_answered(concern: str, rng: np.random.Generator) -> None:
    for case in CASES:
        assert CONCERNS[concern](case, rng) is not None, case


class Odd(Rest):
    """A kind of report that nobody knows."""

    @property
    def count(self) -> int:
        return 3

    def values(self) -> Iterator[Value]:
        return iter(range(3))

    def chance(self, own: Own, value: Value) -> Fraction:
        return Fraction(1, 3)

    def holds(self, own: object) -> bool:
        return True

    def flat(self, value: Value) -> Fraction:
        return Fraction(1, 3)

    @property
    def worst(self) -> Fraction | None:
        return Fraction(1)


class OddParameters(KRRParameters):
    """k-RR that calls its reports odd."""

    @cached_property
    def channel(self) -> Channel:
        return replace(super().channel, kind=Odd())


class OddCase(Case):
    """A field with such reports."""

    @property
    def field(self) -> Field:
        right = super().field
        known = right.parameters
        assert isinstance(known, KRRParameters)
        parameters = OddParameters(known.answers, known.permanent_keep, known.report_keep)
        return replace(right, parameters=parameters)


KNOW_NO_KIND = {"cells", "permanence", "linking", "over time", "support"}
"""Concerns of profiles, of permanent stages, of independent reports whatever they are, and of the
mechanism that stands in for it here."""


@pytest.mark.parametrize("concern", [name for name in CONCERNS if name not in KNOW_NO_KIND])
def test_an_unknown_kind_is_named(concern: str, rng: np.random.Generator) -> None:
    with pytest.raises(InvalidParameter, match="'Odd'"):
        CONCERNS[concern](OddCase("krr", THREE, {"epsilon": 1.0}), rng)


def test_a_number_without_words_is_named(rng: np.random.Generator) -> None:
    case = next(case for case in CASES if case.mechanism == "olh")
    field = case.field
    (number,) = field.parameters.channel.numbers
    object.__setattr__(number, "name", "weather")
    with pytest.raises(InvalidParameter, match="'weather' in clear"):
        how(field)
