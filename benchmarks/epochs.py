"""An open epoch as it grows, and its closing: what an append costs, what is written, who waits.

    python benchmarks/epochs.py [--reports 10000000] [--group 1000] [--closed 10000000]

The first table has a line for each size of the epoch: reports per second, microseconds of
processor and bytes written per report (an id of 16 bytes and a record of 18), and the longest time
that an append spent on merging ids. The last line compares the largest epoch with an empty one.

The second table closes an epoch of `--closed` reports, half of which carry ids, while another
epoch is appended to: bytes written per byte of record and id, the size of the file, and how long
appends took meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from _measure import arguments
from deniable.protocol import Report
from deniable.store import STORE_FILE, Batch, SqliteStore
from deniable.store.sqlite.ids import Ids

SIZE, ID = 18, 16
EPOCH, DAYS = 20_000, {("bench", 1): 1}
WINDOW = 200
"""Appends of which a line of the first table is the mean."""


def group(size: int, epoch: int = EPOCH) -> list[Report]:
    """Return new reports."""
    batch = ("bench", 1, bytes(32), epoch)
    return [Report(*batch, os.urandom(ID), os.urandom(SIZE)) for _ in range(size)]


def written() -> int:
    """Return the bytes that this process has written so far."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


class Merging:
    """Times the merges of ids."""

    def __init__(self) -> None:
        self.longest = 0.0
        original = Ids._merge

        def merge(ids: Ids, *arguments: object) -> None:
            began = time.perf_counter()
            original(ids, *arguments)  # type: ignore[arg-type]
            self.longest = max(self.longest, time.perf_counter() - began)

        Ids._merge = merge  # type: ignore[method-assign]


def grow(folder: Path, reports: int, size: int) -> Iterator[dict[str, float]]:
    """Append until an epoch has its size, and yield what a report cost in windows of it."""
    merging = Merging()
    marks = [0, *(reports // part for part in (100, 10, 5, 2, 1))]
    with SqliteStore(folder / "open" / STORE_FILE) as store:
        store.append(group(size, EPOCH - 1))  # what happens once is no part of it
        done, seconds, cpu, counted, before = 0, 0.0, 0.0, 0, written()
        while marks:
            made = group(size)
            began, began_cpu = time.perf_counter(), time.process_time()
            store.append(made)
            seconds += time.perf_counter() - began
            cpu += time.process_time() - began_cpu
            done, counted = done + size, counted + size
            if counted >= WINDOW * size and done >= marks[0]:
                yield {
                    "ids": done,
                    "per_second": counted / seconds,
                    "microseconds": 1e6 * cpu / counted,
                    "bytes": (written() - before) / counted,
                    "longest_merge": 1e3 * merging.longest,
                }
                del marks[0]
            if counted >= WINDOW * size:
                seconds, cpu, counted, before = 0.0, 0.0, 0, written()


def close(folder: Path, reports: int, size: int) -> dict[str, float]:
    """Close an epoch, half of it with ids, while others are appended to."""
    path = folder / "closing" / STORE_FILE
    with SqliteStore(path) as store:
        for _ in range(reports // 2 // size):
            store.append(group(size, 10))
        batch = Batch("bench", 1, bytes(32), 10)
        for _ in range(reports // 2 // size):
            store.append_records(batch, os.urandom(SIZE * size), SIZE)
        filled = path.stat().st_size
        waits, ended = [], threading.Event()

        def collect() -> None:
            while not ended.wait(0.02):
                made = group(10, EPOCH)
                began = time.perf_counter()
                store.append(made)
                waits.append(time.perf_counter() - began)

        others = threading.Thread(target=collect)
        others.start()
        before, began, cpu = written(), time.perf_counter(), time.process_time()
        store.close_epochs(11, DAYS, running_seconds=0)
        wrote, seconds = written() - before, time.perf_counter() - began
        cpu = time.process_time() - cpu
        ended.set()
        others.join()
    waits.sort()
    return {
        "reports": reports,
        "seconds": seconds,
        "cpu": cpu,
        "written_per_byte": wrote / (reports * SIZE + reports // 2 * ID),
        "file_per_report_before": filled / reports,
        "file_per_report": path.stat().st_size / reports,
        "appends": len(waits),
        "median_ms": 1e3 * waits[len(waits) // 2],
        "p99_ms": 1e3 * waits[len(waits) * 99 // 100],
        "longest_ms": 1e3 * waits[-1],
    }


def main() -> None:
    """Measure and print tables, or one JSON object."""
    chosen = arguments(
        __doc__,
        reports=(10_000_000, "reports of the open epoch; 0 leaves it out"),
        group=(1_000, "reports of a group"),
        closed=(10_000_000, "reports of the epoch that is closed; 0 leaves it out"),
    )
    shown = sys.stderr if chosen.json else sys.stdout
    with tempfile.TemporaryDirectory(prefix="deniable-epochs-") as name:
        rows = []
        if chosen.reports:
            print("       ids    reports/s  us of cpu    bytes  longest merge (ms)", file=shown)
            for row in grow(Path(name), chosen.reports, chosen.group):
                rows.append(row)
                line = "{:>10,.0f} {:>12,.0f} {:>10.2f} {:>8.0f} {:>19.1f}"
                print(line.format(*row.values()), file=shown, flush=True)
            for unit in ("per_second", "microseconds"):
                first, last = rows[0][unit], rows[-1][unit]
                ratio = max(first / last, last / first)
                print(f"empty and {rows[-1]['ids']:,.0f}: {unit} differ by {ratio:.2f}", file=shown)
        closing = close(Path(name), chosen.closed, chosen.group) if chosen.closed else {}
        for key, value in closing.items():
            print(f"closing, {key.replace('_', ' ')}: {value:,.2f}", file=shown)
    if chosen.json:
        print(json.dumps({"open": rows, "closing": closing}))


if __name__ == "__main__":
    main()
