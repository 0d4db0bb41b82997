"""Crafted reports: admitted, worth what leverage says, and sometimes strange to look at."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.audit.attack.crafted import CRAFTED, shifted_estimate
from deniable.audit.attack.detection import (
    advice_finding,
    advise,
    field_records,
    most_equal,
    ones_law,
)
from deniable.audit.reading import reports_of, said
from deniable.crafted.leverage import leverage_of
from deniable.crafted.reports import crafted_reports
from deniable.mechanisms import Rappor, mechanism_for, mechanism_of
from deniable.mechanisms.base import Reports
from deniable.protocol import (
    MECHANISMS,
    PROFILE_MECHANISMS,
    Answer,
    Boolean,
    Question,
    Strings,
    StringSets,
)
from deniable.protocol.channel import Bits
from deniable.protocol.domain import code_key, string_key
from deniable.protocol.unary import UnaryParameters
from deniable.testing.ledger import LEDGER
from material.audits import (
    ONCE,
    PAPER,
    a_field,
    a_question,
    categories,
    large_questions,
    of_fields,
    small_questions,
)

QUESTIONS = {question.id: question for question in (*small_questions(), *large_questions())}
CLOSED = [
    n for n, q in QUESTIONS.items() if not isinstance(q.fields[0].parameters, UnaryParameters)
]
ALPHA = 1e-10


@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_shift_is_what_leverage_allows_and_most_of_it(
    name: str, down: bool, rng: np.random.Generator
) -> None:
    """Seven standard deviations of what the replaced honest reports add by chance are allowed."""
    question = QUESTIONS[name]
    (field,) = question.fields
    found = shifted_estimate(question, field, people=2_000, rng=rng, down=down)
    slack = 7 * found.noise * math.sqrt(2 * CRAFTED)
    LEDGER.add(1e-11)
    assert abs(found.shift) <= found.bound + slack
    worth = leverage_of(field).down + 1 if down else leverage_of(field).up
    most = min(found.bound, CRAFTED * worth)
    towards = -found.shift if down else found.shift
    assert towards >= 0.6 * most - slack


@pytest.mark.parametrize("mechanism", ["rappor", "olh", "hcms"])
def test_sets_of_strings_move_by_what_leverage_allows(
    mechanism: str, rng: np.random.Generator
) -> None:
    """An honest set holds the pushed answer in one of its places, whichever way it is pushed."""
    asked = a_question("programs", StringSets(most=9), mechanism, {"epsilon": 2.0})
    (field,) = asked.fields
    for down in (False, True):
        found = shifted_estimate(asked, field, people=2_000, rng=rng, down=down)
        LEDGER.add(1e-11)
        assert abs(found.shift) <= found.bound + 7 * found.noise * math.sqrt(2 * CRAFTED)
        assert abs(found.honest - down) <= 7 * found.noise


def test_every_mechanism_is_attacked() -> None:
    """Records and found strings have files of their own: poison_records, discovery."""
    attacked = {q.fields[0].parameters.mechanism for q in QUESTIONS.values()}
    assert attacked | {*PROFILE_MECHANISMS, "prefixes", "ngrams"} == set(MECHANISMS)


@pytest.mark.parametrize("name", CLOSED)
def test_crafted_records_support_their_target(name: str, rng: np.random.Generator) -> None:
    (field,) = QUESTIONS[name].fields
    parameters = field.parameters
    target = Answer(string_key("x")) if field.domain.size is None else Answer(code_key(1), 1)
    size = parameters.layout.size
    data = crafted_reports(parameters, target, 50, rng)
    records = [data[i : i + size] for i in range(0, len(data), size)]
    (up,) = said(parameters.channel, target, reports_of(parameters, records))
    assert up.supported() == 50
    data = crafted_reports(parameters, target, 50, rng, down=True)
    records = [data[i : i + size] for i in range(0, len(data), size)]
    (down,) = said(parameters.channel, target, reports_of(parameters, records))
    assert down.supported() == 0


def test_hidden_reports_have_as_many_ones_as_honest_ones(rng: np.random.Generator) -> None:
    parameters = a_field("value", Strings(), "rappor", PAPER).parameters
    target = Answer(string_key("x"))
    plain, hidden = (
        crafted_reports(parameters, target, 200, rng, hidden=hidden) for hidden in (False, True)
    )
    ones = [int.from_bytes(data, "little").bit_count() / 200 for data in (plain, hidden)]
    assert ones[0] < 12
    assert ones[1] == pytest.approx(128 * 9 / 16, abs=6)


class TestAdvice:
    def honest(self, question: Question, rng: np.random.Generator, n: int = 5_000) -> Reports:
        (field,) = question.fields
        mechanism = mechanism_of(field, question.absent)
        strings = ["a", "b"] if field.domain.size is None else None
        return mechanism.simulate(rng.integers(0, 2, size=n), rng, strings)

    def strange(self, question: Question, reports: Reports) -> bool:
        looks = advise(question.fields[0].parameters, reports)
        numbers = advice_finding("q", looks, len(reports), ALPHA).numbers
        return bool(numbers.get("strange"))

    @pytest.mark.parametrize(
        "question",
        [
            a_question("paper", Strings(), "rappor", PAPER),
            a_question("oue", categories(20), "oue", ONCE),
            a_question("olh", Strings(), "olh", ONCE),
            a_question("hadamard", categories(20), "hadamard", ONCE),
            a_question("hcms", Strings(), "hcms", ONCE),
            a_question("orr", Strings(), "orr", ONCE),
            a_question("pgr", Strings(), "pgr", ONCE),
        ],
        ids=lambda question: question.id,
    )
    def test_honest_reports_pass_and_copies_do_not(
        self, question: Question, rng: np.random.Generator
    ) -> None:
        reports = self.honest(question, rng)
        LEDGER.add(ALPHA)
        assert not self.strange(question, reports)
        reports[:500] = reports[0]
        LEDGER.add(1e-12)
        assert self.strange(question, reports)

    def test_exactly_the_bits_of_a_target_are_seen(self, rng: np.random.Generator) -> None:
        question = a_question("paper", Strings(), "rappor", PAPER)
        reports = self.honest(question, rng)
        fake = crafted_reports(question.fields[0].parameters, Answer(string_key("x")), 100, rng)
        reports[:100] = np.frombuffer(fake, dtype=reports.dtype)
        LEDGER.add(1e-12)
        assert self.strange(question, reports)

    def test_hidden_ones_pass(self, rng: np.random.Generator) -> None:
        """Advice is no proof: this attack cannot be seen."""
        question = a_question("paper", Strings(), "rappor", PAPER)
        reports = self.honest(question, rng)
        target = Answer(string_key("x"))
        fake = crafted_reports(question.fields[0].parameters, target, 250, rng, hidden=True)
        reports[:250] = np.frombuffer(fake, dtype=reports.dtype)
        LEDGER.add(1e-6 * ALPHA)
        assert not self.strange(question, reports)

    def test_few_reports_and_small_alphabets_give_no_hold(self, rng: np.random.Generator) -> None:
        few = a_question("olh", Strings(), "olh", ONCE)
        assert advise(few.fields[0].parameters, self.honest(few, rng, 900)) == []
        small = a_question("krr", categories(3), "krr", ONCE)
        assert advise(small.fields[0].parameters, self.honest(small, rng)) == []
        assert advice_finding("q", [], 5).words.startswith("nothing to look at")

    def test_the_law_of_ones(self, rng: np.random.Generator) -> None:
        """Against the sum over all pairs of bits that two hash functions can hit."""
        parameters = Rappor(bits=4, hashes=2, cohorts=2, f=0.5, p=0.5, q=0.75).parameters
        rest = parameters.channel.typical
        assert isinstance(rest, Bits)
        law = ones_law(rest)
        expected = np.zeros(5)
        for a in range(4):
            for b in range(4):
                chances = [11 / 16 if i in (a, b) else 9 / 16 for i in range(4)]
                part = np.array([1.0])
                for chance in chances:
                    part = np.convolve(part, [1 - chance, chance])
                expected += part / 16
        assert law == pytest.approx(expected)

    def test_equal_records_are_no_likelier_than_said(self, rng: np.random.Generator) -> None:
        parameters = mechanism_for(a_field("v", Boolean(), "rappor", ONCE).parameters).parameters
        assert most_equal(parameters) <= 1
        paper = a_field("v", Strings(), "rappor", PAPER).parameters
        assert most_equal(paper) == pytest.approx(
            (130 / 256) ** 126 * (146 / 256) ** 2 / 16, rel=1e-9
        )

    def test_fields_are_taken_apart(self) -> None:
        question = of_fields(
            "two",
            a_field("a", categories(3), "krr", ONCE),
            a_field("b", Strings(), "olh", ONCE),
        )
        data = (5).to_bytes(4, "little") + (7).to_bytes(4, "little") + (2).to_bytes(2, "little")
        first, second = field_records(question, 3 * data)
        assert first["symbol"].tolist() == [5, 5, 5]
        assert second["seed"].tolist() == [7, 7, 7]
        assert second["symbol"].tolist() == [2, 2, 2]
