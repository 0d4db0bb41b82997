from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.collector import Settings, hash_token, hash_write_keys, new_token
from deniable.collector.auth import AnalystGuard, HostGuard
from deniable.store import SqliteStore
from material.collector import JSON, body, collector, report

TOKEN = new_token()
ELSEWHERE = "10.1.2.3"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "data" / "s") as store:
        yield store


def basic(user: str, password: str) -> dict[str, str]:
    text = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"authorization": f"Basic {text}"}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1", 200),
        ("127.0.0.1:80", 200),
        ("[::1]", 200),
        ("[::1]:8000", 200),
        ("", 421),
        ("localhost.", 421),
        ("localhost.evil.example", 421),
        ("evil.example", 421),
        ("evil.example:8000", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 421),
        ("localhost:80:80", 421),
        ("127.0.0.1\n", 421),
        ("10.0.0.1", 421),
    ],
)
def test_a_loopback_collector_serves_its_own_names_only(
    tmp_path: Path, store: SqliteStore, host: str, status: int
) -> None:
    with collector(tmp_path, store) as app:
        for path in ("/v1/counters", "/healthz", "/v1/survey", "/openapi.json", "/readyz"):
            assert app.get(path, {"host": host}).status == status
        assert app.post(body(report(1)), headers={**JSON, "host": host}).status == status


def test_a_request_without_a_host_is_refused(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store) as app:
        assert app.call("GET", "/healthz", {}).status == 421


def test_elsewhere_any_host_is_served(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store, host=ELSEWHERE) as app:
        assert app.get("/healthz", {"host": "collector.example"}).status == 200


def test_reading_is_open_on_loopback_but_not_through_a_proxy(
    tmp_path: Path, store: SqliteStore
) -> None:
    with collector(tmp_path, store) as app:
        assert app.get("/v1/counters").status == 200
        for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
            answer = app.get("/v1/counters", {header: "10.0.0.1"})
            assert (answer.status, answer.json["reason"]) == (403, "forbidden")
        sent = {**JSON, "x-forwarded-for": "10.0.0.1"}
        assert app.post(body(report(1)), headers=sent).status == 200  # writing stays open


def test_elsewhere_reading_is_closed_without_a_token_and_writing_works(
    tmp_path: Path, store: SqliteStore
) -> None:
    with collector(tmp_path, store, host=ELSEWHERE) as app:
        answer = app.get("/v1/counters")
        assert (answer.status, answer.json["reason"]) == (403, "forbidden")
        assert "deniable keys make NAME --for analyst" in answer.json["detail"]
        assert app.post(body(report(1))).json["accepted"] == 1


@pytest.mark.parametrize("host", [ELSEWHERE, "127.0.0.1"])
def test_a_token_opens_reading(tmp_path: Path, store: SqliteStore, host: str) -> None:
    with collector(tmp_path, store, host=host, analyst_token_hash=hash_token(TOKEN)) as app:
        refused = [
            {},
            {"authorization": "Bearer wrong"},
            {"authorization": f"Bearer {hash_token(TOKEN)}"},
            {"authorization": f"Token {TOKEN}"},
            {"authorization": TOKEN},
            {"authorization": "Basic !!!"},
            {"authorization": "Basic"},
            {"authorization": "Bearer \xff"},
            basic(TOKEN, ""),
            basic("analyst", "wrong"),
        ]
        for headers in refused:
            answer = app.get("/v1/counters", headers)
            assert (answer.status, answer.json["reason"]) == (401, "unauthorized")
            assert answer.headers["www-authenticate"].startswith("Basic ")
        for headers in ({"authorization": f"bearer {TOKEN}"}, basic("anybody", TOKEN)):
            assert app.get("/v1/counters", headers).status == 200
        assert app.post(body(report(1))).status == 200
        assert app.get("/v1/survey").status == 200


def test_refusals_to_readers_are_counted(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store, analyst_token_hash=hash_token(TOKEN)) as app:
        app.get("/v1/counters")
        app.get("/v1/counters", {"host": "evil.example"})
        answer = app.get("/v1/counters", basic("", TOKEN))
    assert answer.json["totals"] == {"host": 1, "unauthorized": 1}


def test_a_write_key_closes_writing_only(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store, write_key_hashes=hash_write_keys("sesame")) as app:
        for headers in ({}, {"authorization": "Bearer open"}, basic("x", "sesame")):
            answer = app.post(body(report(1)), headers={**JSON, **headers})
            assert (answer.status, answer.json["reason"]) == (401, "unauthorized")
            assert answer.headers["www-authenticate"].startswith("Bearer")
        assert store.tallies() == []
        key = {**JSON, "authorization": "Bearer sesame"}
        assert app.post(body(report(1)), headers=key).json["accepted"] == 1
        assert app.get("/v1/survey").status == 200


def test_guards_close_sockets_of_other_kinds(tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path, analyst_token_hash=hash_token(TOKEN))
    sent: list[object] = []

    async def inner(scope: object, receive: object, send: object) -> None:
        sent.append("let in")

    async def send(message: object) -> None:
        sent.append(message)

    async def receive() -> dict[str, object]:
        return {}

    for guard in (HostGuard(inner, settings), AnalystGuard(inner, settings)):
        scope = {"type": "websocket", "headers": [(b"host", b"evil.example")]}
        asyncio.run(guard(scope, receive, send))
        asyncio.run(guard({"type": "lifespan"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}, "let in"] * 2


def test_tokens_are_long_and_random() -> None:
    assert len({new_token() for _ in range(5)}) == 5
    assert len(new_token()) >= 43
