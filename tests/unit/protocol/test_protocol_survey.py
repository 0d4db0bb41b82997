"""The published survey: written once, read exactly, anything else refused."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol import (
    Boolean,
    Categories,
    Domain,
    Field,
    KRRParameters,
    Numbers,
    Question,
    RapporParameters,
    Strings,
    Survey,
)
from deniable.protocol.question import FIELD_NAME, QUESTION_ID
from deniable.protocol.survey import MAX_SURVEY_BYTES

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
domains = st.one_of(
    st.just(Boolean()),
    st.just(Strings()),
    st.integers(2, 9).map(lambda n: Categories(tuple(f"é{i}" for i in range(n)))),
    st.integers(1, 9).map(lambda n: Numbers(tuple(str(i / 4) for i in range(n)))),
)


@st.composite
def fields(draw: st.DrawFn, name: str, absent: bool) -> Field:
    domain: Domain = draw(domains)
    wanted = draw(st.sampled_from([{"epsilon": 1.5}, {"epsilon": 0.7, "epsilon_forever": 3.0}]))
    kind = RapporParameters if domain.size is None or draw(st.booleans()) else KRRParameters
    candidates = draw(st.sampled_from(["", "a.txt", "lists/b.txt"]))
    return Field(name, domain, resolve(kind, wanted, domain, absent), candidates)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    send = draw(st.sampled_from(["recorded", "always"]))
    names = draw(st.lists(st.from_regex(FIELD_NAME, fullmatch=True), min_size=1, max_size=3))
    return Question(
        id=draw(st.from_regex(QUESTION_ID, fullmatch=True)),
        version=draw(st.integers(1, 2**31 - 1)),
        description=draw(texts),
        owner=draw(texts),
        expires=draw(st.dates()),
        epoch=draw(st.integers(1, 366)),
        repeat=draw(st.sampled_from(["once", "epoch"])),
        send=send,
        fields=tuple(draw(fields(name, send == "always")) for name in dict.fromkeys(names)),
    )


surveys = st.builds(
    Survey,
    texts,
    texts,
    st.lists(questions(), min_size=1, max_size=3, unique_by=lambda q: (q.id, q.version)).map(tuple),
)


@given(surveys)
def test_what_is_published_is_read_back_the_same(survey: Survey) -> None:
    data = survey.published()
    again = Survey.from_published(data)
    assert again == survey
    assert again.published() == data
    assert [q.digest for q in again.questions] == [q.digest for q in survey.questions]


def _example() -> Survey:
    domain = Categories(("a", "b", "c"))
    field = Field("value", domain, resolve(KRRParameters, {"epsilon": 1}, domain, False))
    old, new = (
        Question("q", version, "Why?", "o", date(2030, 1, 1), 1, "once", "recorded", (field,))
        for version in (1, 2)
    )
    return Survey("n", "o", (new, old))


def test_a_question_is_found_by_id_the_newest_version_first() -> None:
    survey = _example()
    newest, first = survey.questions
    assert survey.question("q") is newest
    assert survey.question("q", 1) is first
    assert survey.question("q", 3) is None
    assert survey.question("other") is None


def test_it_is_canonical_and_spaces_do_not_matter() -> None:
    data = _example().published()
    assert b" " not in data.replace(b"Why?", b"")
    pretty = json.dumps(json.loads(data), indent=4) + "\n"
    assert Survey.from_published(pretty.encode()).published() == data


def test_load(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_bytes(_example().published())
    assert Survey.load(tmp_path / "survey.json") == _example()
    with pytest.raises(FileNotFoundError):
        Survey.load(tmp_path / "none.json")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
json_values = st.recursive(
    scalars | st.sampled_from(["boolean", "krr", "rappor", "18446744073709551616"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def _read(data: bytes) -> Survey | InvalidSurvey:
    try:
        return Survey.from_published(data)
    except InvalidSurvey as error:
        return error


@given(st.binary(max_size=50) | json_values.map(lambda value: json.dumps(value).encode()))
def test_arbitrary_bytes_and_json_are_refused(data: bytes) -> None:
    assert isinstance(_read(data), InvalidSurvey)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path] + [place for key, item in inner for place in _places(item, (*path, key))]


EXAMPLE = json.loads(_example().published())


@given(st.sampled_from(_places(EXAMPLE)[1:]), json_values)
def test_a_survey_with_any_member_replaced_is_refused_or_read_exactly(
    place: tuple[Any, ...], value: Any
) -> None:
    changed = json.loads(json.dumps(EXAMPLE))
    target = changed
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    read = _read(json.dumps(changed).encode())
    if isinstance(read, Survey):
        assert json.loads(read.published()) == changed
        assert Survey.from_published(read.published()) == read


@given(st.integers(0, len(_example().published()) - 1))
def test_a_truncated_survey_is_refused(length: int) -> None:
    assert isinstance(_read(_example().published()[:length]), InvalidSurvey)


def test_a_survey_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(InvalidSurvey, match="16,777,216 bytes"):
        Survey.from_published(b" " * (MAX_SURVEY_BYTES + 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"deniable":1', '"deniable":1.0', "Canonical JSON"),
        ('"deniable":1', '"deniable":true', "Canonical JSON"),
        ('"deniable":1', '"deniable":2', "upgrade"),
        ('"version":2', '"version":1', "same id and version"),
        ('"name":"n"', '"name":"n","name":"n"', "twice"),
        ('"2030-01-01"', '"20300101"', "expires"),
        ('"2030-01-01"', '"2030-W01-1"', "expires"),
        ('"2030-01-01"', '"2030-02-30"', "expires"),
        ('"candidates":""', '"candidates":"../x"', "candidates"),
        ('"owner":"o"', '"owner":"\\ud800"', "surrogate"),
        ('"answers":3', '"answers":4', "as many answers"),
        ('"mechanism":"krr"', '"mechanism":"rappor"', "rappor has"),
        ('"epoch":1', '"epoch":367', "from 1 to 366"),
    ],
)
def test_what_is_refused(old: str, new: str, message: str) -> None:
    text = _example().published().decode()
    assert old in text
    with pytest.raises(InvalidSurvey, match=message):
        Survey.from_published(text.replace(old, new, 1).encode())


def test_limits_on_lists() -> None:
    survey = json.loads(_example().published())
    question = survey["questions"][0]
    many = [{**question, "version": version} for version in range(1, 1002)]
    for count, good in ((0, False), (1, True), (1000, True), (1001, False)):
        data = json.dumps({**survey, "questions": many[:count]}).encode()
        assert isinstance(_read(data), Survey) == good
    field = question["fields"][0]
    parts = [{**field, "name": f"f{i}"} for i in range(65)]
    for count, good in ((0, False), (1, True), (64, True), (65, False)):
        data = json.dumps({**survey, "questions": [{**question, "fields": parts[:count]}]}).encode()
        assert isinstance(_read(data), Survey) == good


def test_a_refusal_carries_its_problems() -> None:
    with pytest.raises(InvalidSurvey) as caught:
        Survey.from_published(b"{}")
    assert len(caught.value.problems) == 1
    assert isinstance(caught.value.problems[0], InvalidParameter)


def test_a_newer_format_is_named_before_members_that_are_not_known() -> None:
    text = _example().published().decode()
    newer = text.replace('"deniable":1', '"deniable":2,"invented":1')
    with pytest.raises(InvalidSurvey, match="upgrade deniable"):
        Survey.from_published(newer.encode())
