"""Epsilons add up as they are said to: joint reports of the shipped encoders, enumerated.

One test for each thing that is added over: fields, questions, epochs, distinct values.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import product

from deniable.authoring import resolve
from deniable.client.encode import encode_drawn
from deniable.client.encoders.base import Draws
from deniable.privacy import channel, worst_ratio
from deniable.protocol import MECHANISMS, Answer, Boolean, Categories, Domain, Field, Question
from deniable.protocol.composition import device_cost, report_cost, survey_cost
from deniable.protocol.domain import code_key
from deniable.protocol.epsilon import epsilon_of

THREE = Categories(("a", "b", "c"))
CODES = [Answer(code_key(code), code) for code in range(3)]


def field(name: str, domain: Domain, mechanism: str, **wanted: object) -> Field:
    return Field(name, domain, resolve(mechanism, wanted, domain, False))


FRESH = field("fresh", THREE, "krr", epsilon=0.5)
SIGN = field("sign", Boolean(), "krr", epsilon=0.8)
KEPT = field("kept", THREE, "krr", epsilon=0.6, epsilon_forever=1.5)


def question(*fields: Field, repeat: str = "epoch", name: str = "q") -> Question:
    return Question(name, 1, "d", "o", date(2099, 1, 1), 1, repeat, "recorded", fields)


def ratio_of_all(fields: list[Field]) -> Fraction:
    """The worst ratio of records made together, each of its own answer, by their encoders."""
    answers = [CODES[: field.domain.size] for field in fields]

    def encode(given: tuple[Answer, ...], draws: Draws) -> bytes:
        parts = zip(fields, given, strict=True)
        return b"".join(encode_drawn(f, a, draws, draws, draws) for f, a in parts)

    found = worst_ratio(channel(encode, list(product(*answers))))
    assert found is not None
    return found


def within(ratio: Fraction, micros: int, parts: int) -> bool:
    """Whether a sum covers the ratio, and by no more than its roundings."""
    return micros - parts <= epsilon_of(ratio) <= micros


def test_over_fields() -> None:
    asked = question(FRESH, SIGN)
    assert within(ratio_of_all([FRESH, SIGN]), report_cost(asked, [True, True]), 2)


def test_over_questions() -> None:
    asked = [question(FRESH, name="a", repeat="once"), question(SIGN, name="b", repeat="once")]
    assert within(ratio_of_all([FRESH, SIGN]), survey_cost(asked, days=1), 2)


def test_over_epochs_without_a_permanent_response() -> None:
    assert within(ratio_of_all([FRESH] * 3), device_cost(question(FRESH), reports=3), 3)


def permanent_ratio(values: int) -> Fraction:
    """The worst ratio of the permanent responses of so many different values.

    With every report ever made of them this is what an attacker can come to know.
    """
    permanent = Field(
        "kept",
        THREE,
        MECHANISMS["krr"].from_published(
            {**KEPT.parameters.published(), "report_keep": str(2**64)}
        ),
    )
    return ratio_of_all([permanent] * values)


def test_over_distinct_values_of_a_permanent_response() -> None:
    asked = question(KEPT)
    for values in (1, 2, 3):
        cost = device_cost(asked, reports=100, values=values)
        assert cost == values * 1_500_000
        assert within(permanent_ratio(values), cost, values)


def test_over_distinct_values_of_permanent_reports() -> None:
    asked = question(FRESH, repeat="permanent")
    for values in (1, 2):
        cost = device_cost(asked, reports=100, values=values)
        assert within(ratio_of_all([FRESH] * values), cost, values)


def test_one_report_less_would_not_be_covered() -> None:
    """The other way round: what is added is needed."""
    assert epsilon_of(ratio_of_all([FRESH] * 3)) > device_cost(question(FRESH), reports=2)
    assert epsilon_of(permanent_ratio(2)) > device_cost(question(KEPT), reports=100, values=1)
