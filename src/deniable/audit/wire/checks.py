"""The checks of captured requests: one finding each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from deniable._words import plural
from deniable.audit.findings import Finding
from deniable.audit.hypotheses import proportion
from deniable.audit.wire.captured_requests import Captured, Exchange, batch_of, sent_reports
from deniable.protocol.canonical import canonical

HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
)
"""The only headers that a client may send; `host` names the collector."""

_TIME = re.compile(rb"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")
_SHARED_BYTES = 8
_ENOUGH = 6
_UNLIKELY = 1e-9


def findings(captured: Captured) -> Iterator[Finding]:
    """Yield every finding about the captured requests."""
    yield from (_sent(captured), _headers(captured), _members(captured))
    yield from (_sizes(captured), _times(captured), _ids(captured))
    yield from (_one_per_epoch(captured), _retries(captured), _counted(captured))


def _finding(check: str, problems: list[str], good: str) -> Finding:
    words = "; ".join(dict.fromkeys(problems)) if problems else good
    return Finding("the wire", check, not problems, words)


def _sent(captured: Captured) -> Finding:
    reports = len(sent_reports(captured))
    problems = [] if reports else ["the clients sent no report at all"]
    words = (
        f"recorded {plural(len(captured.exchanges), 'request')} with {plural(reports, 'report')}"
    )
    return _finding("something was sent", problems, words)


def _headers(captured: Captured) -> Finding:
    values: defaultdict[str, set[str]] = defaultdict(set)
    for exchange in captured.exchanges:
        for name, value in exchange.headers:
            values[name].add(value)
        values["request line"].add(exchange.head.split(b"\r\n")[0].decode("latin-1"))
    problems = [f"the header {name} is sent" for name in values.keys() - HEADERS - {"request line"}]
    problems += [
        f"the {name} differs between requests"
        for name, seen in values.items()
        if len(seen) > 1 and name not in ("content-length",)
    ]
    good = f"the same headers in every request: {', '.join(sorted(values.keys() & HEADERS))}"
    return _finding("no identifier or cookie in a header", sorted(problems), good)


def _members(captured: Captured) -> Finding:
    combinations = {q.digest: q.combinations for q in captured.survey.known}
    problems = []
    for exchange in captured.exchanges:
        reports = batch_of(exchange, captured.survey) or ()
        if not reports:
            problems.append("a body holds more than reports to one question")
        for report in reports:
            if report.digest not in combinations:
                problems.append("a digest is none of the survey's")
            elif report.segments not in combinations[report.digest]:
                problems.append(f"a report to {report.question} has segments of its own")
    good = (
        "every request has one question's digest and declared segments; only these, the level's "
        "digest, ids and records differ between devices"
    )
    return _finding("no identifier in a report", problems, good)


def _sizes(captured: Captured) -> Finding:
    sizes = {question.digest: question.record_size for question in captured.survey.known}
    problems = [
        f"a record of {report.question} has {len(report.record)} bytes"
        for _, report in sent_reports(captured)
        if len(report.record) != sizes.get(report.digest, len(report.record))
    ]
    return _finding(
        "one size", problems, "the reports to a question have one size, whatever the value"
    )


def _times(captured: Captured) -> Finding:
    """Search for the time in any form: text, digits, or bytes of seconds and milliseconds."""
    marks: set[bytes] = set()
    for moment in captured.times:
        seconds = int(moment.timestamp())
        for number in (seconds, seconds * 1000):
            # All but the last digits, so that a time some seconds or minutes off is seen too.
            marks |= {str(number)[:-3].encode(), f"{number:x}"[:-1].encode()}
            raw = number.to_bytes((number.bit_length() + 7) // 8, "big")[:-1]
            marks |= {raw, raw[::-1]}
    problems = []
    for exchange in captured.exchanges:
        data = _without_random(exchange, captured)
        if _TIME.search(data):
            problems.append("a request holds a date or a time of day")
        if any(mark in data for mark in marks):
            problems.append("a request holds the time in seconds or milliseconds")
    good = "no date, time of day or time stamp; the epoch's number is all that tells the time"
    return _finding("no time stamp", problems, good)


def _without_random(exchange: Exchange, captured: Captured) -> bytes:
    """Return a request without digest, ids and records, in which chance writes anything."""
    reports = batch_of(exchange, captured.survey)
    if reports is None:
        return exchange.head + b"\n" + exchange.body
    random = sum(len(report.id) + len(report.record) for report in reports)
    body = exchange.body[:-random].replace(reports[0].digest, b"")
    return exchange.head + b"\n" + body


def _ids(captured: Captured) -> Finding:
    """Search ids for a clock, a counter or a device: constant bytes, and shared beginnings.

    Random ids fail with probability 16 * 256^-5 for 6 of them, far less for more.
    """
    ids = sorted({report.id for _, report in sent_reports(captured)})
    ones = sum(int.from_bytes(one, "little").bit_count() for one in ids)
    problems = []
    if any(a[:_SHARED_BYTES] == b[:_SHARED_BYTES] for a, b in pairwise(ids)):
        problems.append("two ids begin alike")
    if len(ids) >= _ENOUGH and any(len({one[i] for one in ids}) == 1 for i in range(16)):
        problems.append("a byte is the same in all ids")
    if ids and proportion(ones, 128 * len(ids), 0.5).p_value < _UNLIKELY:
        problems.append("the ids are not random bits")
    return _finding("random ids", problems, f"{len(ids)} ids, all different, of random bits")


def _one_per_epoch(captured: Captured) -> Finding:
    ids: defaultdict[tuple[str, str, int], set[bytes]] = defaultdict(set)
    once = {q.id for q in captured.survey.questions if q.repeat == "once"}
    for exchange, report in sent_reports(captured):
        epoch = -1 if report.question in once else report.epoch
        ids[exchange.sender, report.question, epoch].add(report.id)
    problems = [
        f"{len(seen)} reports to {question} in one epoch"
        for (_, question, _), seen in ids.items()
        if len(seen) > 1
    ]
    good = "one report per question, device and epoch (ever, where it is asked once)"
    return _finding("one report per epoch", problems, good)


def _retries(captured: Captured) -> Finding:
    sent: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for _, report in sent_reports(captured):
        sent[report.id].append(canonical(report.as_json()))
    again = sum(len(copies) > 1 for copies in sent.values())
    problems = []
    if any(len(set(copies)) > 1 for copies in sent.values()):
        problems.append("a report was changed before it was sent again")
    if not again:
        problems.append("nothing was sent again, although uploads failed")
    by_fate = {True: set[bytes](), False: set[bytes]()}
    for exchange, report in sent_reports(captured):
        by_fate[exchange.fate == "answered"].add(report.id)
    lost = by_fate[False] - by_fate[True]
    if lost:
        problems.append(f"{plural(len(lost), 'report')} never arrived, or arrived under another id")
    return _finding(
        "bit-identical retries", problems, f"sent again, bit for bit: {plural(again, 'report')}"
    )


def _counted(captured: Captured) -> Finding:
    ids = {report.id for _, report in sent_reports(captured)}
    problems = []
    if captured.accepted != len(ids):
        problems.append(f"{len(ids)} reports were made, {captured.accepted} were accepted")
    good = f"{captured.accepted} accepted once, {captured.duplicates} duplicates not counted twice"
    return _finding("nothing counts twice", problems, good)
