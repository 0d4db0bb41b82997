"""The client's encoders reproduce the records of the reference bit for bit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deniable.client.encode import cohort_draws, encode, one_member, permanent_draws, tag
from deniable.client.randomness import StreamDraws
from deniable.protocol import Question, Sets, StringSets
from deniable.protocol.prf import Stream
from material.vectors import RECORD_FILES, load, question_of, value_of

RECORDS = [case for name in RECORD_FILES for case in load(name)]


def _name(case: dict[str, Any]) -> str:
    return f"{case['name']}-{case['record'][:8]}"


def _encoded(case: dict[str, Any], question: Question) -> bytes:
    fresh = StreamDraws(Stream(bytes.fromhex(case["fresh_key"])))
    return encode(question, value_of(case["value"]), bytes.fromhex(case["secret"]), fresh)


@pytest.mark.parametrize("case", RECORDS, ids=_name)
def test_records(case: dict[str, Any]) -> None:
    question = question_of(case["question"])
    record = _encoded(case, question)
    assert record.hex() == case["record"]
    question.check_record(record)


@pytest.mark.parametrize("case", RECORDS, ids=_name)
def test_keys_and_tags(case: dict[str, Any]) -> None:
    question, secret = question_of(case["question"]), bytes.fromhex(case["secret"])
    answers = question.answers(value_of(case["value"]))
    for field, answer, step in zip(question.fields, answers, case["fields"], strict=True):
        assert answer.key.hex() == step["key"]
        assert tag(secret, question, field, answer).hex() == step["tag"]


@pytest.mark.parametrize("case", RECORDS, ids=_name)
def test_the_permanent_response(case: dict[str, Any]) -> None:
    """With an identity as fresh stage, but the keys of the case, a record is the response."""
    question, secret = question_of(case["question"]), bytes.fromhex(case["secret"])
    for field, answer, step in zip(
        question.fields, question.answers(value_of(case["value"])), case["fields"], strict=True
    ):
        permanent = permanent_draws(secret, question, field, answer)
        if isinstance(field.domain, Sets | StringSets):
            if not field.parameters.memoised:
                continue  # the member is drawn afresh: there is no permanent response to it
            answer = one_member(field, answer, permanent)
        if field.parameters.mechanism == "rappor":
            bits, shown = step["true_bits"], bytes.fromhex(step["permanent"])
            assert (
                cohort_draws(secret, question, field).below(field.parameters.cohorts)
                == (step["cohort"])
            )
            one, zero = field.parameters.permanent_one, field.parameters.permanent_zero
            for i in range(field.parameters.bits):
                coin = permanent.coin(one if i in bits else zero)
                assert coin == bool(shown[i // 8] >> (i % 8) & 1)
        elif field.parameters.mechanism == "krr":
            kept = permanent.coin(field.parameters.permanent_keep)
            assert kept == (step["permanent"] == answer.code)


@pytest.mark.parametrize("case", load("prf.json")["draws"], ids=lambda case: case["key"][:8])
def test_draws(case: dict[str, Any]) -> None:
    stream = Stream(bytes.fromhex(case["key"]))
    draws = StreamDraws(stream)
    for draw in case["draws"]:
        if "coin" in draw:
            assert draws.coin(int(draw["coin"])) == bool(draw["result"]), draw
        else:
            assert draws.below(draw["below"]) == draw["result"], draw
    assert str(stream.word()) == case["next_word"]


def test_two_spellings_of_one_string_share_their_permanent_response() -> None:
    composed, decomposed = (
        next(case for case in RECORDS if case["name"] == f"bloom, {form}")
        for form in ("composed", "decomposed")
    )
    assert composed["fields"][0]["key"] == decomposed["fields"][0]["key"]
    swapped = {**decomposed, "secret": composed["secret"], "fresh_key": composed["fresh_key"]}
    assert _encoded(swapped, question_of(composed["question"])).hex() == composed["record"]


def test_the_vectors_reach_every_branch() -> None:
    """Negative control of the set: moved and kept symbols, both bits, absent, several fields."""
    krr = [step for case in load("krr.json") for step in case["fields"] if "symbol" in step]
    assert {step["symbol"] == step["permanent"] for step in krr} == {True, False}
    assert any(len(case["fields"]) == 3 for case in RECORDS)
    assert '"61"' in json.dumps(RECORDS), "no absent answer"
    assert any(case["question"]["fields"][0]["parameters"].get("bits") == 1 for case in RECORDS)
