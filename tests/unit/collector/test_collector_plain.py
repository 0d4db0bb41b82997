"""Plain requests: the HTTP server's own answers are the application's, byte for byte."""

from __future__ import annotations

import asyncio
import re
import select
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from uvicorn.server import ServerState

from deniable.collector import create_app, hash_write_keys, http_plain
from deniable.collector.auth import is_local_name
from deniable.collector.http_plain import PlainHttp
from deniable.collector.load import Load
from deniable.collector.plain import PlainReports
from deniable.collector.problems import Refused
from deniable.collector.serve import server_for
from deniable.collector.web_pages import may_send
from deniable.errors import OutcomeUnknown, StoreError
from deniable.protocol import Report
from deniable.protocol.compact import MEDIA_TYPE as COMPACT
from deniable.protocol.compact import compact_bytes
from deniable.store import SqliteStore
from deniable.store.base import Appended, Counters
from material.both_paths import Served, both, chunked, counted, read_answer, request
from material.collector import SURVEY, TODAY, body, report, settings

SHOP = "https://shop.example"
PAGE = "text/plain;charset=UTF-8"
GOOD = report(1)
OTHER_DIGEST = bytes(32)


def packed(*reports: Report) -> bytes:
    data = compact_bytes(reports)
    assert data is not None
    return data


def raw(text: str, item: Report = GOOD) -> bytes:
    """Return a body whose one report has a part of its text replaced, as `old->new`."""
    old, _, new = text.partition("->")
    data = body(item)
    assert old.encode() in data
    return data.replace(old.encode(), new.encode(), 1)


PLAIN = {
    "one": request(body(GOOD)),
    "again: a duplicate": request(body(GOOD)),
    "two, one known": request(body(GOOD, report(2))),
    "the same twice": request(body(report(3), report(3))),
    "words": request(body(report(4, "words"))),
    "two fields": request(body(report(5, "pair"))),
    "second version": request(body(report(6, of_version=2))),
    "charset": request(body(report(7)), kind='Application/JSON; charset="UTF-8"'),
    "compact": request(packed(report(8), report(9)), kind=COMPACT),
    "compact, known": request(packed(report(8)), kind=COMPACT),
    "compact, other digest": request(packed(report(10, digest=OTHER_DIGEST)), kind=COMPACT),
    "compact, bad record": request(packed(report(11, record=b"\xff\0\0\0")), kind=COMPACT),
    "compact, record size": request(packed(report(11, record=b"\0")), kind=COMPACT),
    "compact, late": request(packed(report(12, epoch=TODAY - 99)), kind=COMPACT),
    "compact, cut": request(packed(report(13))[:-1], kind=COMPACT),
    "schema: no object": request(b'{"reports": [1, null, "x", [[]], {}]}'),
    "schema: a member more": request(raw('"version"->"x": 1, "version"')),
    "schema: a member twice": request(raw('"version"->"epoch": 1, "version"')),
    "schema: float version": request(raw('"version": 1->"version": 1.0')),
    "schema: true version": request(raw('"version": 1->"version": true')),
    "schema: huge epoch": request(raw(f'"epoch": {TODAY}->"epoch": {10**30}')),
    "schema: capitals in id": request(
        body(report(14)).replace(GOOD.id.hex()[:6].encode(), GOOD.id.hex()[:6].upper().encode())
    ),
    "schema: id with a space": request(raw(f"{GOOD.id.hex()}-> {GOOD.id.hex()[1:]}")),
    "schema: id too short": request(raw(f"{GOOD.id.hex()}->{GOOD.id.hex()[2:]}")),
    "schema: padded record": request(raw("AgAAAA->AgAAAA==")),
    "schema: record of base64": request(raw("AgAAAA->A+/AAA")),
    "schema: spare bits": request(raw("AgAAAA->AgAAAB")),
    "schema: long name": request(raw('"colour"->"' + "c" * 99 + '"')),
    "escaped name": request(raw('"colour"->"\\u0063olour"', report(15))),
    "escaped mark": request(raw('"colour"->"col\\"our"', report(15))),
    "segments that are none": request(raw('"version"->"segments": {}, "version"')),
    "segments of another": request(raw('"version"->"segments": {"a": "b"}, "version"')),
    "unknown question": request(body(report(16, question="other"))),
    "unknown version": request(body(report(16, version=9))),
    "digest": request(body(report(16, digest=OTHER_DIGEST))),
    "too late": request(body(report(16, epoch=TODAY - 32))),
    "too early": request(body(report(16, epoch=TODAY + 2))),
    "expired": request(body(report(16, epoch=TODAY + 6))),
    "record": request(body(report(16, record=b"\x03\0\0\0"))),
    "record too long": request(body(report(16, record=b"\x01\0\0\0\0"))),
    "record, padding bits": request(body(report(16, "words", record=b"\x03\0\xff\x1f"))),
    "one good, one bad": request(body(report(17), report(18, version=9), report(19))),
    "no JSON": request(b'{"reports": ['),
    "no UTF-8": request(b'{"reports": ["\xff"]}'),
    "deep": request(b"[" * 2_000),
    "a member of the body more": request(b'{"reports": [], "x": 1}'),
    "reports twice": request(b'{"reports": [1], ' + body(GOOD)[1:]),
    "no report": request(b'{"reports": []}'),
    "eleven reports": request(body(*(report(20 + i) for i in range(11)))),
    "empty": request(b""),
    "close": request(body(report(40)), "connection: close"),
    "many headers": request(body(report(41)), *(f"x-{i}: {'y' * 50}" for i in range(50))),
    "IPv6 name": request(body(report(42)), host=("[::1]:8000",)),
    "own page": request(body(report(43)), "origin: http://localhost", kind=PAGE),
}
"""Requests in the plain form, with the settings' own choices; at most ten reports each."""

NOT_PLAIN = {
    "chunked": chunked(body(report(50))),
    "trailer": chunked(body(report(50)), trailer=b"x: y\r\n"),
    "chunked and length": request(body(GOOD), "transfer-encoding: chunked"),
    "two lengths": request(body(GOOD), f"content-length: {len(body(GOOD))}"),
    "no length": request(b"", length=None),
    "odd length": request(b"", length="+5"),
    "huge length": request(b"", length="9" * 11),
    "negative length": request(b"", length="-1"),
    "expect": request(body(report(51)), "expect: 100-continuing"),
    "upgrade": request(body(report(52)), "upgrade: websocket", "connection: upgrade"),
    "HTTP/1.0": request(body(report(53)), version="1.0"),
    "a header twice": request(body(report(54)), "x-a: 1", "x-a: 2"),
    "two types": request(body(report(54)), "content-type: text/html"),
    "two hosts": request(body(report(54)), host=("localhost", "localhost")),
    "no host": request(body(report(54)), host=()),
    "another host": request(body(report(54)), host=("evil.example",)),
    "a page": request(body(report(54)), f"origin: {SHOP}"),
    "type": request(body(report(54)), kind="text/html"),
    "type of a page": request(body(report(54)), kind=PAGE),
    "no type": request(body(report(54)), kind=None),
    "charset": request(body(report(54)), kind="application/json; charset=latin-1"),
    "compact with charset": request(packed(report(54)), kind=f"{COMPACT}; charset=utf-8"),
    "encoding": request(body(report(54)), "content-encoding: gzip"),
    "identity": request(body(report(55)), "content-encoding: identity"),
    "long": request(body(report(56)) + b" " * 4_096),
    "query": request(body(report(57)), path="/v1/reports?x=1"),
    "slash": request(body(report(57)), path="/v1/reports/"),
    "nowhere": request(body(report(57)), path="/v1/report"),
    "percent": request(body(report(58)), path="/v1/%72eports"),
    "whole address": request(body(report(59)), path="http://localhost/v1/reports"),
    "PUT": request(body(GOOD), method="PUT"),
    "GET": request(b"", method="GET", length=None),
    "OPTIONS": request(b"", method="OPTIONS", length=None),
    "no HTTP": b"POST /v1/reports\r\n\r\n",
    "bad header": request(body(GOOD), "bad header"),
}
"""Requests that the application answers, or refuses; or whose bytes are no request."""

KEYED = {
    "no key": (False, request(body(report(1)))),
    "wrong key": (False, request(body(report(1)), "authorization: Bearer wrong")),
    "a password": (False, request(body(report(1)), "authorization: Basic c2VzYW1l")),
    "old key": (True, request(body(report(1)), "authorization: Bearer sesame")),
    "new key": (True, request(body(report(2)), "Authorization: bearer  poppy ")),
    "key twice": (False, request(body(report(2)), *["authorization: Bearer poppy"] * 2)),
    "listed page": (
        True,
        request(body(report(3)), "authorization: Bearer poppy", f"origin: {SHOP}", kind=PAGE),
    ),
    "listed page, bad": (
        True,
        request(b"{", "authorization: Bearer poppy", f"origin: {SHOP}", kind=PAGE),
    ),
    "another page": (False, request(b"{", "authorization: Bearer poppy", "origin: null")),
    "page without key": (False, request(body(report(3)), f"origin: {SHOP}")),
}


UNKNOWN = ("no key", "wrong key", "a password", "page without key")


def same(served: Sequence[Served], data: bytes, *cuts: bytes) -> bytes:
    """Send one request to both, and return what both answered."""
    answers = [each.talk(data, *cuts) for each in served]
    assert answers[0] == answers[1]
    return answers[0]


def same_stores(served: Sequence[Served]) -> dict[tuple[str, str], int]:
    """Compare what was counted and kept, after both were stopped."""
    counters = [each.store.counters() for each in served]
    kept = [
        {
            name: sorted(c.records for c in each.store.read(name))
            for name in ("colour", "words", "pair")
        }
        for each in served
    ]
    assert counters[0] == counters[1]
    assert kept[0] == kept[1]
    return counters[0]


def test_the_corpus_gives_the_same_bytes_on_both_paths(tmp_path: Path) -> None:
    with both(tmp_path, max_batch=10) as served, counted() as taken:
        for name, data in PLAIN.items():
            before = len(taken)
            answer = same(served, data)
            assert answer.startswith(b"HTTP/1.1 "), name
            assert len(taken) == before + 1, f"{name} is plain"
        for name, data in NOT_PLAIN.items():
            before = len(taken)
            assert same(served, data) != b"", name
            assert len(taken) == before, f"{name} is not plain"
        for each in served:
            each.stop()
        counters = same_stores(served)
    reasons = {reason for _, reason in counters}
    assert reasons >= {
        *("schema", "unknown_question", "unknown_version", "digest", "expired", "too_early"),
        *("too_late", "record", "http", "body", "batch_size", "media_type", "encoding", "host"),
        *("forbidden", "not_found", "method", "accepted", "duplicate", "oversize", "segments"),
    }


HEADS: dict[bytes, list[bytes]] = {
    b"host": [b"localhost", b"127.0.0.1:8000", b"[::1]:1", b"LOCALHOST", b"evil.example", b"\xe9"],
    b"content-type": [
        *(b"application/json", COMPACT.encode(), b"Application/JSON", PAGE.encode()),
        *(b"application/json; charset=latin-1", b"text/html", b"\xe9", b""),
    ],
    b"content-length": [b"0", b"1024", b"1025", b"4097", b"99999", b"100000", b"-1", b"\xb2", b""],
    b"authorization": [b"Bearer sesame", b"Basic c2VzYW1l", b"Bearer \xe9", b""],
    b"origin": [SHOP.encode(), b"http://localhost", b"null", b"\xe9"],
    b"content-encoding": [b"identity", b"gzip"],
    b"transfer-encoding": [b"chunked"],
    b"expect": [b"100-continue"],
    b"upgrade": [b"websocket"],
    b"x-a": [b"1", b"2"],
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"write_key_hashes": hash_write_keys("sesame")},
    {"origins": (SHOP,), "max_body": 1_024},
    {"behind_proxy": True},
]


def by_rules(
    reports: PlainReports, raw: Sequence[tuple[bytes, bytes]]
) -> tuple[bool, str | None] | None:
    """The slow twin of `PlainReports.opens`: every header as text, by the rules one by one."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    intake = reports._intake
    chosen = intake.settings
    never = {"transfer-encoding", "expect", "upgrade", "content-encoding"}
    length = headers.get("content-length", "")
    if len(headers) < len(raw) or headers.keys() & never:
        return None
    if not re.fullmatch("[0-9]{1,5}", length) or int(length) > min(4_096, chosen.max_body):
        return None
    if not (chosen.public or is_local_name(headers.get("host", ""))):
        return None
    if not may_send(headers, chosen):
        return None
    try:
        compact, size = intake.open(headers)
    except Refused:
        return None
    assert size == int(length)
    return compact, headers.get("origin")


@pytest.mark.parametrize("options", SETTINGS)
def test_a_look_at_a_head_says_what_the_rules_say(options: dict[str, Any], tmp_path: Path) -> None:
    """One after the other: what is kept of one head must not change what is said of the next."""
    with SqliteStore(tmp_path / "store") as store:
        chosen = settings(tmp_path, **options)
        app = create_app(chosen, store, SURVEY.published(), today=lambda: TODAY)
        reports: PlainReports = app.state.collector.plain
        said = set[bool]()

        @hypothesis.settings(max_examples=200, deadline=None)
        @given(st.data())
        def look(data: st.DataObject) -> None:
            raw = [(b"host", b"localhost"), (b"content-type", b"application/json")]
            raw.append((b"content-length", b"9"))
            for name in data.draw(st.lists(st.sampled_from(sorted(HEADS)), max_size=3)):
                twice, left_out = (data.draw(st.integers(0, 9)) == 0 for _ in range(2))
                raw = [pair for pair in raw if twice or pair[0] != name]
                if not left_out:
                    raw.append((name, data.draw(st.sampled_from(HEADS[name]))))
            found = reports.opens(raw)
            assert (None if found is None else tuple(found)) == by_rules(reports, raw)
            said.add(found is not None)

        look()
        assert said == {True, False}


def test_kept_names_are_this_machines_and_few(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "store") as store:
        app = create_app(settings(tmp_path), store, SURVEY.published(), today=lambda: TODAY)
        reports: PlainReports = app.state.collector.plain
        rest = ((b"content-type", b"application/json"), (b"content-length", b"9"))
        for port in range(100):
            assert reports.opens([(b"host", b"localhost:%d" % port), *rest]) is not None
            assert reports.opens([(b"host", b"localhost.example:%d" % port), *rest]) is None
        assert len(reports._hosts) == 16
        assert all(is_local_name(host.decode()) for host in reports._hosts)


def test_the_servers_own_headers_are_written_anew_with_each_list() -> None:
    load = Load()
    first, second = [(b"date", b"today"), (b"a", b"b")], [(b"date", b"today"), (b"a", b"c")]
    assert load.lines([]) == b""
    assert load.lines(first) == load.lines(first) == b"date: today\r\na: b\r\n"
    assert load.lines(second) == b"date: today\r\na: c\r\n"


@pytest.mark.parametrize("options", [{}, {"max_body": 1_024, "max_batch": 2}])
def test_keys_and_pages_give_the_same_bytes(tmp_path: Path, options: dict[str, Any]) -> None:
    keys = hash_write_keys("sesame,poppy")
    chosen = {"write_key_hashes": keys, "origins": (SHOP,), **options}
    with both(tmp_path, **chosen) as served, counted() as taken:
        for name, (plain, data) in KEYED.items():
            before = len(taken)
            answer = same(served, data)
            assert (len(taken) > before) is plain, name
            assert (b"401 " in answer[:13]) is (name in UNKNOWN), name
        large = request(body(report(9)) + b" " * 1_024, "authorization: Bearer sesame")
        assert (b"413 " in same(served, large)[:13]) is bool(options)
    same_stores(served)


def test_pages_of_anybody_give_the_same_bytes(tmp_path: Path) -> None:
    with both(tmp_path, behind_proxy=True) as served, counted() as taken:
        for number, headers in enumerate(([], [f"origin: {SHOP}"], ["x-forwarded-for: 1"])):
            data = request(body(report(number)), *headers, host=("telemetry.example",), kind=PAGE)
            assert b"access-control-allow-origin: *" in same(served, data)
        assert len(taken) == 3
    same_stores(served)


def test_several_surveys_give_the_same_bytes(tmp_path: Path) -> None:
    with both(tmp_path, name="shop", behind_proxy=True) as served, counted() as taken:
        for number, path in enumerate(("/s/shop/v1/reports", "/s/other/v1/reports", "/v1/reports")):
            same(served, request(body(report(number)), f"origin: {SHOP}", path=path))
            same(served, request(b"{", path=path))
            assert len(taken) == 2
    assert same_stores(served)["colour", "accepted"] == 1


def test_simulated_stores_give_the_same_bytes(tmp_path: Path) -> None:
    with both(tmp_path, lambda path: SqliteStore(path, simulated=True)) as served:
        assert b'"accepted":1' in same(served, request(body(report(1))))
    assert same_stores(served) == {("colour", "simulated"): 1}


class Failing(SqliteStore):
    """Fails to write reports, each time in another way."""

    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        if not reports:
            return super().append(reports, refusals)
        number = self.times = getattr(self, "times", -1) + 1
        raise (StoreError("full"), OutcomeUnknown("lost"), ZeroDivisionError("ours"))[number]


def test_stores_that_fail_give_the_same_bytes(tmp_path: Path) -> None:
    with both(tmp_path, Failing) as served:
        answers = [same(served, request(body(report(1)))) for _ in range(3)]
        assert [answer[9:12] for answer in answers] == [b"503", b"503", b"500"]
        assert b"retry-after: 10" in answers[0]
        assert b"not known" in answers[1]
        assert b"retry-after" not in answers[2]
        for each in served:
            each.stop()
            assert each.store.counters()["", "internal"] == 1


class Held(SqliteStore):
    """Writes reports only when it is let go."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.begun, self.go = threading.Event(), threading.Event()

    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        if reports:
            self.begun.set()
            assert self.go.wait(30)
        return super().append(reports, refusals)


def test_a_full_queue_gives_the_same_bytes(tmp_path: Path) -> None:
    with both(tmp_path, Held, max_batch=1, waiting_reports=1) as served:
        told = []
        for each in served:
            store = each.store
            assert isinstance(store, Held)
            with each.connect() as first, each.connect() as second, each.connect() as third:
                first.sendall(request(body(report(1))))
                assert store.begun.wait(30)
                for link in (second, third):  # one of them fills the queue
                    link.sendall(request(body(report(2))))
                (busy,), _, _ = select.select([second, third], [], [], 30)
                refused = read_answer(busy)
                store.go.set()
                told.append([refused, read_answer(first)])
                read_answer(third if busy is second else second)
        assert told[0] == told[1]
        assert [answer[9:12] for answer in told[0]] == [b"503", b"200"]
        assert b"retry-after: 1\r\n" in told[0][0]


@pytest.mark.parametrize("name", ["one", "two fields", "compact", "no JSON", "close"])
def test_a_request_in_pieces_gives_the_same_bytes(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_plain, "PATIENCE_SECONDS", 0.05)
    data = PLAIN[name]
    head = data.index(b"\r\n\r\n") + 4
    with both(tmp_path) as served:
        for place in (1, 20, head - 1, head, head + 1, len(data) - 1):
            same(served, data[:place], data[place:])
        # One that waits for longer than the server's own patience goes to the application.
        with served[0].connect() as link, counted() as taken:
            link.sendall(data[: head + 1])
            threading.Event().wait(0.3)
            link.sendall(data[head + 1 :])
            late = read_answer(link)
            assert taken == []
        assert late == served[1].talk(data).partition(b"|")[0]


def test_pipelined_requests_are_answered_in_order(tmp_path: Path) -> None:
    with both(tmp_path) as served:
        several = [PLAIN["one"], request(b"", method="GET"), PLAIN["no JSON"], PLAIN["close"]]
        told = []
        for each in served:
            with each.connect() as link:
                link.sendall(b"".join(several))
                got = b""
                while more := link.recv(65_536):
                    got += more
            told.append([got.count(b"HTTP/1.1 " + s) for s in (b"200", b"405", b"400")])
        assert told[0] == told[1] == [2, 1, 1]


def test_a_sender_that_takes_no_answers_gets_no_more_plain_ones(tmp_path: Path) -> None:
    """They would pile up; the application waits until answers are taken."""

    class Link(asyncio.Transport):
        def __init__(self) -> None:
            super().__init__()
            self.written = b""

        def write(self, data: Any) -> None:
            self.written += data

        def is_closing(self) -> bool:
            return False

        def pause_reading(self) -> None: ...
        def resume_reading(self) -> None: ...
        def abort(self) -> None: ...
        def close(self) -> None: ...

    async def scenario(app: Starlette) -> list[int]:
        async with app.router.lifespan_context(app) as state:
            config = server_for(app, lambda: None).config
            config.load()
            link, plain = Link(), list[int]()
            protocol = PlainHttp(config, ServerState(), dict(state or {}))
            protocol.connection_made(link)
            for paused in (False, True, False):
                protocol.pause_writing() if paused else protocol.resume_writing()
                protocol.data_received(PLAIN["words"])
                plain.append(len(taken))
                if paused:
                    await asyncio.sleep(0)
                    protocol.resume_writing()
                while not protocol.cycle.response_complete:
                    await asyncio.sleep(0.001)
            protocol.connection_lost(None)
            assert link.written.count(b"HTTP/1.1 200 ") == 3
            return plain

    with SqliteStore(tmp_path / "s") as store, counted() as taken:
        app = create_app(settings(tmp_path), store, SURVEY.published(), today=lambda: TODAY)
        assert asyncio.run(scenario(app)) == [1, 1, 2]
