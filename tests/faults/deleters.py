"""Processes killed while reports past their retention go, of epochs that are still open.

Half of the kills are over SQLite, half over PostgreSQL. What is past its retention may be there or
not until a deleter reaches the end; everything else must be there once. Every report is appended
again after each kill, behind the back of the rules that would refuse it: none is taken for new.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from deniable.store import open_store
from deniable.store.check import check_store as sound
from faults import store_child
from faults.checking import check_store, prepare, store_path
from faults.children import Child
from faults.filling import Filling
from faults.kills import Progress, collector
from faults.material import EPOCH_DAYS, RETENTION, TODAY, asked, report
from faults.outcome import Outcome
from faults.store_child import HastyDatabase, HastyStore
from material.cluster import Cluster

DAYS, GROUPS, SIZE = 8, 6, 8
FIRST_DAY = TODAY - 3_000
PAST = DAYS + 6 + max(RETENTION.values()) + 1
"""Days after the first one of a stretch on which all its reports with a retention are past it."""


def run(folder: Path, kills: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Fill stores, kill deleters until one reaches the end, and fill again."""
    outcome, began = Outcome("deleters"), time.monotonic()
    server = Cluster.made()
    try:
        for number, place in enumerate((None, server.place())):
            rng = random.Random(f"{seed}/{number}")
            driver = _Driver(folder / str(number), place, rng, outcome, progress)
            driver.run((kills + 1 - number) // 2)
    finally:
        server.remove()
    outcome.seconds = time.monotonic() - began
    return outcome


class _Driver:
    def __init__(
        self,
        folder: Path,
        place: str | None,
        rng: random.Random,
        outcome: Outcome,
        progress: Progress,
    ) -> None:
        self._folder, self._place, self._rng = folder, place, rng
        self._outcome, self._progress = outcome, progress
        self._day = FIRST_DAY
        self._gone: set[int] = set()
        prepare(folder)
        self._filling = Filling(place or folder / "data", rng)

    def run(self, kills: int) -> None:
        """Go from stretch to stretch of days until there were so many kills."""
        killed = 0
        while killed < kills:
            before = set(self._filling.numbers)
            self._filling.fill(self._day, DAYS, GROUPS, SIZE)
            new = self._filling.numbers - before
            due = {number for number in new if asked(number).id in RETENTION}
            while killed < kills and (done := self._kill()):
                killed += done
                self._outcome.kills += done
                self._check(new, due)
            self._finish(due)
            self._check(new, set())
            self._day += DAYS
        self._outcome.acknowledged += len(self._filling.numbers)
        self._close()

    def _kill(self) -> int:
        """Start one process that deletes, or two, and kill them; return how many were at work."""
        children = [self._child() for _ in range(self._rng.choice((1, 1, 2)))]
        if self._rng.random() < 0.8:
            for child in children:
                child.first()
        time.sleep(self._rng.uniform(0, 0.15))
        killed = sum(child.kill() for child in children)
        self._progress(killed)
        return killed

    def _child(self) -> Child:
        today = self._day + PAST
        place = {} if self._place is None else {"place": self._place}
        if self._rng.random() < 0.3:
            return collector(self._folder, today, survey="short.json", hasty=True, **place)
        return self._deleter(today)

    def _deleter(self, today: int) -> Child:
        place = {} if self._place is None else {"place": self._place}
        choice = {"folder": str(self._folder), "today": today, **place}
        return Child(store_child.expire, self._folder / "output", **choice)

    def _finish(self, due: set[int]) -> None:
        """Delete without a kill: it must work after all of them."""
        for _ in range(3):  # of the first two, one may take a killed one's lease to be alive
            child = self._deleter(self._day + PAST)
            code = child.finish()
            if code == 0 and isinstance(child.told[-1], int):
                break
        self._outcome.expect(isinstance(child.told[-1], int), f"deleting said {child.told}")
        self._gone |= due

    def _check(self, new: set[int], due: set[int]) -> None:
        """Compare what is there with what should be, and send everything once more."""
        promised = self._filling.numbers - self._gone - due
        check_store(self._folder, promised, self._outcome, due, self._place)
        again = [report(number, self._filling.days[number]) for number in sorted(new)]
        with open_store(self._place or self._folder / "data") as store:
            done = store.append(again)
        self._outcome.retries += len(again)
        self._outcome.duplicates += done.duplicates
        self._outcome.double(done.accepted, "a retry of a deleted report was taken for new")

    def _close(self) -> None:
        """Close everything: what was left half deleted goes, and so do the ids."""
        store = HastyDatabase(self._place) if self._place else HastyStore(store_path(self._folder))
        with store:
            store.close_epochs(self._day + 100, EPOCH_DAYS)
        check_store(
            self._folder, self._filling.numbers - self._gone, self._outcome, (), self._place
        )
        found = sound(self._place or self._folder / "data")
        self._outcome.expect(not found.problems, f"the store has problems: {found.problems[:2]}")
        self._outcome.expect(not found.leftovers, f"{found.leftovers} chunks of no batch")
