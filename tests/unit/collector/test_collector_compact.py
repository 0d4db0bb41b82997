"""The compact form: small, admitted by the same rules as JSON, and never trusted."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.collector.admission import Admission, Admitted
from deniable.collector.problems import Refused
from deniable.collector.reading import split_batch
from deniable.errors import InvalidReport
from deniable.protocol import Question, Report
from deniable.protocol.compact import MAGIC, MEDIA_TYPE, in_groups, read_compact
from deniable.protocol.compact import compact_bytes as perhaps_compact
from deniable.protocol.epochs import day_of
from deniable.protocol.report import batch_bytes
from deniable.protocol.segments import Segment
from deniable.store import SqliteStore
from material.collector import (
    EXPIRES,
    JSON,
    SURVEY,
    TODAY,
    InProcess,
    body,
    collector,
    report,
)

RULES = Admission(SURVEY, past_days=30, future_days=1)
COMPACT = {**JSON, "content-type": MEDIA_TYPE}
PAGE = {**JSON, "content-type": "text/plain;charset=UTF-8"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "data" / "s") as store:
        yield store


@pytest.fixture
def app(tmp_path: Path, store: SqliteStore) -> Iterator[InProcess]:
    with collector(tmp_path, store) as app:
        yield app


def compact_bytes(reports: list[Report], asked: Question | None = None) -> bytes:
    data = perhaps_compact(reports, asked)
    assert data is not None
    return data


def admitted(data: bytes, today: int = TODAY) -> Admitted:
    return RULES.admit(RULES.split_packed(data, 1_000), today)


def test_a_batch_of_a_hundred_takes_at_most_35_bytes_for_a_record_of_four() -> None:
    for days in (1, 20, 100):  # also where each report is of an epoch of its own
        reports = in_groups([report(n, epoch=TODAY - n % days) for n in range(100)])
        assert len(reports[0].record) == 4
        assert len(compact_bytes(reports)) / 100 <= 35
    assert len(batch_bytes(reports)) / 100 > 180


def test_a_single_report_takes_at_most_80_bytes() -> None:
    assert len(compact_bytes([report(1)])) == 69
    wide = replace(report(1), record=bytes(15))
    assert len(compact_bytes([wide])) == 80


@pytest.mark.parametrize("name", ["colour", "words", "pair"])
def test_reports_come_through_as_in_json(name: str) -> None:
    reports = in_groups([report(n, name, epoch=report(0, name).epoch - n % 2) for n in range(5)])
    assert admitted(compact_bytes(reports)).reports == reports
    assert RULES.admit(split_batch(body(*reports), 10), TODAY).reports == reports


@pytest.mark.parametrize(
    "changes",
    [
        {"epoch": TODAY + 2},
        {"epoch": TODAY - 31},
        {"epoch": day_of(EXPIRES) + 1},
        {"epoch": 2**31 - 1},
        {"record": b"\x03\0\0\0"},
        {"record": b"\xff\xff\xff\xff"},
    ],
)
def test_each_rule_has_the_reason_that_it_has_in_json(changes: dict[str, Any]) -> None:
    reports = [report(1), report(2, **changes)]
    packed = admitted(compact_bytes(in_groups(reports)))
    json = RULES.admit(split_batch(body(*reports), 10), TODAY)
    assert packed.reports == json.reports == reports[:1]
    assert packed.refusals == json.refusals
    assert packed.refusals[0].index == 1


def test_an_unknown_digest_is_a_reason_to_wait_for_every_report() -> None:
    reports = [report(n, digest=bytes(32)) for n in range(3)]
    refusals = admitted(compact_bytes(reports)).refusals
    assert [(r.index, r.question, r.reason.value) for r in refusals] == [
        (n, "", "unknown_question") for n in range(3)
    ]
    assert not refusals[0].reason.final


def test_a_digest_finds_its_version() -> None:
    second = report(1, of_version=2)
    assert admitted(compact_bytes([second])).reports == [second]


def test_segments_that_the_survey_has_not_are_waited_for() -> None:
    data = bytearray(compact_bytes([report(1)]))
    data[46] = 0
    (refusal,) = admitted(bytes(data)).refusals
    assert (refusal.reason.value, refusal.reason.final) == ("segments", False)


def test_segments_come_through_and_another_numbering_refuses_the_request() -> None:
    declared = Segment("platform", ("linux", "mac"))
    asked = replace(SURVEY.questions[0], segments=(declared,))
    rules = Admission(replace(SURVEY, questions=(asked,)), past_days=30, future_days=1)
    reports = [report(n, segments=text) for n, text in enumerate(asked.combinations)]
    data = compact_bytes(reports, asked)
    assert rules.admit(rules.split_packed(data, 10), TODAY).reports == reports
    newer = replace(asked, segments=(Segment("platform", ("bsd", "linux", "mac")),))
    with pytest.raises(Refused) as caught:
        rules.split_packed(compact_bytes(reports, newer), 10)
    assert caught.value.status_code == 400
    assert perhaps_compact(reports, None) is None  # such a batch goes as JSON


@pytest.mark.parametrize("size", [0, 3, 5])
def test_records_of_another_size_refuse_the_request_and_no_report(size: int) -> None:
    with pytest.raises(Refused) as caught:
        admitted(compact_bytes([report(1, record=bytes(size))]))
    assert (caught.value.problem.reason, caught.value.status_code) == ("body", 400)


def test_over_http_a_batch_is_stored_once(app: InProcess, store: SqliteStore) -> None:
    data = compact_bytes([report(1), report(2)])
    for expected in ((2, 0), (0, 2)):
        answer = app.post(data, headers=COMPACT).json
        assert (answer["accepted"], answer["duplicates"]) == expected
    again = app.post(body(report(2), report(3))).json  # the same report in the other form
    assert (again["accepted"], again["duplicates"]) == (1, 1)
    assert sum(tally.reports for tally in store.tallies()) == 3


def test_a_long_batch_is_admitted_in_turn(app: InProcess) -> None:
    data = compact_bytes([report(n) for n in range(1_000)])
    assert app.post(data, headers=COMPACT).json["accepted"] == 1_000
    refused = app.post(compact_bytes([report(n) for n in range(1_001)]), headers=COMPACT)
    assert (refused.status, refused.json["reason"]) == (413, "batch_size")


@pytest.mark.parametrize(
    ("status", "reason", "headers", "sent"),
    [
        (400, "body", COMPACT, body(report(1))),
        (400, "body", JSON, compact_bytes([report(1)])),
        (400, "body", COMPACT, b""),
        (415, "media_type", {**JSON, "content-type": f"{MEDIA_TYPE}; charset=utf-8"}, b""),
        (415, "encoding", {**COMPACT, "content-encoding": "gzip"}, compact_bytes([report(1)])),
    ],
)
def test_requests_are_refused_with_a_reason(
    app: InProcess, status: int, reason: str, headers: dict[str, str], sent: bytes
) -> None:
    answer = app.post(sent, headers=headers)
    assert (answer.status, answer.json["reason"]) == (status, reason)


def test_json_as_text_is_admitted_where_pages_may_send(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store, cors=True) as app:
        assert app.post(body(report(1)), headers=PAGE).json["accepted"] == 1
        bare = app.post(body(report(2)), headers={**PAGE, "content-type": "text/plain"})
        assert (bare.status, bare.json["reason"]) == (415, "media_type")
    with collector(tmp_path, store, cors=False) as app:
        # A browser asks no permission for this type, so that nothing else would keep pages out.
        assert app.post(body(report(3)), headers=PAGE).status == 415


GOOD = compact_bytes(in_groups([report(n, epoch=TODAY - n % 3) for n in range(7)]))


@settings(max_examples=500)
@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    for body_bytes in (data, MAGIC + data, GOOD[:42] + data):
        try:
            packed = read_compact(body_bytes)
        except InvalidReport:
            continue
        assert len(list(packed.rows())) == packed.reports
        assert sum(reports for _, _, reports in packed.groups) == packed.reports


@settings(max_examples=500)
@given(
    st.lists(
        st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 2), st.binary(max_size=2)),
        min_size=1,
        max_size=4,
    )
)
def test_a_spoilt_batch_is_refused_or_admitted_by_the_rules(
    changes: list[tuple[int, int, bytes]],
) -> None:
    data = bytearray(GOOD)
    for place, cut, new in changes:
        data[place : place + cut] = new
    try:
        result = admitted(bytes(data))
    except Refused:
        return
    for taken in result.reports:
        RULES.check(taken, TODAY)
        assert Report.from_json(taken.as_json()) == taken


def test_what_is_announced_takes_no_memory() -> None:
    head = MAGIC + bytes(36) + struct.pack("<H", 60_000)
    groups = b"".join(struct.pack("<IBH", n, 255, 65_535) for n in range(60_000))
    with pytest.raises(InvalidReport):  # 4 billion reports in 420 kB
        read_compact(head + groups + bytes(100))
