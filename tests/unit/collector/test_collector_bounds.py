"""The bounds of a collector, one by one, without a network."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deniable.cli.serve import guarded_dashboard
from deniable.collector import bodies, create_app
from deniable.collector.auth import PROXY_HEADERS
from deniable.collector.bodies import SMALL_BODY, Bodies
from deniable.collector.connections import Connections
from deniable.collector.lanes import Lane, Turn
from deniable.collector.load import Load
from deniable.collector.log_lines import OnceAMinute
from deniable.collector.problems import Refused
from deniable.collector.reasons import Reason
from deniable.collector.settings import (
    Settings,
    hash_token,
    hash_write_keys,
    new_token,
    read_write_keys,
)
from deniable.dashboard.queries import NoSuchPage, epoch_asked
from deniable.errors import InvalidParameter
from deniable.store import SqliteStore
from material.collector import JSON, SURVEY, InProcess, body, collector, report, settings

LARGE = SMALL_BODY + 1


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "data" / "s") as store:
        yield store


def test_a_lane_serves_so_many_at_once_in_order() -> None:
    async def scenario() -> None:
        lane, begun = Lane(2), list[int]()
        for number in range(5):
            lane.ask(lambda number=number: begun.append(number), lambda: begun.append(-1))  # type: ignore[misc]
        assert (begun, lane.running, lane.waiting) == ([0, 1], 2, 3)
        lane.leave()
        assert (begun, lane.running, lane.waiting) == ([0, 1, 2], 2, 2)
        for _ in range(4):
            lane.leave()
        assert (begun, lane.running, lane.waiting) == ([0, 1, 2, 3, 4], 0, 0)

    asyncio.run(scenario())


def test_a_lane_refuses_when_patience_ends_and_not_before() -> None:
    async def scenario() -> None:
        lane, refused = Lane(1, patience=0.05), list[int]()
        lane.ask(lambda: None, lambda: refused.append(0))
        for number in (1, 2):
            lane.ask(lambda: refused.append(-1), lambda number=number: refused.append(number))  # type: ignore[misc]
        assert refused == []
        while len(refused) < 2:
            await asyncio.sleep(0.01)
        assert (refused, lane.waiting) == ([1, 2], 0)

    asyncio.run(scenario())


def test_a_turn_is_refused_when_patience_ends() -> None:
    async def scenario() -> None:
        turn = Turn(patience=0.05)
        async with turn:
            with pytest.raises(Refused) as caught:
                await turn.__aenter__()
            assert caught.value.problem.reason is Reason.BUSY
        async with turn:
            pass

    asyncio.run(scenario())


class Member:
    def __init__(self) -> None:
        self.gone = False

    def give_way(self) -> None:
        self.gone = True


def test_the_connection_that_waited_longest_goes_first() -> None:
    connections = Connections(most=3, spare=1)
    first, second, third, fourth, fifth = (Member() for _ in range(5))
    assert all(map(connections.arrive, (first, second, third)))
    connections.busy(first)
    connections.idle(second)  # it was just answered: now the third has waited longest
    assert connections.arrive(fourth)
    assert [m.gone for m in (first, second, third, fourth)] == [False, False, True, False]
    assert (len(connections), connections.crowded) == (3, False)
    for member in (second, fourth):
        connections.busy(member)
    assert connections.arrive(fifth)  # nobody waits for a sender: a spare one, for health only
    assert connections.crowded
    connections.busy(fifth)
    assert not connections.arrive(Member())
    connections.leave(first)
    connections.idle(first)  # it is closed, and does not come back
    assert len(connections) == 3


def test_large_bodies_wait_for_room_and_slow_ones_lose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE_SECONDS", 0.0)

    async def scenario() -> None:
        room = Bodies(room=2 * LARGE, patience=30)

        async def slow() -> str:
            async with room.share(LARGE) as share:
                try:
                    async with asyncio.timeout(60) as deadline:
                        share.reading(deadline)
                        await asyncio.sleep(60)
                except TimeoutError:
                    return "told to end"
            return "not told"

        held = [asyncio.create_task(slow()) for _ in range(2)]
        await asyncio.sleep(0.01)
        async with room.share(SMALL_BODY):
            pass  # a small body needs no room
        async with room.share(LARGE):
            assert await held[0] == "told to end"  # the oldest
            assert not held[1].done()
        held[1].cancel()
        await asyncio.gather(*held, return_exceptions=True)

    asyncio.run(scenario())


def test_without_room_in_time_a_body_is_refused_and_nothing_leaks() -> None:
    async def scenario() -> None:
        room = Bodies(room=LARGE, patience=0.05)
        async with room.share(LARGE):
            for _ in range(3):
                with pytest.raises(Refused) as caught:
                    async with room.share(LARGE):
                        pass
                assert caught.value.problem.reason is Reason.BUSY
        async with room.share(LARGE):
            pass

    asyncio.run(scenario())


def test_each_kind_of_path_has_its_lane() -> None:
    load = Load(web_pages=True)
    assert load.lane("/v1/reports") is None
    assert load.lane("/v1/reports", [(b"content-length", b"%d" % SMALL_BODY)]) is None
    for header in ((b"content-length", b"%d" % LARGE), (b"transfer-encoding", b"chunked")):
        assert load.lane("/v1/reports", [(b"host", b"x"), header]) is load.large
    assert load.lane("/healthz") is load.lane("/readyz") is load.lane("/v1/survey") is load.cheap
    assert load.lane("/") is load.lane("/nothing") is load.reading
    assert load.open_to_pages("/v1/reports")
    assert not load.open_to_pages("/v1/counters")


def test_a_message_is_logged_once_a_minute_with_the_number_left_out() -> None:
    now = [0.0]
    once = OnceAMinute(lambda: now[0])

    def line(text: str) -> str | None:
        record = logging.LogRecord("x", logging.WARNING, "", 0, text, (), None)
        return record.getMessage() if once.filter(record) else None

    assert [line("bad"), line("bad"), line("other"), line("bad")] == ["bad", None, "other", None]
    now[0] = 61
    assert line("bad") == "bad (and 2 more like this since the last line)"
    assert sum(line(f"message {number}") is not None for number in range(10_000)) < 200


@pytest.mark.parametrize("beside", [False, True])
def test_wrong_methods_say_which_are_right(
    tmp_path: Path, store: SqliteStore, beside: bool
) -> None:
    chosen = settings(tmp_path)
    routes = [guarded_dashboard(chosen, store, SURVEY)] if beside else []
    with InProcess(create_app(chosen, store, SURVEY.published(), routes=routes)) as app:
        allowed = {"/v1/reports": "POST", "/v1/survey": "GET, HEAD", "/v1/counters": "GET, HEAD"}
        for path, methods in allowed.items():
            for method in {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} - set(
                methods.split(", ")
            ):
                answer = app.call(method, path, JSON)
                assert (answer.status, answer.headers["allow"]) == (405, methods)
                assert answer.headers["content-type"] == "application/problem+json"
        assert app.get("/v1/survey").status == 200


async def broken(request: Request) -> Response:
    raise ZeroDivisionError


def test_a_mistake_of_ours_carries_the_protective_headers(
    tmp_path: Path, store: SqliteStore
) -> None:
    routes = [Route("/broken", broken)]
    app = create_app(settings(tmp_path), store, SURVEY.published(), routes=routes)
    sent: list[msgspec.UnsetType | dict[str, object]] = []

    async def scenario() -> None:
        scope = {
            "type": "http", "method": "GET", "path": "/broken",
            "headers": [(b"host", b"localhost")],
            "query_string": b"", "root_path": "", "http_version": "1.1", "scheme": "http",
        }  # fmt: skip

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        await app(scope, receive, send)  # type: ignore[arg-type]

    with pytest.raises(ZeroDivisionError):
        asyncio.run(scenario())
    start = sent[0]
    assert isinstance(start, dict)
    names = {name for name, _ in start["headers"]}  # type: ignore[attr-defined]
    assert start["status"] == 500
    assert {b"content-security-policy", b"x-content-type-options", b"x-frame-options"} <= names


@pytest.mark.parametrize("member", ["id", "epoch", "record", "question", "version", "digest"])
def test_a_repeated_member_is_refused(tmp_path: Path, store: SqliteStore, member: str) -> None:
    good = body(report(1)).decode()
    value = msgspec.json.encode(report(2).as_json()[member]).decode()
    for name in (member, f"\\u{ord(member[0]):04x}{member[1:]}"):
        for doubled in (
            good.replace('{"reports": [{', f'{{"reports": [{{"{name}": {value}, '),
            good.replace("}]}", f', "{name}": {value}}}]}}'),
        ):
            with collector(tmp_path, store) as app:
                answer = app.post(doubled.encode())
            assert answer.status == 200
            assert [p["reason"] for p in answer.json["problems"]] == ["schema"]
    assert store.tallies() == []


def test_a_repeated_list_of_reports_is_refused(tmp_path: Path, store: SqliteStore) -> None:
    one, two = (body(report(number))[:-1] for number in (1, 2))
    with collector(tmp_path, store) as app:
        for doubled in (
            one + b", " + two[1:] + b"}",
            b'{"reports": [], ' + one[1:] + b"}",
            b'{"\\u0072eports": [7], ' + one[1:] + b"}",
        ):
            assert (app.post(doubled).status, app.post(doubled).json["reason"]) == (400, "body")
        odd = body({**report(3).as_json(), "question": 'a"b'}, report(1))
        assert app.post(odd).json["accepted"] == 1  # marks in a bad value spoil nobody else's
    assert [tally.reports for tally in store.tallies()] == [1]


def test_long_batches_are_admitted_in_slices_with_their_places(
    tmp_path: Path, store: SqliteStore
) -> None:
    many = [report(number) for number in range(230)]
    many[7] = report(7, digest=bytes(32))
    many[229] = report(229, digest=bytes(32))
    with collector(tmp_path, store) as app:
        answer = app.post(body(*many)).json
    assert answer["accepted"] == 228
    assert [problem["index"] for problem in answer["problems"]] == [7, 229]


@pytest.mark.parametrize("header", [*sorted(PROXY_HEADERS), "x-forwarded-proto", "X-Forwarded-Any"])
def test_a_proxys_header_closes_reading_without_a_token(
    tmp_path: Path, store: SqliteStore, header: str
) -> None:
    with collector(tmp_path, store) as app:
        assert app.get("/v1/counters", {header: "1"}).status == 403
        assert app.get("/v1/counters", {"x-other": "1"}).status == 200


def test_behind_a_proxy_reading_needs_the_token_and_any_host_is_served(
    tmp_path: Path, store: SqliteStore
) -> None:
    with collector(tmp_path, store, behind_proxy=True) as app:
        assert app.get("/v1/counters").status == 403
        assert app.get("/healthz", {"host": "telemetry.example"}).status == 200
    token = new_token()
    with collector(tmp_path, store, behind_proxy=True, analyst_token_hash=hash_token(token)) as app:
        for more in ({}, {"x-forwarded-for": "10.0.0.1"}):
            headers = {"authorization": f"Bearer {token}", **more}
            assert app.get("/v1/counters", headers).status == 200
            assert app.get("/v1/counters", more).status == 401


def test_two_write_keys_are_valid_and_only_their_hashes_are_kept(
    tmp_path: Path, store: SqliteStore
) -> None:
    hashes = hash_write_keys("old, new\n")
    assert len(hashes) == 2
    assert hash_write_keys("") == ()
    with collector(tmp_path, store, write_key_hashes=hashes) as app:
        for key, status in (("old", 200), ("new", 200), ("old, new", 401), ("", 401)):
            headers = {**JSON, "authorization": f"Bearer {key}"}
            assert app.post(body(report(1)), headers=headers).status == status


def test_write_keys_that_cannot_be_used_are_refused_without_being_shown(tmp_path: Path) -> None:
    for text, said in (("a,b,c", "at most 2"), ("schlüssel", "ASCII"), ("a\x07", "ASCII")):
        with pytest.raises(InvalidParameter, match=said) as caught:
            hash_write_keys(text)
        assert "schlüssel" not in str(caught.value)
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_write_keys(tmp_path / "missing")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(InvalidParameter, match="no write key"):
        read_write_keys(tmp_path / "empty")
    places = {"DENIABLE_DATA": "d", "DENIABLE_SURVEY_PATH": "s", "DENIABLE_WRITE_KEY": "k"}
    with pytest.raises(InvalidParameter, match="both set"):
        Settings.from_env({**places, "DENIABLE_WRITE_KEY_FILE": "f"})
    assert Settings.from_env(places).write_key_hashes == hash_write_keys("k")


@pytest.mark.parametrize(
    ("text", "days", "found"),
    [("", 1, None), ("0", 1, 0), ("20000", 1, 20_000), ("2932896", 1, 2_932_896)],
)
def test_an_epoch_of_the_calendar_is_taken(text: str, days: int, found: int | None) -> None:
    assert epoch_asked(asking(text), days) == found


@pytest.mark.parametrize(
    ("text", "days"), [("9999999999", 1), ("2932897", 1), ("2147483647", 366), ("-1", 1), ("x", 1)]
)
def test_an_epoch_of_no_calendar_is_no_page(text: str, days: int) -> None:
    with pytest.raises(NoSuchPage):
        epoch_asked(asking(text), days)


def asking(epoch: str) -> Request:
    return Request({"type": "http", "query_string": f"epoch={epoch}".encode(), "headers": []})
