"""Audits of questions about strings that are found: prefixes and n-grams."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.audit.answers import some_strings
from deniable.audit.attack.attackers import audit_attack
from deniable.audit.attack.averaging import right_guesses
from deniable.audit.attack.crafted import shifted_estimate
from deniable.audit.attack.detection import advice_finding, advise
from deniable.audit.exact.proofs import audit_exact, prove_field
from deniable.audit.reading import log_ratios, reports_of, said
from deniable.audit.sample.answer_pairs import worst_pair
from deniable.audit.sample.black_box import audit_sample
from deniable.client import encode as client_encode
from deniable.client.encoders import Draws
from deniable.client.encoders.ngrams import NGramsEncoder
from deniable.client.encoders.prefixes import PrefixesEncoder
from deniable.client.encoders.unary import pack_bits
from deniable.client.randomness import SystemDraws
from deniable.crafted.leverage import leverage
from deniable.crafted.reports import crafted_reports
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.base import Reports
from deniable.plan import Setting, predict
from deniable.protocol import (
    Answer,
    Field,
    NGramsParameters,
    PrefixesParameters,
    Question,
    Strings,
)
from deniable.protocol.domain import string_key
from deniable.results.disclosure.randomised import how
from deniable.testing.ledger import LEDGER
from material.audits import a_question, found_strings, survey

ALPHA = 1e-10
QUESTIONS = {question.id: question for question in found_strings()}


def test_the_arguments_are_said() -> None:
    said = {
        name: prove_field(question, question.fields[0], np.random.default_rng(1))[0].argument
        for name, question in QUESTIONS.items()
    }
    assert said["prefixes-strings"].startswith("per symbol, given the group and the cohort")
    assert said["ngrams-two"].startswith("per bit, given the places and the cohort")


def test_a_group_chosen_by_the_string_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PrefixesEncoder.encode

    def encode(
        self: PrefixesEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
    ) -> bytes:
        record = right(self, answer, cohort, permanent, fresh)
        return bytes([(record[0] + len(answer.key)) % self._parameters.groups]) + record[1:]

    monkeypatch.setattr(PrefixesEncoder, "encode", encode)
    audit = audit_exact(survey(QUESTIONS["prefixes-small"]))
    assert "not what was drawn" in " ".join(finding.words for finding in audit.failures)


def test_parts_that_share_coins_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(
        self: NGramsEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
    ) -> bytes:
        p = self._parameters
        packed: dict[str, int | bytes] = {
            "places": cohort.below(p.choices),
            "cohort": cohort.below(p.cohorts),
        }
        bits = pack_bits((fresh.coin(p.whole_zero) for _ in range(p.bits)), p.bits)
        return p.layout.pack(packed | {f"bits_{i}": bits for i in range(p.grams + 1)})

    monkeypatch.setattr(NGramsEncoder, "encode", encode)
    audit = audit_exact(survey(QUESTIONS["ngrams-strings"]))
    assert "more than one bit" in " ".join(finding.words for finding in audit.failures)


@pytest.mark.parametrize("name", QUESTIONS)
def test_right_encoders_pass(name: str, rng: np.random.Generator) -> None:
    LEDGER.add(2 * ALPHA)
    asked = survey(QUESTIONS[name])
    audit = audit_sample(asked, trials=400, alpha=ALPHA, draws=SystemDraws(rng.bytes))
    assert audit.holds, audit.failures


class Scaled:
    """Draws whose coins are heads 5% too often."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def coin(self, threshold: int, bits: int = 64) -> bool:
        return self._draws.coin(min(1 << bits, threshold * 105 // 100), bits)

    def below(self, bound: int) -> int:
        return self._draws.below(bound)


NAMES = Strings("abcdefgh", 6)
BROKEN = [
    a_question("prefixes", NAMES, "prefixes", {"epsilon": 6.0, "points": 100}),
    a_question("ngrams", NAMES, "ngrams", {"epsilon": 2.0, "k": 64, "m": 4}),
]


@pytest.mark.parametrize("question", BROKEN, ids=lambda question: question.id)
def test_an_error_of_5_percent_is_caught(
    question: Question, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = client_encode.encode_drawn

    def wrong(field: Field, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws) -> bytes:
        return right(field, answer, cohort, permanent, Scaled(fresh))

    monkeypatch.setattr(client_encode, "encode_drawn", wrong)
    LEDGER.add(1e-9)
    trials = 1_000 if question.id == "ngrams" else 3_000
    audit = audit_sample(survey(question), trials=trials, draws=SystemDraws(rng.bytes))
    assert "the exact channel" in {finding.check for finding in audit.failures}, audit.findings


def test_ratios_are_those_of_the_mechanism(rng: np.random.Generator) -> None:
    (field,) = QUESTIONS["ngrams-two"].fields
    parameters = field.parameters
    assert isinstance(parameters, NGramsParameters)
    mechanism = mechanism_of(field, False)
    texts = list(some_strings(field.domain)[:2])
    reports = mechanism.simulate(rng.integers(0, 2, size=60), rng, texts)
    logs = mechanism.likelihood(reports, texts, log=True)
    one, other = (asked.answer for asked in worst_pair(field))
    read = reports_of(parameters, [report.tobytes() for report in reports])
    found = log_ratios(parameters.channel, one, other, read)
    assert found == pytest.approx(logs[:, 0] - logs[:, 1], abs=1e-8)


@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_shift_is_what_leverage_allows(name: str, down: bool, rng: np.random.Generator) -> None:
    question = QUESTIONS[name]
    (field,) = question.fields
    found = shifted_estimate(question, field, people=8_000, rng=rng, down=down)
    LEDGER.add(1e-11)
    assert found.within
    assert (-found.shift if down else found.shift) >= 0.35 * found.bound - found.slack


def test_liars_of_prefixes_join_the_verification_group(rng: np.random.Generator) -> None:
    parameters = QUESTIONS["prefixes-strings"].fields[0].parameters
    assert isinstance(parameters, PrefixesParameters)
    one = leverage(parameters)
    assert one.about == parameters.weights[-1] / parameters.total_weight
    p, q = parameters.support
    assert one.up == pytest.approx(float((1 - q) / (p - q)) / one.about)
    target = Answer(string_key("abc"))
    size = parameters.layout.size
    data = crafted_reports(parameters, target, 30, rng)
    read = reports_of(parameters, [data[i : i + size] for i in range(0, len(data), size)])
    assert {public[0] for public, _ in read} == {parameters.verification}
    (group,) = said(parameters.channel, target, read)
    assert group.supported() == len(read)


class TestAdvice:
    def honest(self, question: Question, rng: np.random.Generator) -> Reports:
        (field,) = question.fields
        texts = list(some_strings(field.domain)[:2])
        return mechanism_of(field, False).simulate(rng.integers(0, 2, size=4_000), rng, texts)

    def strange(self, question: Question, reports: Reports) -> bool:
        looks = advise(question.fields[0].parameters, reports)
        return bool(advice_finding("q", looks, len(reports), ALPHA).numbers.get("strange"))

    @pytest.mark.parametrize("name", ["prefixes-strings", "ngrams-strings"])
    def test_honest_reports_pass_and_copies_do_not(
        self, name: str, rng: np.random.Generator
    ) -> None:
        question = QUESTIONS[name]
        reports = self.honest(question, rng)
        LEDGER.add(ALPHA)
        assert not self.strange(question, reports)
        reports[:800] = reports[0]
        LEDGER.add(1e-12)
        assert self.strange(question, reports)

    def test_liars_in_one_group_are_seen(self, rng: np.random.Generator) -> None:
        question = QUESTIONS["prefixes-strings"]
        reports = self.honest(question, rng)
        fake = crafted_reports(question.fields[0].parameters, Answer(string_key("abc")), 800, rng)
        reports[:800] = np.frombuffer(fake, dtype=reports.dtype)
        LEDGER.add(1e-12)
        assert self.strange(question, reports)


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_attacker_does_better_than_epsilon_allows(name: str) -> None:
    LEDGER.add(2e-10)
    attacks = audit_attack(survey(QUESTIONS[name]), devices=800, alpha=1e-10)
    assert attacks.audit.holds, attacks.audit.failures


def test_all_parts_of_n_grams_tell_more_than_the_whole(rng: np.random.Generator) -> None:
    parameters = QUESTIONS["ngrams-strings"].fields[0].parameters
    assert isinstance(parameters, NGramsParameters)
    every, one = (right_guesses(p, 1, True, 8_000, rng) for p in (parameters, parameters.whole))
    assert every > one + 0.05


@pytest.mark.parametrize("name", QUESTIONS)
def test_plans_and_words(name: str) -> None:
    (field,) = QUESTIONS[name].fields
    setting = Setting(50_000, 1.0, field.domain, listed=100)
    found = predict(field.parameters, setting)
    mechanism = mechanism_of(field, False)
    least = float(mechanism.variance(50_000, 0.0)) ** 0.5
    assert least <= found.rare_error < 3 * least
    assert found.words == mechanism.zero().table.size
    sentences = " ".join(how(field))
    assert "%" in sentences
    assert field.parameters.mechanism not in sentences
