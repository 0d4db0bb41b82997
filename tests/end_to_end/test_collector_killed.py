"""A collector that is killed again and again loses nothing and counts nothing twice."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from itertools import count
from pathlib import Path

from deniable.store import STORE_FILE, SqliteStore
from material.collector_process import JSON, Running, batch, number_of

SENDERS, ROUNDS, BATCH = 3, 8, 20
DELAYS = [0.05, 0.31, 0.12, 0.5, 0.02, 0.23, 0.4, 0.17]
"""Seconds from readiness to the kill; the work in between decides what the kill hits."""


class Sender(threading.Thread):
    """Sends reports until told to stop, and each again until it is acknowledged.

    Unacknowledged reports travel again as they were, in the company of new ones.
    """

    def __init__(self, part: int, port: int) -> None:
        super().__init__()
        self._port = port
        self._fresh = count(part * 10**9)
        self._waiting: list[int] = []
        self.acknowledged: set[int] = set()
        self.finishing = threading.Event()
        self.retries = 0

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        while not (self.finishing.is_set() and not self._waiting):
            if not self.finishing.is_set() and len(self._waiting) < 10 * BATCH:
                self._waiting += [next(self._fresh) for _ in range(BATCH)]
            try:
                connection.request("POST", "/v1/reports", batch(self._waiting), JSON)
                answer = connection.getresponse()
                receipt = json.loads(answer.read())
            except (OSError, http.client.HTTPException):
                self.retries += 1
                connection.close()
                time.sleep(0.02)
                continue
            assert answer.status == 200, receipt
            assert receipt["accepted"] + receipt["duplicates"] == len(self._waiting)
            self.acknowledged |= set(self._waiting)
            self._waiting = []
        connection.close()


def stored(data: Path) -> Counter[int]:
    with SqliteStore(data / STORE_FILE, create=False) as store:
        return Counter(
            number_of(chunk.records[start : start + 10])
            for chunk in store.read("words")
            for start in range(0, len(chunk.records), 10)
        )


def test_nothing_acknowledged_is_lost_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    collector = Running(tmp_path)
    senders = [Sender(part, collector.port) for part in range(SENDERS)]
    for sender in senders:
        sender.start()
    try:
        for delay in DELAYS[:ROUNDS]:
            time.sleep(delay)
            collector.kill()
            acknowledged = set().union(*(sender.acknowledged for sender in senders))
            kept = stored(tmp_path / "data")
            assert acknowledged <= kept.keys()
            assert set(kept.values()) <= {1}
            collector = Running(tmp_path, collector.port)
    finally:
        for sender in senders:
            sender.finishing.set()
        for sender in senders:
            sender.join(timeout=30)
        collector.terminate()
    everything = set().union(*(sender.acknowledged for sender in senders))
    assert not any(sender.is_alive() for sender in senders)
    assert sum(sender.retries for sender in senders) >= ROUNDS  # the kills were felt
    assert stored(tmp_path / "data") == Counter(everything)
    with SqliteStore(tmp_path / "data" / STORE_FILE) as store:
        assert store.counters()["words", "accepted"] == len(everything)
        assert sum(tally.reports for tally in store.tallies()) == len(everything)
    assert (tmp_path / "output").read_text() == ""
