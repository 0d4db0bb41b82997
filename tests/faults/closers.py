"""Closers killed while epochs are closed: by `close_epochs`, and by a collector on a later day."""

from __future__ import annotations

import random
import time
from pathlib import Path

from faults import store_child
from faults.checking import check_store, prepare
from faults.children import Child
from faults.filling import Filling
from faults.kills import Progress, collector
from faults.material import TODAY
from faults.outcome import Outcome

DAYS, GROUPS, SIZE = 20, 8, 6
FIRST_DAY = TODAY - 3_000
LITTLE_MEMORY = 4_000
"""Bytes: batches of more are shuffled outside memory, in buckets."""


def run(folder: Path, kills: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Fill a store, kill its closers until one reaches the end, and fill it again."""
    outcome, rng, began = Outcome("closers"), random.Random(seed), time.monotonic()
    prepare(folder)
    filling, stretch = Filling(folder / "data", rng), 0
    while outcome.kills < kills:
        day = FIRST_DAY + DAYS * stretch
        filling.fill(day, DAYS, GROUPS, SIZE)
        outcome.kills += _close(folder, day, rng, kills - outcome.kills, filling, outcome, progress)
        stretch += 1
    _finish(folder, FIRST_DAY + DAYS * (stretch + 1), outcome)
    check_store(folder, filling.numbers, outcome)
    outcome.acknowledged = len(filling.numbers)
    outcome.seconds = time.monotonic() - began
    return outcome


def closer(folder: Path, before: int, **choice: object) -> Child:
    """Start a process that closes all epochs before a day."""
    place = {"folder": str(folder), "before": before}
    return Child(store_child.close, folder / "output", **place, **choice)


def _close(
    folder: Path,
    day: int,
    rng: random.Random,
    most: int,
    filling: Filling,
    outcome: Outcome,
    progress: Progress,
) -> int:
    """Kill closers one after the other until one reaches the end; return how many were killed."""
    killed, after = 0, day + DAYS + 7
    while killed < most:
        if rng.random() < 0.3:
            child = collector(folder, after + 40, hasty=True)
            time.sleep(rng.uniform(0, 0.4))
        else:
            memory = {"merge_bytes": LITTLE_MEMORY} if rng.random() < 0.5 else {}
            child = closer(folder, after, **memory)
            if rng.random() < 0.9:
                child.first()
            time.sleep(rng.uniform(0, 0.4))
        if not child.kill():
            if not isinstance(child.told[-1], int):
                outcome.expect(False, f"a closer said {child.told[-1]!r}")
            break
        killed += 1
        progress(1)
        outcome.retries += 1
        check_store(folder, filling.numbers, outcome)
    return killed


def _finish(folder: Path, before: int, outcome: Outcome) -> None:
    """Close everything without a kill: it must work after all of them."""
    child = closer(folder, before)
    code = child.finish()
    outcome.expect(code == 0 and isinstance(child.told[-1], int), f"closing said {child.told}")
