"""Every concern answers for every mechanism, and refuses a kind of report that it does not know."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from deniable.associate import Variable
from deniable.associate.other import flat_column, other_likelihood
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
from deniable.crafted.leverage import leverage_of
from deniable.crafted.reports import crafted_reports
from deniable.decode.distribution_estimates import has_support
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for, mechanism_of
from deniable.plan.collection import Setting
from deniable.plan.costs import operations, words
from deniable.plan.prediction import predict
from deniable.plan.profiles.cells import cell_deviation
from deniable.privacy import epsilon_after
from deniable.privacy.posteriors import false_discovery_rate
from deniable.privacy.shuffling.two_level import levels
from deniable.protocol import (
    Answer,
    Field,
    KRRParameters,
    Layout,
    ProfileParameters,
    Question,
    load_plugin,
    registry,
)
from deniable.protocol.channel import (
    Channel,
    Number,
    Own,
    Product,
    Rest,
    Sign,
    Symbol,
    Value,
    reported,
)
from deniable.protocol.layout import number
from deniable.results.disclosure.randomised import how
from deniable.testing.contract import check_mechanism
from material.channels import ANY, CASES, EPSILON, FIVE, SETS, THREE, YES_NO, Case

ROOT = Path(__file__).parents[2]

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


def unlisted(case: Case, rng: np.random.Generator) -> object:
    field = case.field
    if case.domain.kind != "strings":
        return True
    mechanism = mechanism_of(field, case.absent)
    data = b"".join(some_reports(case, rng)[:50])
    reports = np.frombuffer(data, dtype=mechanism.dtype)
    logs = other_likelihood(Variable("x", mechanism, reports, ("a", "b")), "flat")(reports, 0)
    return bool(np.isfinite(logs).all())


def planned(case: Case, rng: np.random.Generator) -> object:
    if case.field.parameters.finds:
        return True  # these are planned by simulation (tests/unit/plan)
    setting = Setting(10_000, 1.0, case.domain, absent=case.absent)
    return predict(case.field.parameters, setting, 1e-6).mean_error > 0


def crafted(case: Case, rng: np.random.Generator) -> object:
    parameters = case.field.parameters
    if isinstance(parameters, ProfileParameters):
        return True  # crafted cell by cell: tests/unit/crafted
    answer = reported(case.domain, parameters, case.answers[0])[0][0]
    both = [crafted_reports(parameters, answer, 2, rng, down=down) for down in (True, False)]
    return all(len(made) == 2 * parameters.layout.size for made in both)


CONCERNS: dict[str, Concern] = {
    "unlisted answers": unlisted,
    "plan": planned,
    "crafted reports": crafted,
    "leverage": lambda case, _: leverage_of(case.field).most > 0,
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


KNOW_NO_KIND = {"cells", "unlisted answers", "permanence", "linking", "over time", "support"}
"""Concerns of profiles, of strings, of permanent stages, of independent reports whatever they are,
and of the mechanism that stands in for it here."""


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


def test_the_likelihood_of_unlisted_answers_names_a_kind_that_it_does_not_know() -> None:
    odd = OddCase("krr", THREE, {"epsilon": 1.0})
    with pytest.raises(InvalidParameter, match="'Odd'"):
        flat_column(odd.field.parameters.channel)


def test_the_flat_likelihood_of_bits_is_that_of_their_kind() -> None:
    case = next(case for case in CASES if case.mechanism == "rappor" and case.domain is ANY)
    channel = case.field.parameters.channel
    every = [(public, value) for public, _ in channel.publics() for value in range(8)]
    data = b"".join(channel.record(*one) for one in every)
    records = np.frombuffer(data, dtype=np.dtype(channel.layout.descr))
    exact = [float(channel.typical.flat(value)) / channel.sizes[0] for _, value in every]
    assert np.allclose(np.exp(flat_column(channel)(records, 0)), exact, rtol=1e-12)


class Several(KRRParameters):
    """A made-up mechanism: two answers of k-RR in one report, after a number of unequal law."""

    @property
    def layout(self) -> Layout:
        return Layout((number("day", 3), number("one", self.answers), number("two", self.answers)))

    @cached_property
    def channel(self) -> Channel:
        law = ((1, Fraction(1, 2)), (2, Fraction(1, 2)))
        symbol = Symbol(self.keep, self.answers)
        day = Number("day", law, permanent=False, means="the day")
        both = Product((symbol, symbol))
        return Channel((day,), both, lambda a, _: (a.code, a.code), self.layout, direct=True)


class Alone(KRRParameters):
    """Another one: a sign and nothing in clear, which is Warner's response."""

    @property
    def layout(self) -> Layout:
        return Layout((number("sign", 2),))

    @cached_property
    def channel(self) -> Channel:
        gap = 2 * self.keep - 1
        return Channel((), Sign(gap), lambda a, _: 1 - 2 * a.code, self.layout, direct=True)


@pytest.mark.parametrize("kind", [Several, Alone])
@pytest.mark.parametrize("concern", [name for name in CONCERNS if name != "proof"])
def test_a_made_up_mechanism_has_an_answer_or_an_error_that_names_itself(
    kind: type[KRRParameters], concern: str, rng: np.random.Generator
) -> None:
    class MadeUp(Case):
        @property
        def field(self) -> Field:
            right = super().field
            known = right.parameters
            assert isinstance(known, KRRParameters)
            made = kind(known.answers, known.permanent_keep, known.report_keep)
            return replace(right, parameters=made)

    case = MadeUp("krr", YES_NO, {"epsilon": 1.0})
    channel = case.field.parameters.channel
    drawn = list(channel.law(case.answers[0]).items())
    chances = np.array([float(chance) for _, chance in drawn])
    MADE[str(case)] = [drawn[i][0] for i in rng.choice(len(drawn), 1_000, p=chances)]
    told = ""
    try:
        assert CONCERNS[concern](case, rng) is not None
    except InvalidParameter as error:
        told = str(error)
    finally:
        del MADE[str(case)]
    assert not told or "'Product'" in told or "'day'" in told


def test_a_stranger_s_mechanism_is_answered_by_every_concern(rng: np.random.Generator) -> None:
    before = {name: dict(parts) for name, parts in registry._parts.items()}
    try:
        load_plugin(ROOT / "examples/mechanism_of_your_own.py")
        for case in (
            Case("paley", FIVE, {"epsilon": 1.0}, absent=True),
            Case("paley", SETS, EPSILON),
        ):
            for concern, walk in CONCERNS.items():
                assert walk(case, rng) is not None, concern
        mechanism = mechanism_for(Case("paley", FIVE, EPSILON).field.parameters)
        assert check_mechanism(mechanism, rng, alpha=1e-10) == []
        assert doctest.testmod(sys.modules[type(mechanism).__module__]) == (0, 5)
    finally:
        registry._parts.clear()
        registry._parts.update(before)
        registry.PLUGINS.clear()
