"""Counting RAPPOR reports in an archive: Spark over a list of files, threads, reading the bytes.

    python benchmarks/spark.py --reports 100000000

All by the processor time of all processes, in one run, after one job of each: the ratios are the
result. The first job of a Spark session costs many seconds more. Before each run the system is told
to forget the files, as if they were older than its memory is large; `--cached 1` leaves them there,
where a copy of memory is all that reading means. Files are written to a temporary folder (18 bytes
per report; `TMPDIR` moves it) and removed. Every part holds the same random records: counting does
not look.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from _measure import Rate, arguments, show, versions
from deniable.authoring import resolve
from deniable.engines import Engine, Threads, accumulate
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
ROUNDS = 3
TICK = os.sysconf("SC_CLK_TCK")


def question() -> Question:
    """Return a question by RAPPOR, k = 128 and 32 cohorts: 18 bytes per record."""
    wanted = {"k": 128, "h": 2, "m": COHORTS, "f": 0.5, "p": 0.5, "q": 0.75}
    field = Field("value", Strings(), resolve(RapporParameters, wanted, Strings(), False))
    return Question("q", 1, "?", "us", date(2099, 1, 1), 1, "once", "recorded", (field,))


def write(folder: Path, asked: Question, reports: int) -> Archive:
    """Write an archive of random records, in parts of 64 MiB."""
    records = np.random.default_rng(1).integers(0, 256, (min(PART, reports), SIZE), np.uint8)
    records[:, 0] %= COHORTS
    records[:, 1] = 0
    batch = Batch(asked.id, 1, asked.digest, 20_000)
    place = folder / folder_of(batch)
    place.mkdir(parents=True)
    (folder / "archive.json").write_text('{"format":1}\n')
    for number in range(0, reports, PART):
        rows = records[: min(PART, reports - number)]
        head = Head(batch, len(rows), SIZE, records_sum(rows.tobytes()), _contract(asked))
        column = pa.Array.from_buffers(pa.binary(SIZE), len(rows), [None, pa.py_buffer(rows)])
        table = pa.table({"record": column}).replace_schema_metadata({HEAD: head.written()})
        path = place / f"part-{number:016x}.parquet"
        plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        pq.write_table(table, path, row_group_size=ROW_GROUP, **plain)
    return Archive(folder)


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


def processor_seconds() -> float:
    """Return the processor time of this process and all that it has started."""
    parents: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            cut = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        parents.setdefault(int(cut[1]), []).append(number)
        spent[number] = sum(map(int, cut[11:15])) / TICK
    family = [os.getpid()]
    for one in family:
        family += parents.get(one, [])
    return sum(spent[one] for one in family)


def forget(folder: Path) -> None:
    """Tell the system to drop its copies of files in memory."""
    for path in folder.rglob("*.parquet"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def costs(runs: dict[str, Callable[[], object]], before_each: Callable[[], None]) -> list[float]:
    """Return the processor time of each run: the median of some rounds, after one more.

    Rounds go over all runs: the system does not always forget what the same reader read last.
    """
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(ROUNDS):
        for name, run in runs.items():
            before_each()
            before = processor_seconds()
            run()
            spent[name].append(processor_seconds() - before)
    return [max(median(each), 1 / TICK) for each in spent.values()]


def main() -> None:
    """Write, measure, print, remove."""
    given = arguments(
        __doc__,
        reports=(10_000_000, "reports"),
        cores=(2, "of Spark"),
        cached=(0, "1 leaves files in memory"),
    )
    folder = Path(tempfile.mkdtemp(prefix="deniable-spark-"))
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "local")
    try:
        asked, n = question(), given.reports
        archive = write(folder / "archive", asked, n)
        session = spark_session(f"local[{given.cores}]")
        counted = {}

        def counting(engine: Engine) -> Callable[[], object]:
            return lambda: counted.update({engine.name: accumulate(archive, asked, engine=engine)})

        def anew() -> None:
            if not given.cached:
                forget(folder)

        runs = {
            "Spark, a list of files": counting(Spark(session)),
            f"{given.cores} threads": counting(Threads(given.cores)),
            "1 thread": counting(Threads(1)),
            "reading with PyArrow": lambda: read_batches(folder),
            "reading the bytes": lambda: read_bytes(folder),
        }
        rates = [Rate(name, n, s) for name, s in zip(runs, costs(runs, anew), strict=True)]
        one, two = counted.values()
        if not np.array_equal(one.counts["value"].table, two.counts["value"].table):
            raise SystemExit("The counts differ.")
        session.stop()
    finally:
        shutil.rmtree(folder)
    title = f"counting {n:,} reports of {SIZE} bytes, by processor time"
    show(title, "reports", rates, versions("pyspark", "pyarrow", "numba"), as_json=given.json)


if __name__ == "__main__":
    main()
