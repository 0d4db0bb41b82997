"""Encoders as black boxes: right ones pass, and errors of 5% are caught."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.audit import Audit
from deniable.audit.reading import reports_of
from deniable.audit.sample.answer_pairs import scores, worst_pair
from deniable.audit.sample.black_box import audit_sample
from deniable.audit.sample.epsilon_bound import clopper_pearson, lower_bound
from deniable.client import encode as client_encode
from deniable.client.encoders import Draws
from deniable.client.randomness import SystemDraws
from deniable.mechanisms import mechanism_for
from deniable.protocol import Answer, Boolean, Field, Question, Sets, Strings
from deniable.testing.ledger import LEDGER
from material.audits import (
    ONCE,
    PAPER,
    TWO_STAGES,
    a_field,
    a_question,
    categories,
    large_questions,
    of_fields,
    small_questions,
    survey,
)

ALPHA = 1e-10
SMALL = {question.id: question for question in small_questions()}
LARGE = {question.id: question for question in large_questions()}
SLOW = (
    "paper",
    "rappor-strings",
    "orr-200",
    "permuted",
    "oue-200",
    "rappor-200",
    "oue-permanent-30",
    "rappor-permanent-30",
)


def run(question: Question, rng: np.random.Generator, trials: int = 600) -> Audit:
    LEDGER.add(5 * ALPHA)
    return audit_sample(survey(question), trials=trials, alpha=ALPHA, draws=SystemDraws(rng.bytes))


@pytest.mark.parametrize("name", SMALL)
def test_small_domains_pass(name: str, rng: np.random.Generator) -> None:
    audit = run(SMALL[name], rng)
    assert audit.holds, audit.failures
    checks = {finding.check for finding in audit.findings}
    assert {"lower bound on epsilon", "the exact channel"} <= checks


@pytest.mark.parametrize("name", LARGE)
def test_large_domains_pass(name: str, rng: np.random.Generator) -> None:
    audit = run(LARGE[name], rng, 150 if name in SLOW else 400)
    assert audit.holds, audit.failures


def test_the_bound_of_the_mathematics() -> None:
    """At a million trials, half of which choose the event, epsilon 1 shows as 0.99."""
    n = 10**6
    p = math.e / (1 + math.e)
    k1, k0 = round(n * p), round(n * (1 - p))
    assert clopper_pearson(k1, k0, n, 0.05) == pytest.approx(0.9956, abs=5e-4)
    assert clopper_pearson(0, 10, n, 0.05) == 0.0
    assert clopper_pearson(10, n, n, 0.05) == 0.0


def test_the_lower_bound_reaches_towards_the_truth(rng: np.random.Generator) -> None:
    p = math.e / (1 + math.e)
    one, other = (np.where(rng.random(200_000) < x, 1.0, -1.0) for x in (p, 1 - p))
    LEDGER.add(2e-9)
    assert 0.95 < lower_bound(one, other, 1e-9) <= 1.0
    assert lower_bound(one, one.copy(), 1e-9) == 0.0


def test_scores_are_the_likelihood_ratio(rng: np.random.Generator) -> None:
    """The slow reading of records, against the mechanisms' likelihood."""
    for question in (SMALL["krr-3"], SMALL["oue-3"], SMALL["hadamard-3"], SMALL["subset-3"]):
        (field,) = question.fields
        mechanism = mechanism_for(field.parameters)
        reports = mechanism.simulate(rng.integers(0, 3, size=60), rng)
        records = reports_of(field.parameters, [report.tobytes() for report in reports])
        logs = mechanism.likelihood(reports, log=True)
        ratio = logs[:, 2] - logs[:, 0]
        found = scores(field, worst_pair(field), records)
        assert found == pytest.approx(ratio, abs=1e-8), question.id


def test_pairs_are_answers_that_differ() -> None:
    for question in (*SMALL.values(), *LARGE.values()):
        one, other = worst_pair(question.fields[0])
        assert one.answer.key != other.answer.key
        assert other.reported is not None
    drawn = worst_pair(a_field("value", Sets(("a", "b"), 2), "krr", ONCE))
    assert drawn[0].reported is None


def test_every_field_of_a_question_is_looked_at(rng: np.random.Generator) -> None:
    asked = of_fields(
        "two",
        a_field("colour", categories(3), "krr", ONCE),
        a_field("yes", Boolean(), "rappor", TWO_STAGES),
        repeat="epoch",
    )
    audit = run(asked, rng, 300)
    assert audit.holds
    assert {finding.about for finding in audit.findings} == {"two.colour", "two.yes"}
    assert "300 devices per answer" in audit.notes[0]


class Scaled:
    """Draws whose coins are heads 5% too often."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def coin(self, threshold: int, bits: int = 64) -> bool:
        return self._draws.coin(min(1 << bits, threshold * 105 // 100), bits)

    def below(self, bound: int) -> int:
        return self._draws.below(bound)


BROKEN = [
    (a_question("krr", categories(4), "krr", {"epsilon": 3.0}), 4_000),
    (a_question("oue", categories(64), "oue", ONCE), 1_500),
    (a_question("hadamard", categories(8), "hadamard", {"epsilon": 3.0}), 1_500),
    (a_question("subset", categories(8), "subset", {"epsilon": 3.5}), 6_000),
    (a_question("pgr", categories(20), "pgr", {"epsilon": 4.5}), 6_000),
    (a_question("olh", Strings(), "olh", {"epsilon": 3.0, "g": 2}), 1_500),
    (a_question("orr", Strings(), "orr", {"epsilon": 3.0, "k": 2}), 1_500),
    (a_question("hcms", Strings(), "hcms", {"epsilon": 3.0}), 1_500),
    (a_question("rappor", Strings(), "rappor", {**PAPER, "k": 32}), 1_000),
]


@pytest.mark.parametrize(("question", "trials"), BROKEN, ids=lambda x: getattr(x, "id", ""))
def test_an_error_of_5_percent_is_caught(
    question: Question, trials: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least 11 standard deviations at these trials; the default alpha asks for 5.3."""
    right = client_encode.encode_drawn

    def wrong(field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return right(field, answer, cohort, permanent, Scaled(fresh))

    monkeypatch.setattr(client_encode, "encode_drawn", wrong)
    LEDGER.add(1e-9)
    audit = audit_sample(survey(question), trials=trials, draws=SystemDraws(rng.bytes))
    assert "the exact channel" in {finding.check for finding in audit.failures}, audit.findings


def test_a_permanent_response_that_is_drawn_again_is_caught(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = client_encode.encode_drawn

    def wrong(field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return right(field, answer, cohort, fresh, fresh)

    monkeypatch.setattr(client_encode, "encode_drawn", wrong)
    LEDGER.add(1e-9)
    wanted: dict[str, object] = {"epsilon": 1.0, "epsilon_forever": 2.0}
    for mechanism in ("krr", "oue", "rappor"):
        asked = a_question("q", categories(3), mechanism, wanted)
        audit = audit_sample(survey(asked), trials=4_000, draws=SystemDraws(rng.bytes))
        assert "permanent response" in {finding.check for finding in audit.failures}, mechanism


def test_a_permanent_report_that_changes_is_caught(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = client_encode.encode_drawn

    def wrong(field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return right(field, answer, cohort, permanent, SystemDraws(rng.bytes))

    monkeypatch.setattr(client_encode, "encode_drawn", wrong)
    audit = run(SMALL["warner"], rng, 300)
    assert [finding.check for finding in audit.failures] == ["permanent reports"]
