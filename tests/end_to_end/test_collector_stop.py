"""Stopping a collector: readiness goes first, it is never long, and a neighbour loses nothing."""

from __future__ import annotations

import hashlib
import http.client
import json
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from deniable.store import open_store
from material.cluster import Cluster
from material.collector_process import JSON, SURVEY, Running, batch, number_of
from material.processes import is_running
from material.served import Serving, ask
from material.store_kinds import PostgresStores

PATIENCE = 60.0
PAGE = {"accept": "text/html"}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.json"
    path.write_bytes(SURVEY.published())
    return path


def ended(serving: Serving) -> int:
    return serving.process.wait(PATIENCE)


def test_readiness_is_over_before_anything_is_refused(tmp_path: Path) -> None:
    with Running(tmp_path, stopping_seconds=PATIENCE) as serving:
        assert ask(serving.port, "GET", "/readyz").status == 200
        kept = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=30)
        kept.request("POST", "/v1/reports", batch([1]), JSON)
        assert kept.getresponse().read()
        serving.process.send_signal(signal.SIGTERM)
        while (told := ask(serving.port, "GET", "/readyz")).status == 200:
            time.sleep(0.01)
        assert (told.status, told.headers["retry-after"]) == (503, "1")
        assert "being stopped" in json.loads(told.body)["detail"]
        kept.request("POST", "/v1/reports", batch([2]), JSON)
        answer = kept.getresponse()
        assert (answer.status, answer.getheader("connection")) == (200, "close")
        assert ask(serving.port, "GET", "/healthz").status == 200
        assert ask(serving.port, "POST", "/v1/reports", batch([3]), JSON).status == 200
        serving.process.send_signal(signal.SIGTERM)  # a second one ends it at once
        assert serving.process.wait(PATIENCE / 2) == -signal.SIGTERM
    with open_store(tmp_path / "data") as store:
        assert sum(chunk.count for chunk in store.read("words")) == 3


def test_nobody_waits_for_a_supervisor_that_is_not_there(tmp_path: Path, survey: Path) -> None:
    with Serving(tmp_path, "--survey", survey, "--data", tmp_path / "data") as serving:
        assert ask(serving.port, "GET", "/healthz").status == 200
        serving.process.send_signal(signal.SIGTERM)
        with suppress(ConnectionError):
            while True:
                assert ask(serving.port, "GET", "/healthz").status == 200
        assert ended(serving) == -signal.SIGTERM


def test_a_write_that_hangs_does_not_keep_the_process(tmp_path: Path, survey: Path) -> None:
    """SQLite alone would wait half a minute for whoever holds its lock."""
    with Serving(tmp_path, "--survey", survey, "--data", tmp_path / "data") as serving:
        assert ask(serving.port, "POST", "/v1/reports", batch([1]), JSON).status == 200
        with closing(sqlite3.connect(tmp_path / "data" / "reports.sqlite3")) as other:
            other.execute("BEGIN IMMEDIATE")
            link = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=60)
            link.request("POST", "/v1/reports", batch([2]), JSON)
            time.sleep(0.5)  # it waits for the lock; if not yet, there is only less to give up
            start = time.monotonic()
            serving.process.send_signal(signal.SIGTERM)
            assert ended(serving) == 0
            assert time.monotonic() - start < 20
            with suppress(ConnectionError, http.client.HTTPException):
                assert link.getresponse().status == 503
            link.close()
    assert "did not come in time" in (tmp_path / "said").read_text()
    with open_store(tmp_path / "data") as store:
        assert sum(chunk.count for chunk in store.read("words")) == 1


def test_the_process_of_the_pages_does_not_outlive_its_collector(
    tmp_path: Path, survey: Path
) -> None:
    with Serving(tmp_path, "--survey", survey, "--data", tmp_path / "data") as serving:
        assert ask(serving.port, "GET", "/questions/words", headers=PAGE).status == 200
        number = serving.process.pid
        threads = Path(f"/proc/{number}/task").glob("*/children")
        found = {int(each) for path in threads for each in path.read_text().split()}
        assert len(found) == 1
        serving.process.kill()
        serving.process.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while any(map(is_running, found)):
            assert time.monotonic() < end, "the process lives on"
            time.sleep(0.02)


class Senders:
    """Senders with two collectors: each report goes to one of them, or at once to the other."""

    def __init__(self, ports: list[int], threads: int = 3) -> None:
        self.ports = ports
        self.sent: list[int] = []
        self.second: list[int] = []
        self.refused: list[object] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self, first: int) -> None:
        for step in range(10**6):
            if self._stop.is_set():
                return
            number = first + step * len(self._threads)
            answers = []
            for place in (step % 2, 1 - step % 2):
                try:
                    told = ask(self.ports[place], "POST", "/v1/reports", batch([number]), JSON)
                    answers.append(told.status)
                except (OSError, http.client.HTTPException) as error:
                    answers.append(type(error).__name__)
                if answers[-1] == 200:
                    break
            if answers[-1] != 200:
                self.refused.append(answers)
                return
            self.sent.append(number)
            if len(answers) == 2:
                self.second.append(number)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)


def roll(folder: Path, survey: Path, place: str) -> None:
    """Restart two collectors, one after the other, while reports arrive."""
    with ExitStack() as stack:

        def start(name: str) -> Serving:
            (folder / name).mkdir(exist_ok=True)
            made = Serving(folder / name, "--survey", survey, "--data", place)
            return stack.enter_context(made)

        collectors = [start("first"), start("second")]
        senders = Senders([each.port for each in collectors])
        stack.callback(senders.stop)
        for turn in range(2):
            before = len(senders.sent)
            while len(senders.sent) < before + 20 and not senders.refused:
                time.sleep(0.01)
            old = collectors[turn % 2]
            assert ask(old.port, "GET", "/readyz").status == 200  # a supervisor watches
            old.process.send_signal(signal.SIGTERM)
            assert ended(old) == -signal.SIGTERM
            new = start(f"{turn}")
            collectors[turn % 2] = new
            senders.ports[turn % 2] = new.port
        senders.stop()
        assert senders.refused == [], "somebody was refused by both at once"
    with open_store(place) as store:
        kept = Counter(
            number_of(chunk.records[i : i + 10])
            for chunk in store.read("words")
            for i in range(0, len(chunk.records), 10)
        )
    assert kept == Counter(senders.sent)
    assert senders.second, "nobody ever needed the neighbour: nothing was tried"


def test_a_rolling_restart_on_one_folder_refuses_nothing(tmp_path: Path, survey: Path) -> None:
    roll(tmp_path, survey, str(tmp_path / "data"))


@pytest.fixture
def stores(cluster: Cluster, tmp_path: Path) -> Iterator[PostgresStores]:
    made = PostgresStores(cluster, f"s{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:12]}")
    yield made
    made.end()


def test_a_rolling_restart_on_one_database_refuses_nothing(
    stores: PostgresStores, tmp_path: Path, survey: Path
) -> None:
    roll(tmp_path, survey, stores.place())
