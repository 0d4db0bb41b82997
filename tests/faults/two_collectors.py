"""Two collectors on one store: both take reports, both close epochs, both are killed.

The day moves on from round to round, so that there is always something to close.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from faults.checking import check_store, prepare
from faults.children import Child, wait_for
from faults.closers import closer
from faults.filling import Filling
from faults.kills import Progress, collector
from faults.material import TODAY
from faults.outcome import Outcome
from faults.senders import Sender

STEP, DAYS, GROUPS, SIZE, SENDERS = 60, 40, 2, 40, 3
FIRST_DAY = TODAY - 3_000


def run(folder: Path, kills: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Start two collectors a round, on a day when the last round's epochs are over; kill both."""
    outcome, rng, began = Outcome("two collectors"), random.Random(seed), time.monotonic()
    prepare(folder)
    ports: list[int] = []
    day = [FIRST_DAY]
    senders = [
        Sender(part, lambda: ports, random.Random(rng.random()), lambda: day[:1], 5)
        for part in range(SENDERS)
    ]
    filling = Filling(folder / "data", rng)
    for sender in senders:
        sender.start()
    try:
        while outcome.kills < kills:
            filling.fill(day[0] - DAYS, DAYS, GROUPS, SIZE)
            day[0] += STEP
            killed = _round(folder, day[0], ports, senders, rng)
            outcome.kills += killed
            progress(killed)
            known = filling.numbers.union(*(sender.numbers() for sender in senders))
            check_store(folder, known, outcome, None)
        _finish(folder, day[0], ports, senders)
    finally:
        for sender in senders:
            sender.stop()
    known = filling.numbers.union(*(sender.numbers() for sender in senders))
    perhaps = set().union(*(sender.refused for sender in senders))
    check_store(folder, known, outcome, perhaps)
    outcome.acknowledged = len(known)
    outcome.retries = sum(sender.retries for sender in senders)
    outcome.duplicates = sum(sender.duplicates for sender in senders)
    outcome.seconds = time.monotonic() - began
    return outcome


def _round(
    folder: Path, day: int, ports: list[int], senders: list[Sender], rng: random.Random
) -> int:
    """Let two collectors and two closers work at once; kill them one by one."""
    children = [collector(folder, day, hasty=True) for _ in range(2)]
    children += [closer(folder, day - 31) for _ in range(2)]
    if rng.random() < 0.7:
        ports[:] = [child.first() for child in children[:2]]
        before = sum(len(sender.acknowledged) for sender in senders)
        wait_for(
            lambda: sum(len(sender.acknowledged) for sender in senders) > before,
            lambda: not any(sender.trouble for sender in senders),
        )
    rng.shuffle(children)
    killed = 0
    for child in children:
        time.sleep(rng.uniform(0, 0.3))
        killed += child.kill()
    ports.clear()
    return killed


def _finish(folder: Path, day: int, ports: list[int], senders: list[Sender]) -> None:
    both: list[Child] = [collector(folder, day, hasty=True) for _ in range(2)]
    try:
        ports[:] = [child.first() for child in both]
        for sender in senders:
            sender.finish()
    finally:
        for child in both:
            child.kill()
