"""Three collectors on one PostgreSQL database; collectors and the whole server are killed.

The day moves on, so that epochs are closed while all this happens.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from faults import collector_child
from faults.checking import check_store, prepare
from faults.children import Child, wait_for
from faults.filling import Filling
from faults.kills import Progress
from faults.material import TODAY
from faults.outcome import Outcome
from faults.senders import Sender
from material.cluster import Cluster

COLLECTORS, SENDERS = 3, 4
STEP, DAYS, GROUPS, SIZE = 60, 20, 2, 10
FIRST_DAY = TODAY - 3_000
KILLS_A_DAY = 12
_WHOLE_SERVER = 0.4


def run(folder: Path, kills: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Kill collectors and the server, in turns of a day each; then let all finish, and count."""
    outcome, rng, began = Outcome("databases"), random.Random(seed), time.monotonic()
    prepare(folder)
    server = Cluster.made()
    try:
        _Driver(folder, server, rng, outcome, progress).run(kills)
    finally:
        server.remove()
    outcome.seconds = time.monotonic() - began
    return outcome


class _Driver:
    def __init__(
        self,
        folder: Path,
        server: Cluster,
        rng: random.Random,
        outcome: Outcome,
        progress: Progress,
    ) -> None:
        self._folder, self._server, self._rng = folder, server, rng
        self._outcome, self._progress = outcome, progress
        self._day = FIRST_DAY
        self._children: list[Child] = []
        self._ports: list[int] = []
        self._filling = Filling(server.place(), rng)
        self._senders = [
            Sender(part, lambda: self._ports, random.Random(rng.random()), lambda: [self._day], 5)
            for part in range(SENDERS)
        ]

    def run(self, kills: int) -> None:
        for sender in self._senders:
            sender.start()
        try:
            while self._outcome.kills < kills:
                self._spend_a_day(min(kills, self._outcome.kills + KILLS_A_DAY))
            self._start(COLLECTORS)
            for sender in self._senders:
                sender.finish()
        finally:
            for sender in self._senders:
                sender.stop()
            self._end()
        refused = set[int]().union(*(sender.refused for sender in self._senders))
        self._check(refused)
        self._outcome.acknowledged = len(self._known())
        self._outcome.retries = sum(sender.retries for sender in self._senders)
        self._outcome.duplicates = sum(sender.duplicates for sender in self._senders)

    def _spend_a_day(self, kills: int) -> None:
        """Start all collectors on a new day, on which earlier epochs are over, and kill."""
        self._filling.fill(self._day - DAYS, DAYS, GROUPS, SIZE)
        self._day += STEP
        self._start(COLLECTORS)
        while self._outcome.kills < kills:
            self._wait_for_work()
            time.sleep(self._rng.uniform(0, 0.15))
            if self._rng.random() < _WHOLE_SERVER:
                self._server.kill()
                self._count(1)
                time.sleep(self._rng.uniform(0, 0.1))
                self._server.start()
            else:
                at = self._rng.randrange(COLLECTORS)
                del self._ports[at]
                self._count(self._children.pop(at).kill())
                self._start(1)
        self._end()
        self._check(None)

    def _start(self, count: int) -> None:
        made = [
            Child(
                collector_child.collect,
                self._folder / "output",
                folder=str(self._folder),
                place=self._server.place(),
                today=self._day,
            )
            for _ in range(count)
        ]
        self._children += made
        self._ports += [child.first() for child in made]

    def _end(self) -> None:
        self._ports.clear()
        for child in self._children:
            child.kill()
        self._children.clear()
        # The server goes on with what a killed collector asked last: it may commit between two
        # readings of a check.
        self._server.wait_until_alone()

    def _wait_for_work(self) -> None:
        """Wait until something was acknowledged: a kill in idleness shows nothing."""
        before = self._acknowledged()
        wait_for(lambda: self._acknowledged() > before, self._no_trouble)

    def _no_trouble(self) -> bool:
        return not any(sender.trouble for sender in self._senders)

    def _acknowledged(self) -> int:
        return sum(len(sender.acknowledged) for sender in self._senders)

    def _known(self) -> set[int]:
        return self._filling.numbers.union(*(sender.numbers() for sender in self._senders))

    def _check(self, perhaps: set[int] | None) -> None:
        place = self._server.place()
        check_store(self._folder, self._known(), self._outcome, perhaps, place)

    def _count(self, kills: int) -> None:
        self._outcome.kills += kills
        self._progress(kills)
