"""Attackers on questions about profiles: curves against exact channels, and bounds that hold."""

from __future__ import annotations

import json
import math
from collections import defaultdict

import numpy as np
import pytest

from deniable.audit.answers import worst_profiles
from deniable.audit.attack.attackers import audit_attack
from deniable.audit.attack.averaging import right_guesses
from deniable.audit.attack.averaging_profiles import ratio_laws
from deniable.audit.attack.linking import chance_equal, linkable
from deniable.audit.wire.bytes_sent import audit_wire
from deniable.audit.wire.made_up_values import two_answers
from deniable.client.encoders import encoder_for
from deniable.privacy import report_channel
from deniable.protocol import ProfileParameters
from deniable.testing.ledger import LEDGER
from deniable.testing.statistics import accept, proportion
from material.audits import ONCE, a_question, about_profiles, profile_of, survey

QUESTIONS = {
    question.id: question for question in (*about_profiles((2, 2)), *about_profiles((2, 3, 5)))
}
SMALL = [name for name in QUESTIONS if name.endswith("-2x2")]


def shape_of(name: str) -> ProfileParameters:
    parameters = QUESTIONS[name].fields[0].parameters
    assert isinstance(parameters, ProfileParameters)
    return parameters


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_attacker_does_better_than_epsilon_allows(name: str) -> None:
    LEDGER.add(2e-10)
    attacks = audit_attack(survey(QUESTIONS[name]), devices=800, alpha=1e-10)
    assert attacks.audit.holds, attacks.audit.failures
    assert len(attacks.audit.findings) == 5
    json.dumps(attacks.as_json(), allow_nan=False)


@pytest.mark.parametrize("name", SMALL)
def test_the_law_of_ratios_is_the_exact_channel(name: str) -> None:
    """What each report says, summed over all reports of the enumerated encoder."""
    parameters = shape_of(name)
    if parameters.mechanism == "inp_olh":
        wanted = {**ONCE, "seeds": 7}
        field = a_question("q", QUESTIONS[name].fields[0].domain, "inp_olh", wanted).fields[0]
        assert isinstance(field.parameters, ProfileParameters)
        parameters = field.parameters
    pair = worst_profiles(parameters, parameters.answers)
    channel = report_channel(encoder_for(parameters), pair)
    one, other = (channel[answer] for answer in pair)
    for law, under in zip(ratio_laws(parameters), (one, other), strict=True):
        expected: dict[float, float] = defaultdict(float)
        for sent, chance in under.items():
            expected[round(math.log(one[sent] / other[sent]), 6)] += float(chance)
        found: dict[float, float] = defaultdict(float)
        for ratio, share in law:
            if share > 1e-15:
                found[round(ratio, 6)] += share
        assert dict(found) == pytest.approx(dict(expected))


def test_one_sign_is_right_as_often_as_it_is_kept(rng: np.random.Generator) -> None:
    """Records that differ in every attribute differ in three of four coefficients, or more."""
    parameters = shape_of("inp_ht-2x2")
    law = dict(ratio_laws(parameters)[0])
    differ = 1 - law.get(0.0, 0.0)
    keep = float(parameters.support[0])
    right = round(20_000 * right_guesses(parameters, 1, True, 20_000, rng))
    accept(proportion(right, 20_000, differ * keep + (1 - differ) / 2), 1e-9)


def test_more_reports_tell_more(rng: np.random.Generator) -> None:
    parameters = shape_of("coefficients-2x3x5")
    rates = [right_guesses(parameters, n, False, 4_000, rng) for n in (1, 10, 100)]
    assert rates == sorted(rates)
    assert rates[-1] > 0.9


def test_permanent_reports_of_a_record_are_linked() -> None:
    question = a_question("q", profile_of(2, 2), "inp_ht", ONCE, repeat="permanent")
    parameters = question.fields[0].parameters
    linked = linkable(question, parameters, 1, 10, np.random.default_rng(0))
    assert linked.alike == chance_equal(parameters) == pytest.approx(1 / 6)


def test_two_values_of_a_record_differ_in_every_attribute() -> None:
    one, other = two_answers(QUESTIONS["views-2x3x5"])
    assert isinstance(one, dict)
    assert isinstance(other, dict)
    assert set(one) == set(other) == {"a0", "a1", "a2"}
    for value in (one, other):
        assert QUESTIONS["views-2x3x5"].answers(value)
    assert one["a0"] != other["a0"]


def test_the_wire_of_a_record() -> None:
    audit = audit_wire(survey(QUESTIONS["views-2x3x5"]))
    assert audit.holds, audit.failures
