"""Questions: digests, records and answers of one or several fields."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.errors import InvalidAnswer, InvalidReport
from deniable.protocol import (
    ABSENT,
    Boolean,
    Categories,
    Domain,
    Field,
    KRRParameters,
    Numbers,
    Question,
    RapporParameters,
    Strings,
)
from deniable.protocol.question import is_candidate_path


def _krr(domain: Domain, absent: bool = False, **wanted: float) -> KRRParameters:
    return resolve(KRRParameters, wanted or {"epsilon": 1.0}, domain, absent)


def _rappor(domain: Domain, absent: bool = False, **wanted: float) -> RapporParameters:
    return resolve(RapporParameters, wanted or {"epsilon": 1.0}, domain, absent)


def _question(*fields: Field, send: str = "recorded", repeat: str = "once") -> Question:
    return Question("q", 1, "Why?", "owner", date(2030, 1, 1), 1, repeat, send, fields)


PLAIN = _question(Field("value", Boolean(), _krr(Boolean())))


def _several(send: str) -> Question:
    absent = send == "always"
    return _question(
        Field("dark", Boolean(), _krr(Boolean(), absent)),
        Field("browser", Strings(), _rappor(Strings(), k=13, m=7, epsilon=1)),
        Field("age", Numbers(("18", "65")), _rappor(Numbers(("18", "65")), absent)),
        send=send,
    )


WHOLE = {"dark": True, "browser": "firefox", "age": 30}


def _reason(question: Question, value: object) -> str:
    with pytest.raises(InvalidAnswer) as caught:
        question.answers(value)
    assert caught.value.__context__ is None
    return caught.value.reason


def test_a_plain_question_takes_the_value_itself() -> None:
    assert PLAIN.plain
    assert [answer.code for answer in PLAIN.answers(True)] == [1]
    assert _reason(PLAIN, {"value": True}) == "type"
    assert _reason(PLAIN, ABSENT) == "type"


def test_one_field_of_another_name_is_not_plain() -> None:
    named = _question(Field("answer", Boolean(), _krr(Boolean())))
    assert not named.plain
    assert [answer.code for answer in named.answers({"answer": True})] == [1]
    assert _reason(named, True) == "type"


def test_several_fields_take_a_mapping() -> None:
    question = _several("recorded")
    answers = question.answers(WHOLE)
    assert [answer.code for answer in answers] == [1, -1, 1]
    assert answers == question.answers(dict(reversed(WHOLE.items())))
    assert answers[1].key == b"sfirefox"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (True, "type"),
        (None, "type"),
        ([True, "firefox", 30], "type"),
        (ABSENT, "type"),
        ({}, "missing_field"),
        ({"dark": True, "age": 1}, "missing_field"),
        ({**WHOLE, "colour": 1}, "unknown_field"),
        ({"dark": True, "age": 1, "colour": 1}, "unknown_field"),
        ({**WHOLE, 3: 4}, "unknown_field"),
        ({**WHOLE, "age": "30"}, "type"),
        ({**WHOLE, "age": ABSENT}, "type"),
        ({**WHOLE, "browser": "\ud800"}, "bad_unicode"),
    ],
    ids=str,
)
def test_mappings_that_are_refused(value: Any, reason: str) -> None:
    assert _reason(_several("recorded"), value) == reason


def test_where_a_report_is_always_sent_what_is_missing_is_absent() -> None:
    question = _several("always")
    assert question.absent
    some = question.answers({"browser": "firefox"})
    assert [answer.code for answer in some] == [2, -1, 3]
    assert [answer.key for answer in some] == [b"a", b"sfirefox", b"a"]
    for nothing in (ABSENT, {}):
        assert [answer.key for answer in question.answers(nothing)] == [b"a"] * 3
    assert question.answers({"dark": ABSENT, "age": ABSENT}) == question.answers({})
    plain = _question(Field("value", Strings(), _rappor(Strings())), send="always")
    assert [(answer.key, answer.code) for answer in plain.answers(ABSENT)] == [(b"a", -1)]


def test_an_absent_answer_is_not_the_string_a() -> None:
    question = _several("always")
    assert question.answers({"browser": "a"})[1] != question.answers({})[1]
    assert repr(ABSENT) == "ABSENT"


def test_records_are_those_of_the_fields_in_order() -> None:
    question = _several("recorded")
    sizes = [4, 4, 3]
    assert question.record_size == sum(sizes)
    record = b"\x01\0\0\0" + b"\x06\0\xff\x1f" + b"\0\0\x07"
    assert question.split_record(record) == [record[:4], record[4:8], record[8:]]
    question.check_record(record)


@pytest.mark.parametrize(
    "record",
    [
        "",
        "01000000" + "0600ff1f" + "0000",
        "01000000" + "0600ff1f" + "00000700",
        "02000000" + "0600ff1f" + "000007",
        "01000000" + "0700ff1f" + "000007",
        "01000000" + "0600ff3f" + "000007",
        "01000000" + "0600ff1f" + "010007",
        "01000000" + "0600ff1f" + "000008",
    ],
)
def test_records_that_no_client_could_have_sent(record: str) -> None:
    with pytest.raises(InvalidReport) as caught:
        _several("recorded").check_record(bytes.fromhex(record))
    assert caught.value.reason == "record"


@given(st.binary(max_size=14))
def test_any_bytes_are_a_record_or_refused(record: bytes) -> None:
    question = _several("recorded")
    if len(record) != question.record_size:
        with pytest.raises(InvalidReport):
            question.split_record(record)
    else:
        assert b"".join(question.split_record(record)) == record


def test_the_digest_leaves_out_what_may_be_corrected() -> None:
    field = PLAIN.fields[0]
    for same in (
        replace(PLAIN, description="x"),
        replace(PLAIN, owner="x"),
        replace(PLAIN, expires=date(2031, 1, 1)),
        replace(PLAIN, fields=(replace(field, candidates="x.txt"),)),
    ):
        assert same.digest == PLAIN.digest
    others = [
        replace(PLAIN, id="r"),
        replace(PLAIN, version=2),
        replace(PLAIN, epoch=7),
        replace(PLAIN, repeat="epoch"),
        replace(PLAIN, send="always"),
        replace(PLAIN, fields=(replace(field, name="x"),)),
        replace(PLAIN, fields=(replace(field, domain=Categories(("a", "b"))),)),
        replace(PLAIN, fields=(replace(field, parameters=_krr(Boolean(), epsilon=2)),)),
        replace(PLAIN, fields=(field, replace(field, name="x"))),
    ]
    assert len({PLAIN.digest, *(other.digest for other in others)}) == 1 + len(others)
    assert len(PLAIN.digest) == 32


def test_epsilons_of_fields_add_up() -> None:
    question = _several("recorded")
    once = sum(field.parameters.epsilon_once for field in question.fields)
    assert question.epsilon_once == once == 3_000_000
    assert question.epsilon_forever == once, "one report is all that is ever made"


def test_without_a_permanent_response_every_report_costs() -> None:
    assert replace(PLAIN, repeat="epoch").epsilon_forever is None
    memoised = Field("value", Boolean(), _krr(Boolean(), epsilon=1, epsilon_forever=3))
    assert _question(memoised, repeat="epoch").epsilon_forever == 3_000_000
    assert _question(memoised, repeat="once").epsilon_forever == 1_000_000
    mixed = _question(memoised, replace(PLAIN.fields[0], name="x"), repeat="epoch")
    assert mixed.epsilon_forever is None
    assert mixed.epsilon_once == 2_000_000


@pytest.mark.parametrize("name", ["a", "a.txt", "lists/a.txt", "..a", "a..b/c", "é"])
def test_candidates_below_the_folder(name: str) -> None:
    assert is_candidate_path(name)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "/a", "../a", "a/../b", "./a", "a//b", "a/", "a\\b", "C:a", "C:/a", "a\0"],
    ids=repr,
)
def test_candidates_elsewhere(name: str) -> None:
    assert not is_candidate_path(name)
