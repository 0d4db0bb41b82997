"""Counting RAPPOR reports in an archive: Spark over a list of files, threads, reading the bytes.

    python benchmarks/spark.py --reports 100000000
    python benchmarks/spark.py --reports 1000000000 --distinct 100000000 --rounds 1

All by the processor time of all processes, in one run, after one job of each: the ratios are the
result. The first job of a Spark session costs many seconds more. Before each run the system is told
to forget the files, as if they were older than its memory is large; `--cached 1` leaves them there,
where a copy of memory is all that reading means. Files are written to a temporary folder (18 bytes
per report; `TMPDIR` moves it) and removed. Records are random bytes: counting does not look. With
`--distinct`, files stand for the others under names of their own (hard links): each is opened and
counted by itself, and read from memory where it was read before. The most memory of each process
is printed beside the rates.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from _measure import Rate, arguments, show, versions
from deniable.authoring import resolve
from deniable.engines import Accumulated, Engine, Processes, Threads, accumulate
from deniable.engines.spark import Spark, spark_session
from deniable.protocol import Field, Question, Strings
from deniable.protocol.canonical import canonical
from deniable.protocol.rappor import RapporParameters
from deniable.store.archive import Archive
from deniable.store.archive.layout import HEAD, Head, folder_of, records_sum
from deniable.store.archive.writing import ROW_GROUP
from deniable.store.base import Batch

COHORTS, SIZE = 32, 18
PART = (1 << 26) // SIZE
TICK = os.sysconf("SC_CLK_TCK")


def question() -> Question:
    """Return a question by RAPPOR, k = 128 and 32 cohorts: 18 bytes per record."""
    wanted = {"k": 128, "h": 2, "m": COHORTS, "f": 0.5, "p": 0.5, "q": 0.75}
    field = Field("value", Strings(), resolve(RapporParameters, wanted, Strings(), False))
    return Question("q", 1, "?", "us", date(2099, 1, 1), 1, "once", "recorded", (field,))


def write(folder: Path, asked: Question, reports: int, distinct: int = 0) -> Archive:
    """Write an archive of random records in parts of 64 MiB; beyond `distinct`, as hard links."""
    rng = np.random.default_rng(1)
    batch = Batch(asked.id, 1, asked.digest, 20_000)
    place = folder / folder_of(batch)
    place.mkdir(parents=True)
    (folder / "archive.json").write_text('{"format":1}\n')
    written: list[Path] = []
    left = distinct or reports
    while left:
        rows = min(PART, left)
        written.append(place / f"part-{len(written):016x}.parquet")
        _write_part(written[-1], asked, batch, rng.integers(0, 256, (rows, SIZE), np.uint8))
        left -= rows
    for copy in range(1, reports // (distinct or reports)):
        for number, path in enumerate(written):
            os.link(path, place / f"part-{copy * len(written) + number:016x}.parquet")
    return Archive(folder)


def _write_part(path: Path, asked: Question, batch: Batch, rows: NDArray[np.uint8]) -> None:
    rows[:, 0] %= COHORTS
    rows[:, 1] = 0
    head = Head(batch, len(rows), SIZE, records_sum(rows.tobytes()), _contract(asked))
    column = pa.Array.from_buffers(pa.binary(SIZE), len(rows), [None, pa.py_buffer(rows)])
    table = pa.table({"record": column}).replace_schema_metadata({HEAD: head.written()})
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(table, path, row_group_size=ROW_GROUP, **plain)


def _contract(asked: Question) -> str:
    return canonical(asked.published()).decode()


def read_bytes(folder: Path) -> None:
    """Read every file once, into one buffer."""
    buffer = bytearray(1 << 20)
    for path in folder.rglob("*.parquet"):
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass


def read_batches(folder: Path) -> None:
    """Read every file once with PyArrow, into memory of its own, as any reader of Parquet does."""
    for path in folder.rglob("*.parquet"):
        for _ in pq.ParquetFile(path, memory_map=False).iter_batches(batch_size=ROW_GROUP):
            pass


class Spent(NamedTuple):
    """Processor seconds of a process.

    Attributes:
        parent: the number of the process that started it.
        own: its own seconds.
        ended: those of its children that have ended, as far as it has asked for them.
    """

    parent: int
    own: float
    ended: float


def family() -> dict[int, Spent]:
    """Return what this process and all that it has started have spent, by number."""
    everyone: dict[int, Spent] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            cut = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        user, system, users, systems = (int(ticks) / TICK for ticks in cut[11:15])
        everyone[int(path.parent.name)] = Spent(int(cut[1]), user + system, users + systems)
    found = [os.getpid()]
    for one in found:
        found += [number for number, spent in everyone.items() if spent.parent == one]
    return {one: everyone[one] for one in found}


def spent_since(before: dict[int, Spent]) -> float:
    """Return the processor time of the family since then.

    A process that has ended since is in the sum of its parent with all that it ever spent, or, if
    its parent never asked (Spark's idle workers), in none.
    """
    none, total = Spent(0, 0.0, 0.0), 0.0
    now = family()
    children = {one: spent.ended - before.get(one, none).ended for one, spent in now.items()}
    for number, past in before.items():
        earlier = past.own + past.ended
        if number not in now and children.get(past.parent, 0.0) >= earlier:
            children[past.parent] -= earlier
    for number, spent in now.items():
        total += spent.own - before.get(number, none).own + children[number]
    return total


def peaks() -> dict[str, str]:
    """Return the most memory that each process has held so far, in MB."""
    held = []
    for number in family():
        try:
            told = Path(f"/proc/{number}/status").read_text()
            name = Path(f"/proc/{number}/comm").read_text().strip()
        except OSError:
            continue
        size = next((line for line in told.splitlines() if line.startswith("VmHWM")), None)
        if size is not None:
            held.append(f"{name} {int(size.split()[1]) // 1024}")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    return {"most MB of": "; ".join(held), "of a process that has ended": str(largest)}


def forget(folder: Path) -> None:
    """Tell the system to drop its copies of files in memory."""
    for path in folder.rglob("*.parquet"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def costs(
    runs: dict[str, Callable[[], object]], before_each: Callable[[], None], rounds: int
) -> list[float]:
    """Return the processor time of each run: the median of some rounds, after one more.

    Rounds go over all runs: the system does not always forget what the same reader read last.
    """
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name, run in runs.items():
            before_each()
            before = family()
            run()
            spent[name].append(spent_since(before))
    return [max(median(each), 1 / TICK) for each in spent.values()]


def main() -> None:
    """Write, measure, print, remove."""
    given = arguments(
        __doc__,
        reports=(10_000_000, "reports"),
        cores=(2, "of Spark"),
        cached=(0, "1 leaves files in memory"),
        distinct=(0, "reports that are written, a divisor of all; 0: all"),
        rounds=(3, "rounds"),
    )
    if given.distinct and given.reports % given.distinct:
        raise SystemExit("--distinct must divide --reports.")
    folder = Path(tempfile.mkdtemp(prefix="deniable-spark-"))
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "local")
    try:
        asked, n = question(), given.reports
        archive = write(folder / "archive", asked, n, given.distinct)
        session = spark_session(f"local[{given.cores}]")
        counted: dict[str, Accumulated] = {}

        def counting(name: str, engine: Engine) -> Callable[[], object]:
            return lambda: counted.update({name: accumulate(archive, asked, engine=engine)})

        def anew() -> None:
            if not given.cached:
                forget(folder)

        runs = {
            "Spark, a list of files": counting("Spark", Spark(session)),
            f"{given.cores} threads": counting(f"{given.cores} threads", Threads(given.cores)),
            f"{given.cores} processes": counting("processes", Processes(given.cores)),
            "1 thread": counting("1 thread", Threads(1)),
            "reading with PyArrow": lambda: read_batches(folder),
            "reading the bytes": lambda: read_bytes(folder),
        }
        spent = costs(runs, anew, given.rounds)
        rates = [Rate(name, n, s) for name, s in zip(runs, spent, strict=True)]
        one = counted["1 thread"].counts["value"]
        for other in counted.values():
            same = np.array_equal(one.table, other.counts["value"].table)
            if other.n != n or not same:
                raise SystemExit("The counts differ.")
        held = peaks()
        session.stop()
    finally:
        shutil.rmtree(folder)
    title = f"counting {n:,} reports of {SIZE} bytes, by processor time"
    if given.distinct:
        title += f", of {given.distinct:,} that are there {n // given.distinct} times (hard links)"
    used = versions("pyspark", "pyarrow", "numba") | held
    show(title, "reports", rates, used, as_json=given.json)


if __name__ == "__main__":
    main()
