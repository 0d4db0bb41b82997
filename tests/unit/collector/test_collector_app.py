from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from deniable.collector import create_app
from deniable.errors import InvalidSurvey
from deniable.store import SqliteStore
from material.collector import (
    JSON,
    SURVEY,
    TODAY,
    InProcess,
    body,
    collector,
    report,
    settings,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "data" / "s") as store:
        yield store


@pytest.fixture
def app(tmp_path: Path, store: SqliteStore) -> Iterator[InProcess]:
    with collector(tmp_path, store) as app:
        yield app


def counters(app: InProcess) -> dict[tuple[str, str], int]:
    rows = app.get("/v1/counters").json["counters"]
    return {(row["question"], row["reason"]): row["count"] for row in rows}


def test_a_batch_is_answered_when_it_is_stored(app: InProcess, store: SqliteStore) -> None:
    answer = app.post(body(report(1), report(2, "pair")))
    assert (answer.status, answer.json) == (200, {"accepted": 2, "duplicates": 0, "problems": []})
    assert [chunk.records for chunk in store.read("colour")] == [report(1).record]
    assert [chunk.records for chunk in store.read("pair")] == [report(2, "pair").record]


def test_a_batch_that_is_sent_again_succeeds_and_is_counted(app: InProcess) -> None:
    batch = body(report(1), report(2))
    app.post(batch)
    assert app.post(batch).json == {"accepted": 0, "duplicates": 2, "problems": []}
    mixed = app.post(body(report(2), report(3), report(3)))
    assert mixed.json == {"accepted": 1, "duplicates": 2, "problems": []}
    assert counters(app) == {("colour", "accepted"): 3, ("colour", "duplicate"): 4}


def test_a_mixed_batch_names_what_it_refuses(app: InProcess, store: SqliteStore) -> None:
    answer = app.post(body(report(1), report(2, digest=bytes(32)), 7, report(3, question="who")))
    assert answer.status == 200
    assert answer.json["accepted"] == 1
    problems = answer.json["problems"]
    assert [(p["index"], p["reason"], p["status"]) for p in problems] == [
        (1, "digest", 409),
        (2, "schema", 400),
        (3, "unknown_question", 404),
    ]
    assert problems[0]["type"] == "urn:deniable:problem:digest"
    assert store.tallies()[0].reports == 1
    assert counters(app) == {
        ("", "schema"): 1,
        ("", "unknown_question"): 1,
        ("colour", "accepted"): 1,
        ("colour", "digest"): 1,
    }


def test_requests_at_the_same_time_get_their_own_numbers(
    tmp_path: Path, store: SqliteStore
) -> None:
    with collector(tmp_path, store, commit_window_ms=50) as app:
        answers = app.together(
            body(report(1), report(2)), body(report(2), report(3)), body(*map(report, range(9)))
        )
    assert [(a.json["accepted"], a.json["duplicates"]) for a in answers] == [(2, 0), (1, 1), (6, 3)]
    assert len(list(store.read("colour"))) == 1  # one group, one chunk


@pytest.mark.parametrize(
    ("status", "reason", "headers", "parts"),
    [
        (400, "body", {}, [b"[]"]),
        (400, "body", {}, [b""]),
        (400, "batch_size", {}, [b'{"reports": []}']),
        (413, "batch_size", {}, [body(*[{}] * 1_001)]),
        (413, "oversize", {}, [b" " * 2**19] * 3),
        (413, "oversize", {}, [b" " * 2**19] * 9),
        (413, "oversize", {"content-length": str(2**22)}, [b"{}"]),
        (413, "oversize", {"content-length": "9" * 30}, [b"{}"]),
        (413, "oversize", {"content-length": "-1"}, [b"{}"]),
        (415, "media_type", {"content-type": "text/plain"}, [body(report(1))]),
        (415, "media_type", {"content-type": ""}, [body(report(1))]),
        (415, "media_type", {"content-type": "application/json; charset=utf-16"}, [b"{}"]),
        (415, "encoding", {"content-encoding": "gzip"}, [b"\x1f\x8b"]),
        (421, "host", {"host": "evil.example"}, [body(report(1))]),
    ],
)
def test_whole_requests_are_refused_with_a_reason(
    app: InProcess, status: int, reason: str, headers: dict[str, str], parts: list[bytes]
) -> None:
    answer = app.post(*parts, headers={**JSON, **headers})
    assert (answer.status, answer.json["reason"]) == (status, reason)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == status
    assert counters(app) == {("", reason): 1}


def test_an_oversized_body_is_not_read_to_its_end(app: InProcess) -> None:
    parts = [b" " * 2**20] * 50
    answer = app.post(*parts)
    assert answer.status == 413
    assert answer.headers["connection"] == "close"
    small = app.post(*[b" " * 2**10] * 1_025)
    assert small.status == 413
    assert "connection" not in small.headers  # read and thrown away: the sender sees the answer


@pytest.mark.parametrize("media", ["application/json;charset=UTF-8", "Application/JSON"])
def test_json_has_several_spellings(app: InProcess, media: str) -> None:
    assert app.post(body(report(1)), headers={**JSON, "content-type": media}).status == 200


def test_a_body_may_come_in_pieces(app: InProcess) -> None:
    data = body(report(1))
    assert app.post(*(data[i : i + 7] for i in range(0, len(data), 7))).json["accepted"] == 1


def test_unknown_paths_and_methods_are_problems(app: InProcess) -> None:
    missing = app.get("/v2/reports")
    assert (missing.status, missing.json["reason"]) == (404, "not_found")
    wrong = app.call("DELETE", "/v1/survey", JSON)
    assert (wrong.status, wrong.json["reason"]) == (405, "method")
    assert "GET" in wrong.headers["allow"]


def test_the_survey_is_served_once_per_client(app: InProcess) -> None:
    first = app.get("/v1/survey")
    assert first.body == SURVEY.published()
    etag = first.headers["etag"]
    assert etag == f'"{hashlib.sha256(SURVEY.published()).hexdigest()}"'
    for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        again = app.get("/v1/survey", {"if-none-match": known})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
    assert app.get("/v1/survey", {"if-none-match": '"other"'}).status == 200
    assert "max-age" in first.headers["cache-control"]


def test_health_and_readiness(app: InProcess) -> None:
    assert app.get("/healthz").json == {"status": "ok"}
    assert app.get("/readyz").json == {"status": "ready"}
    assert counters(app) == {}


def test_a_store_that_cannot_be_written_is_said_and_nothing_is_accepted(
    app: InProcess, store: SqliteStore
) -> None:
    used = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {used}")
    many = body(*map(report, range(1_000)))
    answer = app.post(many)
    assert (answer.status, answer.json["reason"]) == (503, "store")
    assert int(answer.headers["retry-after"]) > 0
    assert store.tallies() == []
    store._connection.execute("PRAGMA max_page_count = 100000")
    assert app.post(many).json["accepted"] == 1_000
    assert counters(app) == {("", "store"): 1, ("colour", "accepted"): 1_000}


def test_readiness_follows_the_store(app: InProcess, store: SqliteStore) -> None:
    store.close()
    answer = app.get("/readyz")
    assert (answer.status, answer.json["reason"]) == (503, "store")
    assert app.get("/healthz").status == 200


def test_refusals_are_written_without_any_report(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store) as app:
        app.post(b"nonsense")
    assert store.counters() == {("", "body"): 1}


def test_old_epochs_are_closed_at_the_start(tmp_path: Path) -> None:
    now = [0.0]
    store = SqliteStore(tmp_path / "data" / "s", monotonic=lambda: now[0])
    store.append([report(1, epoch=TODAY - 32), report(2, epoch=TODAY - 31)])
    store.append([report(3, epoch=TODAY - 32)])
    for _ in range(2):  # collectors have run for a day since
        store.find_over(TODAY - 31, {("colour", 1): 1})
        now[0] += 86_400
    with collector(tmp_path, store) as app:
        while len(list(store.read("colour"))) > 2:
            app.get("/healthz")
    assert sorted(chunk.count for chunk in store.read("colour")) == [1, 2]
    store.close()


def test_answers_carry_protective_headers(app: InProcess) -> None:
    for path in ("/healthz", "/v1/counters", "/v1/survey", "/nothing"):
        headers = app.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in headers
        assert "server" not in headers
    assert app.get("/v1/counters").headers["cache-control"] == "no-store"


def test_web_pages_may_send_and_fetch_the_survey_only(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store, cors=True) as app:
        check_what_pages_may(app)


def check_what_pages_may(app: InProcess) -> None:
    origin = {"origin": "https://shop.example", "host": "localhost"}
    asked = {**origin, "access-control-request-method": "POST"}
    preflight = app.call("OPTIONS", "/v1/reports", asked)
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-methods"] == "POST"
    assert "content-type" in preflight.headers["access-control-allow-headers"]
    sent = app.post(body(report(1)), headers={**JSON, **origin})
    assert sent.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in sent.headers
    refused = app.post(b"", headers={**JSON, **origin})
    assert refused.headers["access-control-allow-origin"] == "*"
    assert app.get("/v1/survey", origin).headers["access-control-allow-origin"] == "*"
    for path in ("/v1/counters", "/healthz", "/openapi.json"):
        assert "access-control-allow-origin" not in app.get(path, origin).headers
        assert app.call("OPTIONS", path, asked).status == 405


@pytest.mark.parametrize(
    ("chosen", "let_in"),
    [
        ({}, False),
        ({"cors": False, "host": "10.1.2.3"}, False),
        ({"cors": True}, True),
        ({"host": "10.1.2.3"}, True),
        ({"behind_proxy": True}, True),
    ],
)
def test_web_pages_are_let_in_where_asked_or_in_public(
    tmp_path: Path, store: SqliteStore, chosen: dict[str, Any], let_in: bool
) -> None:
    with collector(tmp_path, store, **chosen) as app:
        sent = app.post(body(report(1)), headers={**JSON, "origin": "https://shop.example"})
        assert sent.status == (200 if let_in else 403)
        assert ("access-control-allow-origin" in sent.headers) is let_in


def test_web_pages_can_be_kept_out(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store, cors=False) as app:
        assert app.call("OPTIONS", "/v1/reports", JSON).status == 405
        sent = app.post(body(report(1)))
        assert sent.status == 200
        assert "access-control-allow-origin" not in sent.headers


async def page(request: Request) -> Response:
    return HTMLResponse("<p>hello</p>")


async def broken(request: Request) -> Response:
    raise ZeroDivisionError("a detail that nobody should see")


def test_more_routes_may_stand_beside(tmp_path: Path, store: SqliteStore) -> None:
    more = [Route("/", page), Route("/broken", broken)]
    app = create_app(settings(tmp_path), store, SURVEY.published(), routes=more)
    assert app.state.collector.survey == SURVEY
    with InProcess(app) as running:
        answer = running.get("/")
        assert answer.body == b"<p>hello</p>"
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert running.post(body(report(1))).status == 200
        with pytest.raises(ZeroDivisionError):  # the server logs it, after the answer
            running.get("/broken")


def test_a_survey_that_cannot_be_read_is_refused_at_the_start(
    tmp_path: Path, store: SqliteStore
) -> None:
    with pytest.raises(InvalidSurvey):
        create_app(settings(tmp_path), store, b"{}")


any_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["reports", *report().as_json()]) | st.text(), inner)
    ),
    max_leaves=12,
)


@hypothesis_settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_no_body_makes_the_collector_fail(app: InProcess, data: st.DataObject) -> None:
    good = body(report(1), report(2, "pair"))
    sent = data.draw(
        st.binary(max_size=200)
        | any_json.map(lambda value: body(value))
        | any_json.map(lambda value: str(value).encode("utf-8", "replace"))
        | st.integers(0, len(good)).map(lambda end: good[:end])
        | st.tuples(st.integers(0, len(good) - 1), st.binary(min_size=1, max_size=1)).map(
            lambda change: good[: change[0]] + change[1] + good[change[0] + 1 :]
        )
    )
    answer = app.post(sent)
    assert answer.status in (200, 400, 413)
    if answer.status == 200:
        reports = msgspec.json.decode(sent, type=dict[str, list[msgspec.Raw]])["reports"]
        receipt = answer.json
        counted = receipt["accepted"] + receipt["duplicates"] + len(receipt["problems"])
        assert counted == len(reports)
