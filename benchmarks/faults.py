"""The price of a machine's faults: processes killed, power cut, disks full, clocks wrong. Zeros.

    python benchmarks/faults.py [--kills 1000] [--points 10000] [--only collectors] [--seed 7]

Every driver brings about one kind of fault, with real processes and real SIGKILL, and compares what
was promised with what is there. `points` are images of a disk that a power cut may have left: the
writes and syncs of a real process, recorded by strace, replayed up to every sync with what was not
synced dropped, kept or torn. `databases` has three collectors on one PostgreSQL server, which is
killed too. `deleters` has open epochs deleted that are past their retention, and sends them again.
The drivers stand in tests/faults, which also runs them in short.

Ends with 1 if anything was lost, doubled, wrong or damaged.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from faults import (
    client_points,
    clients,
    clock,
    closers,
    crash_points,
    databases,
    deleters,
    disk,
    kills,
    store_points,
    two_collectors,
)
from faults.outcome import Outcome, table

_Run = Callable[[Path, int, int, Callable[[int], object]], Outcome]


@dataclass(frozen=True)
class Driver:
    """A kind of fault: its part of all kills or points, or a number of rounds."""

    run: _Run
    kills: float = 0.0
    points: float = 0.0
    rounds: int = 0

    def amount(self, all_kills: int, all_points: int) -> int:
        """Return how many kills, points or rounds it is to do."""
        return self.rounds or round(self.kills * all_kills + self.points * all_points)


def _power(points: object, rounds: int) -> _Run:
    """Return the driver that records a process and replays what it wrote."""

    def run(folder: Path, wanted: int, seed: int, progress: Callable[[int], object]) -> Outcome:
        events = points.recorded(folder, rounds)  # type: ignore[attr-defined]
        return crash_points.replay_on_all_processors(
            events,
            str(folder),
            points.check,  # type: ignore[attr-defined]
            wanted,
            seed,
            os.cpu_count() or 1,
            progress,
        )

    return run


DRIVERS = {
    "collectors": Driver(kills.run, kills=0.25),
    "closers": Driver(closers.run, kills=0.15),
    "two-collectors": Driver(two_collectors.run, kills=0.15),
    "databases": Driver(databases.run, kills=0.2),
    "deleters": Driver(deleters.run, kills=0.05),
    "clients": Driver(clients.run, kills=0.2),
    "disk": Driver(disk.run, rounds=5),
    "clock": Driver(clock.run, rounds=3),
    "store-power": Driver(_power(store_points, 6), points=0.65),
    "client-power": Driver(_power(client_points, 8), points=0.35),
}


def run(names: list[str], all_kills: int, all_points: int, seed: int) -> list[Outcome]:
    """Run the drivers one after the other, and show how far they are."""
    outcomes = []
    columns = (TextColumn("{task.description:16}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=_console()) as bar:
        for name in names:
            driver = DRIVERS[name]
            amount = driver.amount(all_kills, all_points)
            task = bar.add_task(name, total=amount)
            with tempfile.TemporaryDirectory(prefix="deniable-faults-") as folder:
                outcome = driver.run(
                    Path(folder) / "work", amount, seed, lambda n, task=task: bar.advance(task, n)
                )
            outcome.name = name
            outcomes.append(outcome)
    return outcomes


def _console() -> object:
    from rich.console import Console

    return Console(stderr=True)


def main() -> int:
    """Read the command line, run, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=1_000, help="of all drivers together (1,000)")
    parser.add_argument("--points", type=int, default=10_000, help="power cuts (10,000)")
    parser.add_argument("--only", action="append", choices=DRIVERS, help="some drivers only")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    outcomes = run(chosen.only or list(DRIVERS), chosen.kills, chosen.points, chosen.seed)
    if chosen.json:
        print(json.dumps({"seed": chosen.seed, "drivers": [o.as_json() for o in outcomes]}))
    else:
        print(table(outcomes))
    return int(any(outcome.faults for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
