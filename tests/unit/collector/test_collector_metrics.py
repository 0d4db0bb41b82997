"""Metrics say how collecting goes, and never when a report arrived."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from deniable.collector.held import Held
from deniable.collector.keyring import utc_date
from deniable.collector.keys_file import Purpose, make_key
from deniable.collector.metrics_port import listen_for_metrics, serve_metrics
from deniable.errors import InvalidParameter
from deniable.store import SqliteStore
from material.collector import InProcess, body, collector, report

LIVE = ("deniable_ready", "deniable_info", "deniable_survey_info", "deniable_last_")
"""Series that say nothing about arrivals."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "data" / "s") as store:
        yield store


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def scrape(app: InProcess) -> dict[str, float]:
    """Return the series by name and labels."""
    answer = app.get("/metrics")
    assert (answer.status, answer.headers["content-type"].split(";")[0]) == (200, "text/plain")
    lines = [line for line in answer.body.decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def arrivals(found: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in found.items() if not name.startswith(LIVE)}


def timed(app: InProcess) -> Clock:
    clock = Clock()
    app.app.state.collector.metrics.held = Held(clock)
    return clock


ACCEPTED = 'deniable_reports_total{survey="test",question="colour",outcome="accepted"}'


def test_a_sum_moves_late_and_by_at_least_a_hundred_reports() -> None:
    clock = Clock()
    held = Held(clock)
    held.add("a", 99, 99)
    held.add("b", 100, 1, 2.5)
    assert held.release() is None
    assert held.shown() == {}
    clock.now += 599.9
    assert held.release() is None
    clock.now += 0.1
    assert held.release() == {"b"}
    assert held.shown() == {"b": (1.0, 2.5)}
    held.add("a", 1, 1)  # now there are a hundred, but not in a moment that anybody sees
    assert held.release() is None
    clock.now += 600
    assert held.release() == {"a"}
    assert held.shown() == {"a": (100.0,), "b": (1.0, 2.5)}
    held.add("b", 250, 2, 4.0)
    clock.now += 10_000
    assert held.release() == {"b"}
    assert held.release() is None  # a long time gives no second move
    assert held.shown()["b"] == (3.0, 6.5)


def test_no_series_about_arrivals_moves_otherwise(tmp_path: Path, store: SqliteStore) -> None:
    """Scrape after every request, over an hour: each series moves as it may, and no other way."""
    with collector(tmp_path, store) as app:
        clock = timed(app)
        moves: dict[str, list[tuple[float, float]]] = {}
        before = scrape(app)
        number = 0
        for step in range(120):
            clock.now += 30
            for _ in range(step % 7):
                number += 1
                good = [report(20 * number + each) for each in range(20)]
                app.post(body(*good, *good[:7], report(number, question="who"), {}))
            found = scrape(app)
            for name in arrivals(found):
                if found[name] != before.get(name, 0.0):
                    moves.setdefault(name, []).append(
                        (clock.now, found[name] - before.get(name, 0))
                    )
            before = found
        assert {name.partition("{")[0] for name in moves} == {
            "deniable_reports_total",
            "deniable_refusals_total",
            "deniable_commit_seconds_bucket",
            "deniable_commit_seconds_sum",
            "deniable_commit_seconds_count",
            "deniable_group_reports_bucket",
            "deniable_group_reports_sum",
            "deniable_group_reports_count",
            "deniable_store_bytes",
            "deniable_open_epochs",
        }
        for name, moved in moves.items():
            times = [when for when, _ in moved]
            assert all(b - a >= 600 for a, b in pairwise(times)), name
            if name.startswith(("deniable_reports_total", "deniable_refusals_total")):
                assert all(by >= 100 for _, by in moved), name
            if name.startswith(("deniable_commit", "deniable_group")) and "_sum" not in name:
                assert all(by >= 100 / 27 for _, by in moved), name  # groups of 27 reports
        app.post(body(*(report(10**6 + each) for each in range(150))))
        clock.now += 600
        left = 20 * number + 150 - scrape(app)[ACCEPTED]
        assert 0 <= left < 100  # what was carried over is not lost


def test_the_test_would_see_a_live_series(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store) as app:
        app.app.state.collector.metrics.held = Held(Clock(), seconds=0, reports=1)
        app.post(body(report(1)))
        assert scrape(app)[ACCEPTED] == 1


def test_the_few_are_carried_over_for_ever(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store) as app:
        clock = timed(app)
        app.post(body(*(report(number) for number in range(99))))
        for _ in range(10):
            clock.now += 86_400
            found = scrape(app)
            assert not any(arrivals(found).values())
        assert "deniable_reports_total" not in str(found)
        app.post(body(report(99)))
        assert not any(arrivals(scrape(app)).values())
        clock.now += 600
        assert scrape(app)[ACCEPTED] == 100
        assert scrape(app)['deniable_open_epochs{survey="test"}'] == 1


def test_what_does_not_depend_on_arrivals_is_live(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store) as app:
        assert app.get("/readyz").status == 200
        assert scrape(app)['deniable_ready{survey="test"}'] == 1
        metrics = app.app.state.collector.metrics
        metrics.closed(0)
        assert scrape(app)['deniable_last_closing_timestamp_seconds{survey="test"}'] == 0
        metrics.closed(2)
        last = scrape(app)['deniable_last_closing_timestamp_seconds{survey="test"}']
        assert last == scrape(app)['deniable_last_upkeep_timestamp_seconds{survey="test"}'] > 0
    with collector(tmp_path, store) as app:
        store.close()  # nobody sends, and it is found out all the same
        assert scrape(app)['deniable_ready{survey="test"}'] == 0


def test_reports_of_a_trial_are_not_counted_as_accepted(tmp_path: Path) -> None:
    with (
        SqliteStore(tmp_path / "data" / "s", simulated=True) as store,
        collector(tmp_path, store) as app,
    ):
        clock = timed(app)
        app.post(body(*(report(number) for number in range(100))))
        clock.now += 600
        assert scrape(app)[ACCEPTED.replace("accepted", "simulated")] == 100
        assert ACCEPTED not in scrape(app)


def test_a_monitors_token_opens_metrics_and_nothing_else(
    tmp_path: Path, store: SqliteStore
) -> None:
    path = tmp_path / "keys.json"
    shown = {
        purpose: {"authorization": f"Bearer {make_key(path, purpose, 'x', today=utc_date())[1]}"}
        for purpose in (Purpose.METRICS, Purpose.ANALYST, Purpose.APP)
    }
    with collector(tmp_path, store, keys=path, behind_proxy=True) as app:
        answers = {
            purpose: (app.get("/metrics", each).status, app.get("/v1/counters", each).status)
            for purpose, each in shown.items()
        }
        assert answers == {
            Purpose.METRICS: (200, 401),
            Purpose.ANALYST: (200, 200),
            Purpose.APP: (401, 401),
        }
        assert app.get("/metrics").status == 401
    with collector(tmp_path, store, behind_proxy=True) as app:
        assert app.get("/metrics").status == 403


def test_two_who_scrape_at_once_see_the_same(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store) as app:
        clock = timed(app)
        app.post(body(*(report(number) for number in range(150))))
        clock.now += 600

        async def both() -> tuple[bytes, bytes]:
            return await asyncio.gather(app.app.state.metrics(), app.app.state.metrics())

        first, second = app._runner.run(both())
        assert first == second
        assert ACCEPTED in first.decode()


def test_a_second_port_serves_metrics_to_this_machine_and_nothing_else() -> None:
    async def ask(port: int, *lines: str) -> tuple[bytes, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write("\r\n".join([*lines, "", ""]).encode())
        answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        return answer.split(b"\r\n")[0], answer.partition(b"\r\n\r\n")[2]

    async def text() -> bytes:
        return b"deniable_info 1\n"

    async def scenario() -> list[tuple[bytes, bytes]]:
        with listen_for_metrics(0) as listener:
            assert listener.getsockname()[0] == "127.0.0.1"
            port = listener.getsockname()[1]
            with pytest.raises(InvalidParameter, match="Choose another port"):
                listen_for_metrics(port)
            serving = asyncio.create_task(serve_metrics(listener, text))
            answers = [
                await ask(port, *lines)
                for lines in (
                    ("GET /metrics HTTP/1.1", f"Host: localhost:{port}"),
                    ("GET /metrics?x=1 HTTP/1.1", "host: 127.0.0.1"),
                    ("GET /metrics HTTP/1.1", "Host: evil.example"),
                    ("GET /metrics HTTP/1.1",),
                    ("GET /v1/counters HTTP/1.1", "Host: localhost"),
                    ("POST /metrics HTTP/1.1", "Host: localhost"),
                    ("GET /metrics HTTP/1.1", f"X: {'x' * 100_000}"),
                )
            ]
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            return answers

    answers = asyncio.run(scenario())
    assert [head.split(b" ")[1:2] for head, _ in answers] == [
        [b"200"],
        [b"200"],
        [b"421"],
        [b"421"],
        [b"404"],
        [b"404"],
        [],
    ]
    assert [rest == b"deniable_info 1\n" for _, rest in answers] == [True] * 2 + [False] * 5
