"""Attackers: curves against closed forms, bounds that hold, and charts."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable.audit.attack import linking
from deniable.audit.attack.attackers import WINDOWS, audit_attack
from deniable.audit.attack.averaging import bound, epsilon_of_window, favours, right_guesses
from deniable.audit.attack.charts import attack_charts, save_charts
from deniable.audit.attack.linking import chance_equal, linkable
from deniable.client.encoders import encoder_for
from deniable.privacy import report_channel
from deniable.protocol import (
    Answer,
    Boolean,
    NGramsParameters,
    PrefixesParameters,
    Question,
    Strings,
)
from deniable.protocol.channel import Bits
from deniable.protocol.domain import code_key
from deniable.testing.ledger import LEDGER
from deniable.testing.statistics import accept, proportion, reject
from material.audits import (
    ONCE,
    PAPER,
    RESPONSE,
    TWO_STAGES,
    a_question,
    about_profiles,
    categories,
    found_strings,
    large_questions,
    small_questions,
    survey,
)

QUESTIONS = {question.id: question for question in (*small_questions(), *large_questions())}
EVERY = [*QUESTIONS.values(), *found_strings(), *about_profiles((2, 2, 2))]
PAPER_QUESTION = a_question("paper", Strings(), "rappor", PAPER)


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_attacker_does_better_than_epsilon_allows(name: str) -> None:
    LEDGER.add(2e-10)
    attacks = audit_attack(survey(QUESTIONS[name]), devices=1_000, alpha=1e-10)
    assert attacks.audit.holds, attacks.audit.failures
    checks = [finding.check for finding in attacks.audit.findings]
    assert checks == [
        "three attackers",
        "averaging",
        "targeting",
        "linking and change",
        "crafted reports",
    ]
    json.dumps(attacks.as_json(), allow_nan=False)


class TestAveraging:
    def test_warner_is_right_as_often_as_it_keeps(self, rng: np.random.Generator) -> None:
        parameters = a_question("q", Boolean(), "krr", ONCE).fields[0].parameters
        right = round(20_000 * right_guesses(parameters, 1, True, 20_000, rng))
        accept(proportion(right, 20_000, math.e / (1 + math.e)), 1e-9)
        reject(proportion(right, 20_000, 0.5), 1e-9, miss=1e-12)

    @pytest.mark.parametrize("name", ["krr-3", "hadamard-3", "subset-3", "orr-3", "pgr-3"])
    def test_favours_is_the_exact_channel(self, name: str) -> None:
        """What speaks for one of two answers, summed over all records."""
        (field,) = QUESTIONS[name].fields
        answers = [Answer(code_key(code), code) for code in (0, 1)]
        channel = report_channel(encoder_for(field.parameters), answers)
        one, other = (channel[answer] for answer in answers)
        mine = sum(p for record, p in one.items() if p > other.get(record, 0))
        theirs = sum(p for record, p in one.items() if p < other.get(record, 0))
        assert favours(field.parameters) == pytest.approx((float(mine), float(theirs)), rel=1e-5)

    def test_without_permanence_the_value_comes_out(self, rng: np.random.Generator) -> None:
        (field,) = PAPER_QUESTION.fields
        kept = right_guesses(field.parameters, 90, True, 2_000, rng)
        fresh = right_guesses(field.parameters, 90, False, 2_000, rng)
        # 84% and 99%: 20 standard deviations apart
        LEDGER.add(1e-12)
        assert kept < 0.9 < 0.97 < fresh

    def test_a_response_alone_says_the_same_for_ever(self, rng: np.random.Generator) -> None:
        parameters = a_question("q", Strings(), "rappor", RESPONSE).fields[0].parameters
        one, many = (right_guesses(parameters, n, True, 4_000, rng) for n in (1, 50))
        LEDGER.add(1e-9)
        assert abs(one - many) < 0.05

    def test_windows(self) -> None:
        (field,) = PAPER_QUESTION.fields
        window = [epsilon_of_window(PAPER_QUESTION, field.parameters, n) for n in (1, 7, 30)]
        assert [round(micros / 1e6, 2) for micros in window] == [1.07, 4.07, 4.39]
        once = a_question("q", Strings(), "olh", ONCE)
        assert epsilon_of_window(once, once.fields[0].parameters, 30) == 1_000_000

    def test_bound(self) -> None:
        assert bound(0) == 0.5
        assert bound(1_000_000) == pytest.approx(math.e / (1 + math.e))
        assert bound(10**12) == pytest.approx(1)


class TestLinking:
    def link(self, question: Question, n: int, rng: np.random.Generator) -> float:
        return linkable(question, question.fields[0].parameters, n, 1_000, rng).area

    def test_more_reports_link_better(self, rng: np.random.Generator) -> None:
        LEDGER.add(1e-12)
        one, seven = (self.link(PAPER_QUESTION, n, rng) for n in (1, 7))
        assert 0.55 < one < 0.75 < 0.95 < seven

    def test_a_response_alone_is_known_again(self, rng: np.random.Generator) -> None:
        question = a_question("q", Strings(), "rappor", {**RESPONSE, "k": 128})
        assert self.link(question, 1, rng) > 0.999

    def test_what_cannot_be_linked(self, rng: np.random.Generator) -> None:
        once = a_question("q", Strings(), "olh", ONCE)
        fresh = a_question("q", Strings(), "olh", ONCE, repeat="epoch")
        assert self.link(once, 7, rng) == self.link(fresh, 7, rng) == 0.5

    def test_permanent_reports_are_equal(self, rng: np.random.Generator) -> None:
        question = a_question("q", categories(4), "krr", ONCE, repeat="permanent")
        assert self.link(question, 1, rng) == pytest.approx(1 - 1 / 8)
        assert chance_equal(a_question("q", Strings(), "olh", ONCE).fields[0].parameters) < 1e-9

    @pytest.mark.parametrize("question", EVERY, ids=lambda question: question.id)
    def test_permanent_reports_of_every_kind_link(
        self, question: Question, rng: np.random.Generator
    ) -> None:
        """And a change of value shows, but for what two reports have in common by chance."""
        asked = replace(question, repeat="permanent")
        equal = chance_equal(question.fields[0].parameters)
        assert 0 < equal < 0.7  # one bit is often the same
        for n in (1, 7):
            assert self.link(asked, n, rng) == pytest.approx(1 - equal / 2)

    def test_chance_of_equal_reports_of_strings_that_are_found(self) -> None:
        prefixes, ngrams = (
            next(q.fields[0].parameters for q in found_strings() if q.id == name)
            for name in ("prefixes-small", "ngrams-two")
        )
        assert isinstance(prefixes, PrefixesParameters)
        assert chance_equal(prefixes) == 1 / prefixes.oracle.points
        assert isinstance(ngrams, NGramsParameters)
        bit = [float(shape.p_star) for shape in (ngrams.whole, ngrams.gram, ngrams.gram)]
        every = math.prod((p * p + (1 - p) ** 2) ** 16 for p in bit)
        assert chance_equal(ngrams) == pytest.approx(every)

    def test_krr(self, rng: np.random.Generator) -> None:
        wanted: dict[str, object] = {"epsilon": 4.0, "epsilon_forever": 5.0}
        question = a_question("q", categories(20), "krr", wanted)
        LEDGER.add(1e-12)
        assert self.link(question, 4, rng) > 0.95

    def test_two_different_devices_are_not_linked(self, rng: np.random.Generator) -> None:
        """The negative control: scores of two different pairs are alike."""
        parameters = PAPER_QUESTION.fields[0].parameters
        stages = parameters.channel.typical.stages
        assert stages is not None
        first, then = stages
        assert isinstance(first, Bits)
        assert isinstance(then, Bits)
        _, one = linking._bits(first, then, 7, 2_000, rng)
        _, other = linking._bits(first, then, 7, 2_000, rng)
        LEDGER.add(1e-9)
        assert abs(linking._compared(one, other).area - 0.5) < 0.06


class TestCharts:
    def test_files(self, tmp_path: Path) -> None:
        (attacked,) = audit_attack(survey(PAPER_QUESTION), devices=500).fields
        files = save_charts(attacked, tmp_path)
        assert sorted(path.name for path in files) == [
            "paper-averaging.png",
            "paper-averaging.svg",
            "paper-linking.png",
            "paper-linking.svg",
            "paper-posterior.png",
            "paper-posterior.svg",
        ]
        assert all(path.stat().st_size > 5_000 for path in files)

    def test_lines(self) -> None:
        question = a_question("q", categories(3), "oue", TWO_STAGES)
        (attacked,) = audit_attack(survey(question), devices=500).fields
        drawn = attack_charts(attacked)["averaging"].to_dict()
        assert len(drawn["data"]["values"]) == 3 * len(WINDOWS)
        assert {"holds it: 0 of 1", "holds it: 1 of 1", "wrongly targeted"} <= {
            row["line"] for row in attack_charts(attacked)["posterior"].to_dict()["data"]["values"]
        }
