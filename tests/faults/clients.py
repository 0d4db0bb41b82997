"""Clients killed in record, upload and start, before a collector with moods.

Three ways to live, each in a folder of its own: in the caller's thread, with threads, and as
several processes on one folder.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from faults import client_child
from faults.children import Child
from faults.client_material import START, Book, has_book
from faults.kills import Progress
from faults.moody import MoodyCollector
from faults.outcome import Outcome

WAYS = {"strict": (True, 1), "threads": (False, 1), "processes": (True, 3)}
"""Whether the client is strict, and how many processes share the folder."""

_AFTER_LEASES = timedelta(seconds=200)
"""A killed process's reports are left alone by others for two minutes by the client's clock."""

_DAYS_IN_A_LIFE = 3
_LAST_DAYS = 20


def run(folder: Path, kills: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Kill clients of all three ways; then let each folder send what is left, and count."""
    outcome, rng, began = Outcome("clients"), random.Random(seed), time.monotonic()
    for number, way in enumerate(WAYS):
        share = kills * (number + 1) // len(WAYS) - kills * number // len(WAYS)
        outcome.add(_run_way(folder / way, way, share, random.Random(rng.random()), progress))
    outcome.seconds = time.monotonic() - began
    return outcome


def _run_way(folder: Path, way: str, kills: int, rng: random.Random, progress: Progress) -> Outcome:
    outcome, promised = Outcome(way), set[tuple[str, int]]()
    folder.mkdir(parents=True)
    moment = START
    with MoodyCollector(rng) as collector:
        while outcome.kills < kills:
            killed, moment = _life(folder, way, collector, moment, promised, rng, outcome)
            outcome.kills += killed
            progress(killed)
            moment += _AFTER_LEASES
            _check(folder, promised, outcome)
        collector.mood = "kind"
        finished(folder, collector.endpoint, moment, outcome)
        settle(folder, collector, promised, outcome)
    return outcome


def start(folder: Path, endpoint: str, moment: datetime, **choice: object) -> Child:
    """Start a client in a process of its own."""
    wanted = {"strict": True, "days": _DAYS_IN_A_LIFE, **choice}
    return Child(
        client_child.live,
        folder / "output",
        folder=str(folder / "state"),
        endpoint=endpoint,
        moment=moment.isoformat(),
        **wanted,
    )


def _life(
    folder: Path,
    way: str,
    collector: MoodyCollector,
    moment: datetime,
    promised: set[tuple[str, int]],
    rng: random.Random,
    outcome: Outcome,
) -> tuple[int, datetime]:
    """Let one client or several live and die; return the kills, and the time they came to."""
    strict, count = WAYS[way]
    children = [start(folder, collector.endpoint, moment, strict=strict) for _ in range(count)]
    if rng.random() < 0.7:
        children[0].first()
    killed = 0
    for child in children:
        time.sleep(rng.uniform(0, 0.25))
        killed += child.kill()
        outcome.retries += 1
        for kind, *more in child.told:
            if kind == "day":
                moment = max(moment, datetime.fromisoformat(more[0]))
            elif kind == "recorded":
                promised.add((more[0], more[1]))
            elif not (kind == "level" and count > 1):  # another process chose one meanwhile
                outcome.expect(kind in ("open", "done"), f"a client said {kind}: {more}")
    return killed, moment


def finished(folder: Path, endpoint: str, moment: datetime, outcome: Outcome) -> None:
    """Let a client that is not killed live for some more days, so that all of it is sent."""
    child = start(folder, endpoint, moment, days=_LAST_DAYS)
    code = child.finish()
    outcome.expect(code == 0 and ("done",) in child.told, f"the last client ended with {code}")


def _check(folder: Path, promised: set[tuple[str, int]], outcome: Outcome) -> None:
    """Look at the database between two lives."""
    if not has_book(folder / "state"):  # killed in its start
        outcome.lose(len(promised), "the database is not there, or has no tables")
        return
    try:
        book = Book(folder / "state")
    except sqlite3.OperationalError:  # killed before the schema of a new file was written
        outcome.lose(len(promised), "the database has no schema")
        return
    outcome.damage(None if book.damage == "ok" else book.damage)
    problem = book.problem()
    outcome.expect(not problem, problem)
    outcome.lose(len(promised - book.used), "recorded, and its epoch is not marked as used")


def settle(
    folder: Path, collector: MoodyCollector, promised: set[tuple[str, int]], outcome: Outcome
) -> None:
    """Compare what the device says it has disclosed with what arrived."""
    _check(folder, promised, outcome)
    book, arrived = Book(folder / "state"), collector.epochs()
    missing = sorted(book.used - arrived.keys() - book.waiting.keys())
    # Many short lives pass more days than a report may wait: what was dropped for that is counted.
    lost, stale = list[tuple[str, int]](), Counter(book.stale)
    for key in missing:
        stale[key[0]] -= 1
        if stale[key[0]] < 0:
            lost.append(key)
    outcome.lose(len(lost), f"paid for, and never arrived: {lost[:3]}")
    stuck = {key for key in book.waiting if key[0] != "always"}
    outcome.expect(len(stuck) == 0, f"{len(stuck)} reports still wait: {sorted(stuck)[:3]}")
    outcome.expect(arrived.keys() <= book.used, "a report arrived that the ledger does not know")
    collector.judge(outcome)
    outcome.acknowledged += len(arrived)
    outcome.duplicates += collector.again
    said = (folder / "output").read_text()
    outcome.expect(not said, f"a client said {said[-200:]!r}")
