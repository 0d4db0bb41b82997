"""Clocks that are wrong for one start, and a survey that is another one's."""

from __future__ import annotations

import http.client
import json
import random
import time
from datetime import timedelta
from pathlib import Path

from faults.checking import check_store, prepare
from faults.client_material import START
from faults.clients import finished, settle, start
from faults.kills import Progress, collector
from faults.material import OTHER_SURVEY, TODAY, body
from faults.moody import MoodyCollector
from faults.outcome import Outcome
from faults.senders import JSON

REPORTS = 300
AHEAD = 400

WRONG_STARTS: dict[str, dict[str, object]] = {
    "ahead": {"today": TODAY + AHEAD},
    "behind": {"today": TODAY - AHEAD},
    "another survey": {"survey": "other.json"},
    "another survey, ahead": {"survey": "other.json", "today": TODAY + AHEAD},
}


def run(folder: Path, rounds: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Start collectors and clients wrongly once, then rightly; send the same again, and count."""
    outcome, rng, began = Outcome("clock"), random.Random(seed), time.monotonic()
    for number in range(rounds):
        for name, wrong in WRONG_STARTS.items():
            outcome.add(_collect(folder / f"{name}-{number}", wrong, rng))
        outcome.add(_client(folder / f"client-{number}", rng))
        progress(1)
    outcome.seconds = time.monotonic() - began
    return outcome


def _collect(folder: Path, wrong: dict[str, object], rng: random.Random) -> Outcome:
    """Send a batch, start a collector wrongly, send the batch again to one that is right."""
    outcome = Outcome("collector")
    prepare(folder)
    (folder / "other.json").write_bytes(OTHER_SURVEY.published())
    numbers = range(first := rng.randrange(10**9), first + REPORTS)
    outcome.acknowledged += _post(folder, numbers)["accepted"]
    for _ in range(rng.randrange(1, 3)):
        with collector(folder, **{"today": TODAY, **wrong}) as child:  # type: ignore[arg-type]
            child.first()
            child.terminate()  # politely: what it has begun to close, it closes
    receipt = _post(folder, numbers)
    outcome.double(receipt["accepted"], f"a retry was taken for new after a start with {wrong}")
    outcome.duplicates += receipt["duplicates"]
    outcome.expect(
        receipt["accepted"] + receipt["duplicates"] == REPORTS, f"the retry was answered {receipt}"
    )
    check_store(folder, numbers, outcome)
    return outcome


def _post(folder: Path, numbers: range) -> dict[str, int]:
    with collector(folder) as child:
        connection = http.client.HTTPConnection("127.0.0.1", child.first(), timeout=60)
        connection.request("POST", "/v1/reports", body(numbers), JSON)
        answer: dict[str, int] = json.loads(connection.getresponse().read())
        connection.close()
        child.terminate()
    return answer


def _client(folder: Path, rng: random.Random) -> Outcome:
    """Live a day, one start 400 days ahead, one behind, then rightly until all of it is sent."""
    outcome = Outcome("client")
    folder.mkdir(parents=True)
    with MoodyCollector(rng) as server:
        # What is recorded 400 days behind must leave there: by the right clock it is too late.
        lives = (("deaf", 0), ("deaf", AHEAD), ("deaf", 1), ("kind", -AHEAD), ("", 2))
        for mood, days in lives:
            server.mood = mood
            start(folder, server.endpoint, START + timedelta(days=days), days=1).finish()
        server.mood = "kind"
        finished(folder, server.endpoint, START + timedelta(days=3), outcome)
        finished(folder, server.endpoint, START + timedelta(days=AHEAD + 1), outcome)
        settle(folder, server, set(), outcome)
    return outcome
