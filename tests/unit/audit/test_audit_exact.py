"""Proofs of every epsilon from the shipped encoders, small and large."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.audit.answers import every_answer, some_answers
from deniable.audit.exact import proofs
from deniable.audit.exact.bits import read_bits
from deniable.audit.exact.proofs import FOREVER, audit_exact, prove_field
from deniable.client.encoders.base import Draws
from deniable.client.encoders.krr import KRREncoder
from deniable.client.encoders.olh import OLHEncoder
from deniable.client.encoders.subset import SubsetEncoder
from deniable.errors import InvalidParameter
from deniable.protocol import (
    MECHANISMS,
    Answer,
    Boolean,
    OLHParameters,
    Question,
    RapporParameters,
    Sets,
    Strings,
)
from deniable.protocol.thresholds import ONE
from material.audits import (
    ONCE,
    PAPER,
    RESPONSE,
    TWO_STAGES,
    a_field,
    a_question,
    categories,
    found_strings,
    large_profiles,
    large_questions,
    of_fields,
    small_profiles,
    small_questions,
    survey,
)

SMALL = (*small_questions(), *small_profiles())
QUESTIONS = {
    question.id: question
    for question in (*SMALL, *large_questions(), *large_profiles(), *found_strings())
}


def proven_of(question: Question) -> list[proofs.Proven]:
    return prove_field(question, question.fields[0], np.random.default_rng(1))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_promise_is_true_and_the_smallest_that_is(name: str) -> None:
    for proven in proven_of(QUESTIONS[name]):
        assert proven.holds, proven
        assert proven.proof.tight, proven.proof


def test_every_mechanism_is_here() -> None:
    """A mechanism that surveys may name and that has no proof fails here."""
    proven = {question.fields[0].parameters.mechanism for question in QUESTIONS.values()}
    assert proven == set(MECHANISMS)


@pytest.mark.parametrize("question", SMALL, ids=lambda question: question.id)
def test_the_structure_says_what_enumeration_says(question: Question) -> None:
    (field,) = question.fields
    direct = proofs._direct(field, question.absent)
    structural = proofs._structural(field, question.absent, np.random.default_rng(2))
    claims = [proofs.ONCE]
    if field.parameters.memoised and question.repeat == "epoch":
        claims.append(FOREVER)
    if direct is None:
        assert field.parameters.mechanism in (
            "hcms",
            "olh",
            "inp_olh",
        )  # too many rows, too many seeds
        claims = []
    for claim in claims:
        assert direct is not None
        assert direct(claim)[0] == structural(claim)[0]


def test_the_arguments_are_said() -> None:
    named = ("krr-3", "paper", "olh-strings", "hcms-200", "subset-200", "many-set-drawn")
    said = {name: proven_of(QUESTIONS[name])[0].argument for name in named}
    assert said["krr-3"] == "every draw enumerated, for each of 3 answers"
    assert said["paper"].startswith("per bit, given the cohort: each of 128 bits")
    assert said["olh-strings"].startswith("per symbol, given the seed")
    assert said["hcms-200"].startswith("per symbol, given the row and the coefficient")
    assert said["subset-200"].startswith("Floyd's algorithm")
    assert said["many-set-drawn"].startswith("One of a set's places is drawn uniformly")


def test_the_numbers_of_the_paper() -> None:
    once, forever = proven_of(QUESTIONS["paper"])
    assert once.proof.worst == Fraction(77, 45) ** 2  # (11/16 * 7/16) / (9/16 * 5/16), twice
    assert forever.proof.worst == 3**4
    assert (once.proof.micros, forever.proof.micros) == (1_074_286, 4_394_450)


def test_an_audit_names_every_field_and_adds_them_up() -> None:
    asked = of_fields(
        "two",
        a_field("colour", categories(3), "krr", ONCE),
        a_field("page", Strings(), "olh", {"epsilon": 0.5}),
    )
    audit = audit_exact(survey(asked, a_question("one", Boolean(), "krr", ONCE)))
    assert audit.holds
    assert [(f.about, f.check) for f in audit.findings] == [
        ("source", "no float decides a coin"),
        ("two.colour", "epsilon of one report"),
        ("two.page", "epsilon of one report"),
        ("two", "epsilon of one report"),
        ("one", "epsilon of one report"),
    ]
    whole = audit.findings[3].numbers
    assert whole["epsilon"] == pytest.approx(1.5)
    assert whole["worst_ratio"] == pytest.approx(np.exp(1.5), rel=1e-5)
    ratio = Fraction(int(str(whole["worst_numerator"])), int(str(whole["worst_denominator"])))
    assert float(ratio) == whole["worst_ratio"]


def test_a_permanent_question_promises_no_more_than_one_report() -> None:
    claims = [proven.claim for proven in proven_of(QUESTIONS["warner"])]
    assert claims == [proofs.ONCE]


class TestBits:
    def test_the_laws_are_the_chain(self, rng: np.random.Generator) -> None:
        field = a_question("q", Strings(), "rappor", PAPER).fields[0]
        answer = some_answers(field, False)[0]
        parameters = field.parameters
        assert isinstance(parameters, RapporParameters)
        held = set(parameters.places(answer, 3))
        for place, law in enumerate(read_bits(field, answer, (3,), rng)[0]):
            assert law.chance == (Fraction(11, 16) if place in held else Fraction(9, 16))
            assert law.permanent == (Fraction(3, 4) if place in held else Fraction(1, 4))

    def test_a_fresh_stage_that_does_nothing(self, rng: np.random.Generator) -> None:
        field = a_question("q", Strings(), "rappor", RESPONSE).fields[0]
        laws, _ = read_bits(field, some_answers(field, False)[0], (0,), rng)
        assert {law.chance for law in laws} == {Fraction(3, 4), Fraction(1, 4)}
        assert all(law.permanent == law.chance for law in laws)

    def test_only_mechanisms_with_bits(self, rng: np.random.Generator) -> None:
        field = a_field("value", categories(3), "krr", ONCE)
        with pytest.raises(InvalidParameter, match="proof per bit"):
            read_bits(field, some_answers(field, False)[0], (), rng)


class TestBroken:
    """Encoders that break the argument are not proven."""

    def fails(self, question: Question) -> str:
        (proven, *_) = proven_of(question)
        assert not proven.holds
        return proven.problem

    def test_a_symbol_that_two_outcomes_reach(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: KRREncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            parameters = self._parameters
            symbol = answer.code
            if not fresh.coin(parameters.report_keep):
                symbol = fresh.below(parameters.answers - 1)
            return parameters.layout.pack({"symbol": symbol})

        monkeypatch.setattr(KRREncoder, "encode", encode)
        assert "one record" in self.fails(QUESTIONS["krr-200"])

    def test_a_seed_that_is_not_sent_as_drawn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: OLHEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            parameters: OLHParameters = self._parameters
            seed = fresh.below(parameters.seeds)
            symbol = int(fresh.coin(parameters.keep))
            return parameters.layout.pack({"seed": seed ^ 1, "symbol": symbol})

        monkeypatch.setattr(OLHEncoder, "encode", encode)
        assert "not what was drawn" in self.fails(QUESTIONS["olh-strings"])

    def test_a_subset_that_is_not_uniform(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def encode(
            self: SubsetEncoder, answer: Answer, cohort: Draws, permanent: Draws, fresh: Draws
        ) -> bytes:
            parameters = self._parameters
            fresh.coin(parameters.keep)
            first = fresh.below(parameters.answers)
            members = sum(1 << ((first + i) % parameters.answers) for i in range(parameters.size))
            size = (parameters.answers + 7) // 8
            return parameters.layout.pack({"bits": members.to_bytes(size, "little")})

        monkeypatch.setattr(SubsetEncoder, "encode", encode)
        assert "Floyd" in self.fails(QUESTIONS["subset-200"])

    def test_a_permanent_stage_that_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def stage(self: KRREncoder, symbol: int, keep: int, draws: Draws) -> int:
            return symbol

        monkeypatch.setattr(KRREncoder, "_stage", stage)
        for name in ("krr-permanent-3", "krr-permanent-30"):
            assert not any(proven.holds for proven in proven_of(QUESTIONS[name]))

    def test_a_keep_that_is_too_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = KRREncoder._stage

        def stage(self: KRREncoder, symbol: int, keep: int, draws: Draws) -> int:
            return right(self, symbol, min(ONE, keep + ONE // 10**6), draws)

        monkeypatch.setattr(KRREncoder, "_stage", stage)
        for name in ("krr-3", "krr-200"):
            (proven,) = proven_of(QUESTIONS[name])
            assert not proven.holds
            assert (proven.proof.micros or 0) > 1_000_000


class TestAnswers:
    def test_all_of_a_small_domain(self) -> None:
        field = a_field("value", categories(3), "krr", ONCE)
        assert len(every_answer(field, True, 4) or ()) == 4
        assert every_answer(field, True, 3) is None
        assert every_answer(a_field("value", Strings(), "olh", ONCE), False, 99) is None

    def test_all_sets(self) -> None:
        field = a_field("value", Sets(("a", "b", "c"), 2), "krr", TWO_STAGES)
        answers = every_answer(field, False, 7) or []
        assert sorted(answer.members for answer in answers) == [
            (),
            (0,),
            (0, 1),
            (0, 2),
            (1,),
            (1, 2),
            (2,),
        ]
