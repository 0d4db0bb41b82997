"""Senders that hang up, and send each report again until it is acknowledged.

Half of the requests are as clients make them: compact, one question each. The others are JSON with
reports to all questions, under either media type.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from itertools import count

from deniable.protocol import batch_bytes
from deniable.protocol.compact import MEDIA_TYPE, compact_bytes, in_groups
from faults.children import PATIENCE
from faults.material import asked, report

JSON = {"content-type": "application/json"}
_PAGE = {"content-type": "text/plain;charset=UTF-8"}
_COMPACT = {"content-type": MEDIA_TYPE}
BATCH = 20
_HANG_UP = 0.1
_COMPACT_SHARE = 0.5
_PAGE_SHARE = 0.3
_SEPARATE = 10**9


class Sender(threading.Thread):
    """Sends reports about some days until told to finish.

    What was not acknowledged travels again as it was, in the company of new reports. One request
    in ten is sent without waiting for the answer.

    Args:
        part: which numbers are this sender's own.
        ports: returns the ports of the collectors that should be there now.
        rng: decides what happens when.
        days: returns the days to report about.
        batch: new reports in a request.
    """

    def __init__(
        self,
        part: int,
        ports: Callable[[], list[int]],
        rng: random.Random,
        days: Callable[[], list[int]],
        batch: int = BATCH,
    ) -> None:
        super().__init__(daemon=True)
        self._fresh = count(part * _SEPARATE)
        self._ports, self._rng, self._days, self._batch = ports, rng, days, batch
        self._waiting: dict[int, int] = {}
        self.acknowledged: dict[int, int] = {}
        self.refused: set[int] = set()
        self.retries = self.duplicates = self.busy = 0
        self.finishing = threading.Event()
        self.trouble = ""
        self._lock = threading.Lock()
        self._waiting_at_end = True

    def run(self) -> None:
        """Send until there is nothing left to send; what goes wrong is kept in `trouble`."""
        try:
            end = float("inf")
            while not self.finishing.is_set() or (self._waiting and self._waiting_at_end):
                if self.finishing.is_set():
                    end = min(end, time.monotonic() + PATIENCE)
                if time.monotonic() > end:
                    raise AssertionError(f"{len(self._waiting)} reports were never acknowledged.")
                self._round()
        except Exception as error:  # shown by the driver, which waits for this thread
            self.trouble = f"{type(error).__name__}: {error}"

    def finish(self) -> None:
        """Let it send what waits, and wait for that.

        Raises:
            AssertionError: if something unexpected was answered, or some reports never were.
        """
        self.finishing.set()
        self.join(2 * PATIENCE)
        assert not self.trouble, self.trouble
        assert not self.is_alive(), "A sender did not end."

    def stop(self) -> None:
        """Let it end soon, whatever waits."""
        self._waiting_at_end = False
        self.finishing.set()

    def numbers(self) -> set[int]:
        """Return the numbers that were acknowledged so far."""
        with self._lock:
            return set(self.acknowledged)

    def _round(self) -> None:
        if not self.finishing.is_set() and len(self._waiting) < 10 * self._batch:
            for _ in range(self._batch):
                self._waiting[next(self._fresh)] = self._rng.choice(self._days())
        sent = dict(self._waiting)
        try:
            self._send(sent)
        except (OSError, http.client.HTTPException):
            self.retries += 1
            time.sleep(0.01)

    def _send(self, sent: dict[int, int]) -> None:
        ports = list(self._ports())  # they are taken away when a collector is killed
        if not ports:
            raise ConnectionError("No collector runs.")
        sent, headers, body = self._packed(sent)
        connection = http.client.HTTPConnection("127.0.0.1", self._rng.choice(ports), timeout=30)
        try:
            connection.request("POST", "/v1/reports", body, headers)
            if self._rng.random() < _HANG_UP and not self.finishing.is_set():
                return
            answer = connection.getresponse()
            receipt = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status == 503:
            self.busy += 1
            raise ConnectionError("busy")
        assert answer.status == 200, receipt
        self._settle(sent, receipt)

    def _packed(self, sent: dict[int, int]) -> tuple[dict[int, int], dict[str, str], bytes]:
        """Return what goes into one request, its head and its body."""
        if sent and self._rng.random() < _COMPACT_SHARE:
            question = asked(self._rng.choice(list(sent)))
            made = [report(n, day) for n, day in sent.items() if asked(n) is question]
            made = in_groups(made)
            body = compact_bytes(made, question)
            assert body is not None
            numbers = [int.from_bytes(each.id, "big") for each in made]
            return {number: sent[number] for number in numbers}, _COMPACT, body
        headers = _PAGE if self._rng.random() < _PAGE_SHARE else JSON
        return sent, headers, batch_bytes(report(number, day) for number, day in sent.items())

    def _settle(self, sent: dict[int, int], receipt: dict[str, object]) -> None:
        numbers = list(sent)
        problems = receipt["problems"]
        assert isinstance(problems, list)
        assert receipt["accepted"] + receipt["duplicates"] + len(problems) == len(numbers), receipt
        refused = {numbers[problem["index"]] for problem in problems}
        self.duplicates += int(receipt["duplicates"])
        self.refused |= refused
        with self._lock:
            self.acknowledged.update((n, day) for n, day in sent.items() if n not in refused)
        for number in numbers:
            del self._waiting[number]
