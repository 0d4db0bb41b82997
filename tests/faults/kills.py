"""Collectors killed at random moments, while senders retry and hang up.

Reports come in by two ways: over HTTP, and by a process that appends to the store directly. Both
are killed, some in their start.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from faults import collector_child
from faults.appending import Appending
from faults.checking import check_store, prepare
from faults.children import Child, wait_for
from faults.material import TODAY
from faults.outcome import Outcome
from faults.senders import Sender

Progress = Callable[[int], object]
"""Called with the number of kills, or points, since the last call."""

SENDERS = 5
DAYS = [TODAY, TODAY - 1, TODAY - 2, TODAY - 9]
_IN_START = 0.25
_CHECK_EVERY = 10


def run(folder: Path, kills: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Kill collectors and appending processes; then let all senders finish, and count."""
    outcome, rng, began = Outcome("collectors"), random.Random(seed), time.monotonic()
    prepare(folder)
    ports: list[int] = []
    senders = [
        Sender(part, lambda: ports, random.Random(rng.random()), lambda: DAYS)
        for part in range(SENDERS)
    ]
    appending = Appending(folder, TODAY)
    for sender in senders:
        sender.start()
    try:
        while outcome.kills < kills:
            killed = _life(folder, ports, senders, appending, rng)
            if (outcome.kills + killed) // _CHECK_EVERY > outcome.kills // _CHECK_EVERY:
                check_store(folder, _acknowledged(senders, appending), outcome, None)
            outcome.kills += killed
            progress(killed)
        _finish(folder, ports, senders, appending)
    finally:
        for sender in senders:
            sender.stop()
    outcome.acknowledged = len(_acknowledged(senders, appending))
    outcome.retries = sum(sender.retries for sender in senders)
    outcome.duplicates = appending.duplicates + sum(sender.duplicates for sender in senders)
    check_store(folder, _acknowledged(senders, appending), outcome)
    said = (folder / "output").read_text()
    outcome.expect(not said, f"a collector said {said[-200:]!r}")
    outcome.seconds = time.monotonic() - began
    return outcome


def collector(folder: Path, today: int = TODAY, **choice: object) -> Child:
    """Start a collector on a day."""
    place = {"folder": str(folder), "today": today}
    return Child(collector_child.collect, folder / "output", **place, **choice)


def _life(
    folder: Path, ports: list[int], senders: list[Sender], appending: Appending, rng: random.Random
) -> int:
    """Start a collector and end it, in its start or at work; return how many kills that were."""
    child = collector(folder)
    appending.start()
    if rng.random() < _IN_START:
        time.sleep(rng.uniform(0, 0.08))
    else:
        ports[:] = [child.first()]
        before = sum(len(sender.acknowledged) for sender in senders)
        wait_for(
            lambda: sum(len(sender.acknowledged) for sender in senders) > before,
            lambda: not any(sender.trouble for sender in senders),
        )
        time.sleep(rng.uniform(0, 0.12))
    killed = child.kill()
    ports.clear()
    return killed + appending.kill()


def _finish(folder: Path, ports: list[int], senders: list[Sender], appending: Appending) -> None:
    """Let everybody send what waits, to a collector that is not killed."""
    appending.finish()
    with collector(folder) as child:
        ports[:] = [child.first()]
        for sender in senders:
            sender.finish()


def _acknowledged(senders: list[Sender], appending: Appending) -> set[int]:
    found = set(appending.acknowledged)
    for sender in senders:
        found |= sender.numbers()
    return found
