"""The wire: a real client passes, and everything it must not send is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from deniable.audit.wire.bytes_sent import audit_wire, capture
from deniable.audit.wire.captured_requests import (
    Captured,
    Exchange,
    batch_of,
    sent_reports,
)
from deniable.audit.wire.checks import findings
from deniable.audit.wire.made_up_values import two_answers, two_values
from deniable.protocol import Boolean, Numbers, Report, Sets, Strings, batch_bytes
from deniable.protocol.compact import compact_bytes, in_groups
from material.audits import (
    ONCE,
    PAPER,
    TWO_STAGES,
    a_field,
    a_question,
    categories,
    of_fields,
    survey,
)

SURVEY = survey(
    a_question("once", Boolean(), "krr", ONCE),
    a_question("page", Strings(), "rappor", PAPER),
    a_question("always", categories(4), "oue", TWO_STAGES, send="always"),
    of_fields(
        "several",
        a_field("memory", Numbers(("1", "10")), "krr", ONCE),
        a_field("names", Sets(("a", "b", "c"), 2), "krr", ONCE),
        repeat="permanent",
    ),
)
CHECKS = [
    "something was sent",
    "no identifier or cookie in a header",
    "no identifier in a report",
    "one size",
    "no time stamp",
    "random ids",
    "one report per epoch",
    "bit-identical retries",
    "nothing counts twice",
]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    return capture(SURVEY, tmp_path_factory.mktemp("wire"))


def test_real_clients_pass(captured: Captured) -> None:
    found = list(findings(captured))
    assert [finding.check for finding in found] == CHECKS
    assert [finding.words for finding in found if not finding.holds] == []


def test_the_whole_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "1")  # speaks for the person here, not for invented ones
    audit = audit_wire(survey(a_question("once", Boolean(), "krr", ONCE)))
    assert audit.holds, audit.failures
    assert len(audit.findings) == len(CHECKS)


def test_uploads_were_dropped_and_lost_and_sent_again(captured: Captured) -> None:
    fates = [exchange.fate for exchange in captured.exchanges]
    assert fates.count("dropped") == fates.count("lost") == 6
    assert captured.duplicates > 0
    reports = sent_reports(captured)
    assert len(reports) > len({report.id for _, report in reports}) == captured.accepted
    assert {report.question for _, report in reports} == {"once", "page", "always", "several"}


Change = Callable[[Exchange], Exchange]


def add_header(line: bytes) -> Change:
    return lambda exchange: replace(exchange, head=exchange.head + b"\r\n" + line)


def in_reports(change: Callable[[Report], dict[str, object]]) -> Change:
    """Change members of every report of an upload."""

    def changed(exchange: Exchange) -> Exchange:
        reports = batch_of(exchange, SURVEY)
        assert reports is not None
        wrong = in_groups([replace(report, **change(report)) for report in reports])
        body = compact_bytes(wrong)
        assert body is not None
        return replace(exchange, body=body)

    return changed


def stamped(exchange: Exchange) -> Exchange:
    now = str(int(datetime.now(UTC).timestamp())).encode()
    return replace(exchange, head=exchange.head.replace(b"POST /v1", b"POST /" + now))


BAD: dict[str, tuple[str, Change]] = {
    "a cookie": ("no identifier or cookie in a header", add_header(b"Cookie: id=7")),
    "a header that differs": (
        "no identifier or cookie in a header",
        lambda e: replace(e, head=e.head.replace(b"client/1", b"client/1 " + e.sender.encode())),
    ),
    "a byte": ("one size", lambda e: replace(e, body=e.body + b"x")),
    "JSON": (
        "no identifier in a report",
        lambda e: replace(e, body=batch_bytes(batch_of(e, SURVEY) or ())),
    ),
    "a digest of its own": (
        "no identifier in a report",
        in_reports(lambda _: {"digest": b"\xab" * 32}),
    ),
    "another body": ("no identifier in a report", lambda e: replace(e, body=b"[]")),
    "a size that varies": (
        "one size",
        lambda e: (
            in_reports(lambda r: {"record": r.record + b"\0\0\0"})(e) if e.sender == "first" else e
        ),
    ),
    "a date": ("no time stamp", add_header(b"Date: 2026-03-02")),
    "seconds": ("no time stamp", stamped),
    "ids with a constant byte": (
        "random ids",
        in_reports(lambda r: {"id": b"\x07" + r.id[1:]}),
    ),
    "ids that count": (
        "random ids",
        in_reports(lambda r: {"id": b"\x1f" * 8 + r.id[8:]}),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_must_not_be_sent_is_seen(captured: Captured, name: str) -> None:
    check, change = BAD[name]
    wrong = replace(captured, exchanges=[change(one) for one in captured.exchanges])
    failed = {finding.check for finding in findings(wrong) if not finding.holds}
    assert check in failed


def test_a_time_in_bytes_is_seen(captured: Captured) -> None:
    stamp = in_reports(lambda _: {"epoch": int(captured.times[0].timestamp())})
    wrong = replace(captured, exchanges=[stamp(one) for one in captured.exchanges])
    assert "no time stamp" in {finding.check for finding in findings(wrong) if not finding.holds}


def test_a_second_report_in_an_epoch_is_seen(captured: Captured) -> None:
    first = captured.exchanges[-1]
    other = in_reports(lambda _: {"id": b"\x00\xff" * 8})(first)
    wrong = replace(captured, exchanges=[*captured.exchanges, other])
    failed = {finding.check for finding in findings(wrong) if not finding.holds}
    assert {"one report per epoch", "nothing counts twice"} <= failed


def test_a_retry_that_differs_and_one_that_is_missing_are_seen(captured: Captured) -> None:
    lost = next(one for one in captured.exchanges if one.fate == "lost")
    again = in_reports(lambda _: {"epoch": 1})(lost)
    changed = replace(captured, exchanges=[*captured.exchanges, again])
    never = replace(captured, exchanges=[one for one in captured.exchanges if one.fate == "lost"])
    for wrong in (changed, never):
        failed = {finding.check for finding in findings(wrong) if not finding.holds}
        assert "bit-identical retries" in failed


def test_nothing_sent_is_no_proof() -> None:
    silent = Captured(SURVEY, (), (), 0, 0)
    found = {finding.check: finding.holds for finding in findings(silent)}
    assert not found["something was sent"]
    assert not found["bit-identical retries"]


def test_two_values_differ_and_belong_to_their_domain() -> None:
    for question in SURVEY.questions:
        one, other = two_answers(question)
        assert question.answers(one) != question.answers(other)
    text = [two_values(field) for field in SURVEY.questions[1].fields]
    assert len(str(text[0][0])) < len(str(text[0][1]))
