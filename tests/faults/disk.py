"""Full disks, while reports arrive and while epochs are closed, and what comes after.

A small file system in memory is really full; where this process may not mount one, a bound on the
size of files stands for it. Both are used where both can be.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from faults import collector_child, store_child
from faults.checking import check_store, prepare, store_path
from faults.children import Child, wait_for
from faults.client_material import START
from faults.clients import finished, settle, start
from faults.filling import Filling
from faults.kills import Progress
from faults.material import TODAY
from faults.moody import MoodyCollector
from faults.outcome import Outcome
from faults.senders import Sender

BYTES = 4 * 2**20
SENDERS = 3
_OLD = TODAY - 100


def run(folder: Path, rounds: int, seed: int, progress: Progress = lambda _: None) -> Outcome:
    """Fill disks below a collector, its closer and a client; give space again, and count."""
    outcome, rng, began = Outcome("disk"), random.Random(seed), time.monotonic()
    folder.mkdir(parents=True)
    for number in range(rounds):
        place = folder / f"limit-{number}"
        outcome.add(_store_on(_Limited(place, rng), rng))
        outcome.add(_client(folder / f"client-{number}", rng))
        progress(1)
        with mounted(folder / f"mount-{number}") as small:
            if small is not None:
                outcome.add(_store_on(_Mounted(small, folder), rng))
    outcome.seconds = time.monotonic() - began
    return outcome


@contextmanager
def mounted(place: Path) -> Iterator[Path | None]:
    """Mount a small file system for a while; give None where that is not allowed."""
    place.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={BYTES}", "tmpfs", str(place)]
    allowed = os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield place if allowed else None
    finally:
        if allowed:
            subprocess.run(["umount", str(place)], check=True)


class _Limited:
    """A disk that is full because no file may grow beyond a size."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        prepare(folder)
        self.folder, self.output = folder, folder / "output"
        self._rng, self._full = rng, False

    def fill(self) -> None:
        self._full = True

    def free(self) -> None:
        self._full = False

    def options(self) -> dict[str, int]:
        """Return what a child must be told: how large a file may be from now on."""
        if not self._full:
            return {}
        files = [p for p in store_path(self.folder).parent.iterdir() if p.suffix != ".json"]
        largest = max((path.stat().st_size for path in files), default=0)
        return {"largest_file": largest + self._rng.randrange(1, 60_000)}


class _Mounted:
    """A disk that is full because a file takes all that is left of it."""

    def __init__(self, small: Path, outside: Path) -> None:
        prepare(small)
        self.folder, self.output = small, outside / "output"
        self._ballast = small / "ballast"

    def fill(self) -> None:
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            for size in (65_536, 4_096):
                with suppress(OSError):
                    while file.write(bytes(size)) == size:
                        pass

    def free(self) -> None:
        self._ballast.unlink()

    def options(self) -> dict[str, int]:
        """Return what a child must be told: nothing, the disk is really full."""
        return {}


def _store_on(disk: _Limited | _Mounted, rng: random.Random) -> Outcome:
    """Collect until the disk is full, try to close epochs, and go on when there is space."""
    outcome, ports = Outcome("store"), list[int]()
    filling = Filling(disk.folder / "data", rng)
    filling.fill(_OLD, 10, 4, 30)
    senders = [
        Sender(part, lambda: ports, random.Random(rng.random()), lambda: [TODAY])
        for part in range(SENDERS)
    ]
    if isinstance(disk, _Limited):
        disk.fill()  # the bound is given to a process at its start
    with _collector(disk) as child:
        ports[:] = [child.first()]
        disk.fill()
        for sender in senders:
            sender.start()
        try:
            wait_for(lambda: sum(sender.busy for sender in senders) > 5)
            _try_to_close(disk, outcome)
            known = filling.numbers.union(*(sender.numbers() for sender in senders))
            check_store(disk.folder, known, outcome, None)
            disk.free()
            if isinstance(disk, _Limited):
                ports.clear()
                child.kill()
        finally:
            for sender in senders:
                sender.finishing.set()
        with _collector(disk) as second:
            ports.append(second.first())
            for sender in senders:
                sender.finish()
    _close(disk, outcome)
    known = filling.numbers.union(*(sender.numbers() for sender in senders))
    check_store(disk.folder, known, outcome)
    outcome.acknowledged = len(known)
    outcome.retries = sum(sender.retries for sender in senders)
    outcome.duplicates = sum(sender.duplicates for sender in senders)
    return outcome


def _collector(disk: _Limited | _Mounted) -> Child:
    place = {"folder": str(disk.folder), "today": TODAY}
    return Child(collector_child.collect, disk.output, **place, **disk.options())


def _closer(disk: _Limited | _Mounted) -> Child:
    place = {"folder": str(disk.folder), "before": TODAY - 30}
    return Child(store_child.close, disk.output, **place, **disk.options())


def _try_to_close(disk: _Limited | _Mounted, outcome: Outcome) -> None:
    """Close on a full disk: it says so in the store's words, or it does not need the space."""
    for _ in range(3):
        child = _closer(disk)
        code = child.finish()
        outcome.expect(code == 0, f"closing on a full disk ended with {code}")
        outcome.retries += isinstance(child.told[-1], str)


def _close(disk: _Limited | _Mounted, outcome: Outcome) -> None:
    child = _closer(disk)
    code = child.finish()
    closed = code == 0 and isinstance(child.told[-1], int)
    outcome.expect(closed, f"closing with space again said {child.told}")


def _client(folder: Path, rng: random.Random) -> Outcome:
    """Record and send on a full disk, then on one with space."""
    outcome = Outcome("client")
    folder.mkdir()
    with MoodyCollector(rng) as collector:
        collector.mood = "kind"
        start(folder, collector.endpoint, START, days=2).finish()
        for size in (0, 1, 4_096, rng.randrange(4_096, 200_000)):
            start(folder, collector.endpoint, START, days=5, largest_file=size).finish()
        finished(folder, collector.endpoint, START, outcome)
        settle(folder, collector, set(), outcome)
    return outcome
