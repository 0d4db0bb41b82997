"""Pages in a process of their own: the same answers, bounded waits, and no process left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Mount

from deniable.cli import apart
from deniable.cli.apart import Apart, Made, Start, Worker, framed, read_frame
from deniable.cli.serve import guarded_dashboard
from deniable.collector import AnalystGuard, create_app
from deniable.store import SqliteStore, open_store
from material.collector import SURVEY, TODAY, Answer, InProcess, report, settings
from material.processes import is_running

PAGES = {"accept": "text/html"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with open_store(tmp_path / "data") as opened:
        assert isinstance(opened, SqliteStore)
        opened.append([report(i) for i in range(40)] + [report(i, "words") for i in range(50, 70)])
        yield opened


def start_of(folder: Path) -> Start:
    return Start(str(folder / "data"), SURVEY.published(), str(folder), False)


def app_of(folder: Path, store: SqliteStore, pages: Apart | None) -> InProcess:
    chosen = settings(folder)
    route = (
        guarded_dashboard(chosen, store, SURVEY)
        if pages is None
        else Mount("/", AnalystGuard(pages, chosen))
    )
    return InProcess(
        create_app(chosen, store, SURVEY.published(), routes=[route], today=lambda: TODAY)
    )


def worker_of(pages: Apart) -> Worker:
    (worker,) = pages._workers
    return worker


def wait_for_the_end_of(number: int) -> None:
    end = time.monotonic() + 30
    while is_running(number):
        assert time.monotonic() < end, "the process lives on"
        time.sleep(0.02)


def test_pages_are_the_same_and_their_process_can_die(tmp_path: Path, store: SqliteStore) -> None:
    def ask(app: InProcess) -> list[Answer]:
        return [
            *(
                app.get(path, PAGES)
                for path in ("/questions/words", "/questions/colour", "/nowhere")
            ),
            *(app.get(path, PAGES) for path in ("/questions/none", "/questions/words?epoch=x")),
            app.get("/assets/dashboard.css", {"accept-encoding": "gzip"}),
            app.get("/questions/colour/result.csv"),
            app.get("/questions/colour", {"accept": "application/json"}),
            app.call("HEAD", "/questions/words", {"host": "localhost"}),
        ]

    with app_of(tmp_path, store, None) as app:
        expected = ask(app)
    assert {answer.status for answer in expected} == {200, 404}
    pages = Apart(start_of(tmp_path))
    with app_of(tmp_path, store, pages) as app:
        assert ask(app) == expected
        wrong = app.call("POST", "/questions/colour", {"host": "localhost"})
        assert (wrong.status, wrong.json["reason"]) == (405, "method")
        assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD"}
        first = worker_of(pages).process.pid
        assert os.getpriority(os.PRIO_PROCESS, first) == 19
        os.kill(first, signal.SIGKILL)
        wait_for_the_end_of(first)
        answer = app.get("/questions/words", PAGES)
        if answer.status == 503:  # whoever asks before the end is noticed is told to come back
            assert answer.headers["retry-after"] == "10"
            answer = app.get("/questions/words", PAGES)
        assert answer == expected[0]
        second = worker_of(pages).process.pid
        assert second != first
        app.run(pages.close())
        assert not is_running(second)


def test_a_process_ends_with_the_pages_that_it_makes(tmp_path: Path, store: SqliteStore) -> None:
    async def scenario() -> int:
        pages = Apart(start_of(tmp_path))
        worker = await pages._worker()
        del pages
        gc.collect()
        await worker._task  # it sees the end of the socket
        return worker.process.pid

    wait_for_the_end_of(asyncio.run(scenario()))


def test_a_page_that_takes_too_long_ends_its_process(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "PAGE_SECONDS", 0.01)  # the process has not even begun
    pages = Apart(start_of(tmp_path))
    with app_of(tmp_path, store, pages) as app:
        answer = app.get("/health")
        assert (answer.status, answer.json["reason"]) == (503, "store")
        wait_for_the_end_of(worker_of(pages).process.pid)
        app.run(pages.close())


def test_a_process_that_cannot_open_the_store_says_so(tmp_path: Path) -> None:
    async def scenario() -> str:
        worker = await Worker.start(start_of(tmp_path / "elsewhere"))
        await worker._task
        return worker.problem

    assert "There is no store" in asyncio.run(scenario())


def test_messages_are_bounded_and_whole() -> None:
    async def read(data: bytes, most: int) -> bytes:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await read_frame(reader, most)

    message = framed(Made(1, 200, body=b"x" * 100))
    assert asyncio.run(read(message, 200)) == message[4:]
    for data, most in ((message, 99), (message[:-1], 200), (message[:3], 200), (b"", 200)):
        with pytest.raises(ConnectionError):
            asyncio.run(read(data, most))
