"""Durable reports per second: SQLite beside PostgreSQL, one collector process beside four.

    python benchmarks/stores.py [--seconds 3] [--rounds 3] [--before REVISION]

Both stores keep their files in the same folder on a disk, and every group is synced before it
counts. The contestants take turns; the median round is shown. `--before` measures SQLite with the
code of another revision of this repository as well.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

GROUPS = (1, 100, 1_000)
SIZE, MOST = 18, 120_000
PROCESSES = 4
_PATIENCE = 300


def work(place: str, group: int, seconds: float) -> None:
    """Be a collector's writer: append groups from a signal on, and print how many per second."""
    from deniable.protocol import Report
    from deniable.store import open_store

    def groups() -> Iterator[list[Report]]:
        batch = ("bench", 1, bytes(32), 20_000)
        for _ in range(max(1, min(MOST, int(seconds * 40_000)) // group)):
            yield [Report(*batch, os.urandom(16), os.urandom(SIZE)) for _ in range(group)]

    made = list(groups())
    with open_store(place) as store:
        for warm in made[:5]:
            store.append(warm)
        print("ready", flush=True)
        sys.stdin.readline()
        began, cpu = time.perf_counter(), time.process_time()
        done = 0
        for each in made[5:]:
            done += store.append(each).accepted
            if time.perf_counter() - began > seconds:
                break
        took = time.perf_counter() - began
    print(json.dumps({"reports": done, "seconds": took, "cpu": time.process_time() - cpu}))


def rate(place: str, group: int, seconds: float, processes: int = 1, source: Path = ROOT) -> float:
    """Return the reports per second that some processes write together."""
    command = [sys.executable, __file__, "--work", place, str(group), str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    children = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(processes)
    ]
    try:
        for child in children:
            if child.stdout is None or child.stdout.readline() != "ready\n":
                raise RuntimeError("A process did not start; its error is above.")
        for child in children:
            if child.stdin is not None:
                child.stdin.write("go\n")
                child.stdin.flush()
        told = [json.loads(child.communicate(timeout=_PATIENCE)[0]) for child in children]
    finally:
        for child in children:
            child.kill()
    # Of processes that end at different moments, the time until the last one counts.
    return sum(each["reports"] for each in told) / max(each["seconds"] for each in told)


@contextmanager
def earlier(revision: str | None, folder: Path) -> Iterator[Path | None]:
    """Give the source of another revision, unpacked."""
    if revision is None:
        yield None
        return
    target = folder / "earlier"
    target.mkdir()
    archive = [shutil.which("git") or "git", "-C", str(ROOT), "archive", revision, "src"]
    packed = subprocess.run(archive, check=True, capture_output=True).stdout
    subprocess.run(
        [shutil.which("tar") or "tar", "-x", "-C", str(target)], input=packed, check=True
    )
    yield target


def measure(
    folder: Path, seconds: float, rounds: int, revision: str | None
) -> Iterator[dict[str, object]]:
    """Yield the rates of each size of groups."""
    from material.cluster import Cluster

    server = Cluster.made(parent=str(folder))
    count = 0

    def fresh(kind: str) -> str:
        nonlocal count
        count += 1
        return server.place(f"s{count}") if kind == "postgres" else str(folder / f"s{count}")

    try:
        with earlier(revision, folder) as before:
            for group in GROUPS:
                found: dict[str, list[float]] = {}
                for _ in range(rounds):
                    runs = {
                        "sqlite": lambda g=group: rate(fresh("sqlite"), g, seconds),
                        "postgres": lambda g=group: rate(fresh("postgres"), g, seconds),
                        "four": lambda g=group: rate(fresh("postgres"), g, seconds, PROCESSES),
                    }
                    if before is not None:
                        runs["before"] = lambda g=group: rate(
                            fresh("sqlite"), g, seconds, 1, before
                        )
                    for name, run in runs.items():
                        found.setdefault(name, []).append(run())
                yield {
                    "group": group,
                    **{name: statistics.median(rates) for name, rates in found.items()},
                }
    finally:
        server.remove()


def main() -> None:
    """Measure and print a table, or one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="of each run (3)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts (3)")
    parser.add_argument("--before", metavar="REVISION", help="SQLite's code of this revision, too")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.work[0], int(chosen.work[1]), float(chosen.work[2]))
        return
    with tempfile.TemporaryDirectory(prefix="deniable-stores-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL's user must reach its folder in it
        rows = []
        for row in measure(Path(folder), chosen.seconds, chosen.rounds, chosen.before):
            rows.append(row)
            if not chosen.json:
                show(row, first=len(rows) == 1)
    if chosen.json:
        print(json.dumps({"rows": rows}))


def show(row: dict[str, object], *, first: bool) -> None:
    """Print one line of the table, under its head if it is the first."""
    names = [name for name in row if name != "group"]
    if first:
        head = "".join(f"{name:>12}" for name in names)
        print(f"{'group':>6}{head}   postgres/sqlite  four/postgres  (reports per second)")
    rates = {name: float(str(row[name])) for name in names}
    base = rates.get("before", rates["sqlite"])
    line = "".join(f"{rates[name]:>12,.0f}" for name in names)
    ratios = f"{rates['postgres'] / base:>18.2f}{rates['four'] / rates['postgres']:>15.2f}"
    print(f"{row['group']:>6}{line}{ratios}", flush=True)


if __name__ == "__main__":
    main()
