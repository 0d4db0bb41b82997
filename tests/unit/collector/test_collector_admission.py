from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.collector.admission import Admission
from deniable.collector.problems import Refused
from deniable.collector.reading import read_report, split_batch
from deniable.collector.reasons import REPORT_REASONS, Reason
from deniable.errors import InvalidReport
from deniable.protocol import Report
from deniable.protocol.compact import compact_bytes
from deniable.protocol.epochs import day_of, days_of
from material.collector import EXPIRES, SURVEY, TODAY, body, colour, question, report

RULES = Admission(SURVEY, past_days=30, future_days=1)
WEEK = TODAY // 7


def reason(item: Report, today: int = TODAY) -> str | None:
    """Return why a report is refused, None if it is taken."""
    admitted = RULES.admit(split_batch(body(item), 10), today)
    return admitted.refusals[0].reason.value if admitted.refusals else None


@pytest.mark.parametrize("name", ["colour", "words", "pair"])
def test_good_reports_are_admitted_as_they_are(name: str) -> None:
    good = report(1, name)
    assert RULES.admit(split_batch(body(good), 10), TODAY).reports == [good]


@pytest.mark.parametrize(
    ("expected", "name", "changes"),
    [
        ("unknown_question", "colour", {"question": "nobody"}),
        ("unknown_version", "colour", {"version": 3}),
        ("digest", "colour", {"digest": bytes(32)}),
        ("digest", "colour", {"version": 2}),
        ("record", "colour", {"record": b""}),
        ("record", "colour", {"record": b"\0\0\0"}),
        ("record", "colour", {"record": b"\0\0\0\0\0"}),
        ("record", "colour", {"record": b"\x03\0\0\0"}),
        ("record", "words", {"record": b"\x04\0\0\0"}),
        ("record", "words", {"record": b"\0\0\0\x10"}),
        ("record", "pair", {"record": b"\0\0\x01\0\x02\0\0\0"}),
        ("record", "pair", {"record": b"\0\0\x01\x80\x01\0\0\0"}),
        ("schema", "colour", {"question": "Not An Id"}),
        ("schema", "colour", {"id": b"short"}),
        ("schema", "colour", {"epoch": -1}),
        ("schema", "colour", {"epoch": 2**31}),
        ("schema", "colour", {"version": 0}),
    ],
)
def test_each_rule_has_its_reason(expected: str, name: str, changes: dict[str, Any]) -> None:
    assert reason(report(1, name, **changes)) == expected


@pytest.mark.parametrize(
    ("name", "epoch", "expected"),
    [
        ("colour", TODAY - 31, "too_late"),
        ("colour", TODAY - 30, None),
        ("colour", TODAY + 1, None),
        ("colour", TODAY + 2, "too_early"),
        ("colour", 0, "too_late"),
        ("colour", 2**31 - 1, "expired"),
        ("pair", (TODAY - 30) // 7, None),
        ("pair", (TODAY - 30) // 7 - 1, "too_late"),
        ("pair", (TODAY + 1) // 7, None),
    ],
)
def test_epochs_are_taken_from_thirty_days_ago_until_tomorrow(
    name: str, epoch: int, expected: str | None
) -> None:
    assert reason(report(1, name, epoch=epoch)) == expected


@pytest.mark.parametrize("name", ["colour", "pair"])
def test_every_day_of_an_epoch_counts(name: str) -> None:
    """Against the slow obvious twin: ask each day of the epoch whether it is near enough."""
    length = 7 if name == "pair" else 1
    for epoch in range((TODAY - 60) // length, (TODAY + 5) // length + 1):
        days = range(epoch * length, (epoch + 1) * length)
        taken = any(TODAY - 30 <= day <= TODAY + 1 for day in days)
        assert (reason(report(1, name, epoch=epoch)) is None) == taken


def test_a_question_is_taken_until_the_epoch_of_its_last_day() -> None:
    last = day_of(EXPIRES)
    assert reason(report(1, epoch=last), today=last + 10) is None
    assert reason(report(1, epoch=last + 1), today=last + 10) == "expired"
    assert reason(report(1, "pair", epoch=last // 7), today=last + 10) is None
    assert reason(report(1, "pair", epoch=last // 7 + 1), today=last + 10) == "expired"


def test_one_bad_report_does_not_spoil_the_others() -> None:
    items = [report(1), {"question": 1}, report(2), None, report(3, digest=bytes(32))]
    admitted = RULES.admit(split_batch(body(*items), 10), TODAY)
    assert admitted.reports == [report(1), report(2)]
    seen = [(r.index, r.question, r.reason) for r in admitted.refusals]
    assert seen == [(1, "", Reason.SCHEMA), (3, "", Reason.SCHEMA), (4, "colour", Reason.DIGEST)]


def test_counters_are_named_after_questions_of_the_survey_only() -> None:
    items = [report(n, question=f"stranger{n}") for n in range(5)]
    admitted = RULES.admit(split_batch(body(*items), 10), TODAY)
    assert {r.question for r in admitted.refusals} == {""}


def test_refusals_never_quote_the_record_or_the_id() -> None:
    for changes in ({"record": b"\x7f" * 4}, {"digest": bytes(32)}, {"epoch": 5}, {"version": 9}):
        bad = report(1, **changes)
        (refusal,) = RULES.admit(split_batch(body(bad), 10), TODAY).refusals
        assert str(bad.as_json()["record"]) not in refusal.detail
        assert bad.id.hex() not in refusal.detail


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"reports": null}',
        b'{"reports": {}}',
        b'{"reports": [], "more": 1}',
        b'{"reports": [{}]} x',
        b'{"reports": [{}]',
        b'{"reports": [NaN]}',
        b'{"reports": [{"question": "\\ud800"}]}',
        b'\xef\xbb\xbf{"reports": [{}]}',
        b'{"\xff": []}',
        b"\x00" * 100,
    ],
)
def test_what_is_not_a_batch_is_refused_whole(bad: bytes) -> None:
    with pytest.raises(Refused) as caught:
        split_batch(bad, 10)
    assert caught.value.problem.reason is Reason.BODY


@pytest.mark.parametrize(("count", "status"), [(0, 400), (11, 413)])
def test_batches_have_a_size(count: int, status: int) -> None:
    with pytest.raises(Refused) as caught:
        split_batch(body(*[{}] * count), 10)
    assert (caught.value.problem.reason, caught.value.status_code) == (Reason.BATCH_SIZE, status)


@pytest.mark.parametrize("depth", [1, 10, 500, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_is_refused_however_deep(depth: int, opening: bytes, closing: bytes) -> None:
    nested = b'{"reports":[' + opening * depth + b"1" + closing * depth + b"]}"
    assert reason_of_body(nested) == (Reason.BODY if depth > 10_000 else Reason.SCHEMA)


def reason_of_body(data: bytes) -> Reason:
    """Return the one reason why a body is refused, whole or its only report."""
    try:
        items = split_batch(data, 10)
    except Refused as refused:
        return refused.problem.reason
    (refusal,) = RULES.admit(items, TODAY).refusals
    return refusal.reason


def test_every_reason_has_a_status_and_a_meaning() -> None:
    for each in Reason:
        assert 400 <= each.status < 600
        assert each.meaning.endswith(".")
    assert len({each.meaning for each in Reason}) == len(Reason)
    assert all(each.status < 500 for each in REPORT_REASONS)


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
json_values = st.recursive(
    scalars.filter(lambda v: not isinstance(v, str) or v.isprintable() or v.isascii()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
good_members = st.fixed_dictionaries(
    {
        "question": st.from_regex(r"[a-z][a-z0-9_.-]{0,10}", fullmatch=True),
        "version": st.integers(1, 2**31 - 1),
        "digest": st.binary(min_size=32, max_size=32).map(bytes.hex),
        "epoch": st.integers(0, 2**31 - 1),
        "id": st.binary(min_size=16, max_size=16).map(bytes.hex),
        "record": st.binary(max_size=9).map(
            lambda b: Report("q", 1, b, 0, b, b).as_json()["record"]
        ),
    }
)
near_reports = st.tuples(
    good_members, st.dictionaries(st.sampled_from([*report().as_json()]), json_values, max_size=1)
).map(lambda both: {**both[0], **both[1]})


@given(near_reports | json_values)
def test_reports_are_read_exactly_as_the_protocol_reads_them(data: object) -> None:
    """Twin: the standard library's JSON and Report.from_json."""
    text = json.dumps(data)
    if "\\ud" in text:
        return  # escaped surrogates: unpaired ones are not Unicode, and refuse the whole body
    try:
        expected: Report | str = Report.from_json(json.loads(text))
    except InvalidReport as error:
        expected = error.reason
    try:
        found: Report | str = read_report(msgspec.Raw(text.encode()))
    except InvalidReport as error:
        found = error.reason
    assert found == expected


own_reports = st.tuples(
    st.sampled_from(["colour", "words", "pair"]).map(lambda name: report(1, name).as_json()),
    st.dictionaries(
        st.sampled_from([*report().as_json(), "segments"]),
        json_values
        | st.sampled_from([TODAY - 31, TODAY + 2, "AwAAAA", "AgAAAA", "AgAAAAA", {"a": "b"}])
        | st.binary(min_size=4, max_size=4).map(
            lambda b: Report("q", 1, b, 0, b, b).as_json()["id"]
        ),
        max_size=1,
    ),
).map(lambda both: {**both[0], **both[1]})


@given(own_reports)
def test_reports_that_are_taken_at_once_break_no_rule(data: dict[str, Any]) -> None:
    """Twin: the rules one by one, over the same report as JSON that is still to be read."""
    text = json.dumps(data)
    if "\\ud" in text:
        return
    found = RULES.admit(split_batch(f'{{"reports": [{text}]}}'.encode(), 10), TODAY)
    assert found == RULES.admit([msgspec.Raw(text.encode())], TODAY)


@given(good_members)
def test_good_reports_of_any_content_are_read(data: dict[str, Any]) -> None:
    assert read_report(msgspec.Raw(json.dumps(data).encode())).as_json() == data


def test_earlier_versions_and_withdrawn_questions_are_admitted_until_they_expire() -> None:
    later = replace(
        SURVEY,
        questions=(question("colour", colour(), version=3),),
        earlier=tuple(sorted(SURVEY.questions, key=lambda q: (q.id, q.version))),
    )
    rules = Admission(later, past_days=30, future_days=1)
    for name, version in (("colour", 1), ("colour", 2), ("words", 1), ("pair", 1)):
        rules.check(report(1, name, version), TODAY)
        assert rules.epoch_days[name, version] == SURVEY.question(name, version).epoch  # type: ignore[union-attr]
    last = day_of(EXPIRES)
    rules.check(report(1, epoch=last), last)
    with pytest.raises(InvalidReport) as caught:
        rules.check(report(1, epoch=last + 1), last + 1)
    assert caught.value.reason == "expired"
    without = Admission(replace(later, earlier=()), past_days=30, future_days=1)
    for name, reason in (("colour", "unknown_version"), ("words", "unknown_question")):
        with pytest.raises(InvalidReport) as caught:
            without.check(report(1, name), TODAY)
        assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("own", "whole", "days"), [(None, None, 30), (5, None, 5), (5, 3, 5), (None, 3, 3), (90, 3, 30)]
)
def test_no_report_is_taken_that_should_be_gone(
    own: int | None, whole: int | None, days: int
) -> None:
    first, *others = SURVEY.questions
    asked = (replace(first, retention_days=own), *others)
    survey = replace(SURVEY, questions=asked, retention_days=whole)
    rules = Admission(survey, past_days=30, future_days=1)
    for past in (days, days + 1):
        item = report(past, epoch=TODAY - past)
        admitted = rules.admit(split_batch(body(item), 10), TODAY)
        packed = rules.admit(rules.split_packed(compact_bytes([item]) or b"", 10), TODAY)
        assert admitted.reports == packed.reports == ([item] if past == days else [])
        found = [refusal.reason.value for refusal in (*admitted.refusals, *packed.refusals)]
        assert found == ([] if past == days else ["too_late"] * 2)
    refusal = admitted.refusals[0]
    assert f"accepted until {days} days after their end" in refusal.detail


def test_the_rule_of_a_version_is_its_own() -> None:
    day = TODAY - 8  # in a week that ended at least a day ago
    kept = [replace(q, retention_days=q.version * 10) for q in SURVEY.questions]
    rules = Admission(replace(SURVEY, questions=tuple(kept)), past_days=30, future_days=1)
    for version, length in ((1, 1), (2, 7)):
        _, last = days_of(day // length, length)
        item = report(1, of_version=version, epoch=day // length)
        rules.check(item, last + 10 * version)
        with pytest.raises(InvalidReport) as caught:
            rules.check(item, last + 10 * version + 1)
        assert caught.value.reason == "too_late"
