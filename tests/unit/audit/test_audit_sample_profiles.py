"""Encoders of records as black boxes: right ones pass, and errors of 5% are caught."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.audit import Audit
from deniable.audit.channel_checks import as_declared
from deniable.audit.reading import log_ratios, reports_of
from deniable.audit.sample.answer_pairs import worst_pair
from deniable.audit.sample.black_box import audit_sample
from deniable.client import encode as client_encode
from deniable.client.encoders import Draws
from deniable.client.randomness import SystemDraws
from deniable.mechanisms import ProfileMechanism, mechanism_of
from deniable.protocol import Answer, Field, Question
from deniable.testing.ledger import LEDGER
from material.audits import a_question, about_profiles, large_profiles, profile_of, survey

ALPHA = 1e-10
SMALL = {question.id: question for question in about_profiles((3, 2))}
LARGE = {question.id: question for question in large_profiles()}


def run(question: Question, rng: np.random.Generator, trials: int) -> Audit:
    LEDGER.add(3 * ALPHA)
    return audit_sample(survey(question), trials=trials, alpha=ALPHA, draws=SystemDraws(rng.bytes))


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_right_encoders_pass(name: str, rng: np.random.Generator) -> None:
    question = (SMALL | LARGE)[name]
    audit = run(question, rng, 120 if name.startswith("inp_rr") else 300)
    assert audit.holds, audit.failures
    fit = next(finding for finding in audit.findings if finding.check == "the exact channel")
    assert int(str(fit.numbers["comparisons"])) >= 1


@pytest.mark.parametrize("name", SMALL)
def test_ratios_are_those_of_the_mechanism(name: str, rng: np.random.Generator) -> None:
    """The slow reading of reports, against the mechanism's likelihood."""
    (field,) = SMALL[name].fields
    mechanism = mechanism_of(field, False)
    assert isinstance(mechanism, ProfileMechanism)
    one, other = (asked.answer for asked in worst_pair(field))
    every = [tuple(row) for row in mechanism.every_profile().tolist()]
    reports = mechanism.simulate(rng.integers(0, 2, size=(80, 2)), rng)
    logs = mechanism.likelihood(reports, log=True)
    expected = logs[:, every.index(one.codes)] - logs[:, every.index(other.codes)]
    size = field.parameters.layout.size
    data = reports.tobytes()
    read = reports_of(field.parameters, [data[i : i + size] for i in range(0, len(data), size)])
    assert log_ratios(field.parameters.channel, one, other, read) == pytest.approx(
        expected, abs=1e-8
    )


def test_a_draw_that_is_not_as_declared_is_seen(rng: np.random.Generator) -> None:
    blocks = ((3, Fraction(1, 4)), (100, Fraction(3, 4)))
    low, high = rng.integers(0, 3, size=1_000), rng.integers(3, 103, size=3_000)
    LEDGER.add(1e-9)
    assert as_declared(np.concatenate([low, high]), blocks).p_value > 1e-9
    assert as_declared(np.concatenate([high, high]), blocks).p_value < 1e-12


class Scaled:
    """Draws whose coins are heads 5% too often."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def coin(self, threshold: int, bits: int = 64) -> bool:
        return self._draws.coin(min(1 << bits, threshold * 105 // 100), bits)

    def below(self, bound: int) -> int:
        return self._draws.below(bound)


BROKEN = [
    *(
        (a_question(name, profile_of(2, 2), name, {"epsilon": 3.0}), 1_500)
        for name in ("inp_ht", "marg_ht", "coefficients", "inp_ht_cms")
    ),
    *(
        (a_question(name, profile_of(2, 2), name, {"epsilon": 4.0}), 2_500)
        for name in ("inp_ps", "marg_ps", "views", "inp_rr", "marg_rr")
    ),
    (a_question("inp_em", profile_of(2, 2), "inp_em", {"epsilon": 4.0}), 1_500),
    (a_question("inp_olh", profile_of(2, 2), "inp_olh", {"epsilon": 3.0, "g": 2}), 1_500),
]


@pytest.mark.parametrize(("question", "trials"), BROKEN, ids=lambda x: getattr(x, "id", ""))
def test_an_error_of_5_percent_is_caught(
    question: Question, trials: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least 8 standard deviations at these trials; the default alpha asks for 5.3."""
    right = client_encode.encode_drawn

    def wrong(field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return right(field, answer, cohort, permanent, Scaled(fresh))

    monkeypatch.setattr(client_encode, "encode_drawn", wrong)
    LEDGER.add(1e-9)
    audit = audit_sample(survey(question), trials=trials, draws=SystemDraws(rng.bytes))
    assert "the exact channel" in {finding.check for finding in audit.failures}, audit.findings


def test_a_table_that_is_drawn_too_often_is_caught(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Preferring:
        def __init__(self, draws: Draws) -> None:
            self._draws = draws

        def coin(self, threshold: int, bits: int = 64) -> bool:
            return self._draws.coin(threshold, bits)

        def below(self, bound: int) -> int:
            return min(self._draws.below(bound), self._draws.below(bound))

    right = client_encode.encode_drawn

    def wrong(field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return right(field, answer, cohort, permanent, Preferring(fresh))

    monkeypatch.setattr(client_encode, "encode_drawn", wrong)
    question = a_question("q", profile_of(2, 2, 2, 2), "marg_rr", {"epsilon": 1.0})
    LEDGER.add(1e-9)
    audit = audit_sample(survey(question), trials=600, draws=SystemDraws(rng.bytes))
    assert [finding.check for finding in audit.failures] == ["the exact channel"]
