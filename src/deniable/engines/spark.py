"""Folds on a Spark cluster, through its DataFrame interface alone.

    list of files -> one task per few of them: workers read them with PyArrow -> a row of bytes each
    -> where these are large, a second level of tasks merges them -> the driver

Reports never pass through a JVM. Workers need this package with its extra `analysis`, and must
reach the files by the same paths or addresses. A task that is lost with its worker is done again,
by another, with the same result.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.engines.accumulated import Accumulated
from deniable.engines.files import CountFold, Counting, seen_parts
from deniable.engines.mapping import Engine, Fold
from deniable.engines.selection import ALL, Selection
from deniable.errors import InvalidParameter, InvalidReport, MissingExtra, StoreError
from deniable.protocol import Question
from deniable.store.archive.reading import Bytes
from deniable.store.base import Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
Batches = Iterator[Any]
"""Record batches of Arrow."""

ROW = "result binary"
DRIVER_BYTES = 1 << 26
"""The most bytes of results that the driver merges alone; above, workers merge some of them."""
TASKS_PER_CORE = 4
FILES_PER_TASK = 32
"""The least number of files of a task where tasks are more than cores: each has a fixed cost."""
_AGAIN: dict[str, Callable[[str], Exception]] = {
    "InvalidParameter": InvalidParameter,
    "InvalidReport": partial(InvalidReport, "record"),
}
_LOOPBACK = ("local", "spark://127.0.0.1", "spark://localhost")


@dataclass(frozen=True)
class Spark(Engine):
    """Tasks of a Spark cluster.

    Args:
        session: of PySpark 4, a classic one or one of Spark Connect.
        tasks: the most tasks of a job; by default one per core, up to four where files are many.
        driver_bytes: the most bytes of results that the driver merges alone.
    """

    session: SparkSession
    tasks: int | None = None
    driver_bytes: int = DRIVER_BYTES
    name = "Spark"

    def partials(self, fold: Fold[T], paths: Sequence[str]) -> Iterator[T]:
        """Yield the results of tasks, each of a few files."""
        if not paths:
            return
        tasks = min(len(paths), self.tasks or _tasks_for(self.session, len(paths)))
        # A range of so many partitions has one number in each: task i takes every tasks-th file.
        shares = [tuple(paths[place::tasks]) for place in range(tasks)]
        found = self.session.range(0, tasks, 1, tasks).mapInArrow(partial(_read, fold, shares), ROW)
        if tasks > 2 and tasks * fold.weight > self.driver_bytes:
            fewer = found.repartition(math.isqrt(tasks - 1) + 1)
            found = fewer.mapInArrow(partial(_merge, fold), ROW)
        for row in _collected(found):
            yield fold.unpack(bytes(row[0]))

    def count_dataframe(
        self,
        frame: DataFrame,
        question: Question,
        selection: Selection = ALL,
        *,
        record: str = "record",
        epoch: int = 0,
    ) -> Accumulated:
        """Return the counts of the reports in a column of any DataFrame.

        This is for tables that are no archive. Every record passes through a JVM, which costs
        five to ten times as much as `accumulate` over files. Duplicates are not looked for: that
        is the collector's business.

        Args:
            frame: with a row per report.
            question: the question, whose records they must be.
            selection: which of its reports.
            record: the name of the binary column. A column `epoch` of integers and a column
                `segments` of texts are read where there are such.
            epoch: the epoch of all reports, where there is no column of epochs.

        Raises:
            InvalidParameter: if there is no such column, or no such segment.
        """
        selection.check(question)
        columns = [record, *(name for name in ("epoch", "segments") if name in frame.columns)]
        if record not in frame.columns:
            raise InvalidParameter(
                f"The DataFrame has no column {record!r:.80}. It has: "
                f"{', '.join(frame.columns):.200}."
            )
        fold = CountFold(question)
        counted = frame.select(*columns).mapInArrow(partial(_rows, fold, epoch), ROW)
        total = Accumulated.of_cells(question, {})
        for row in _collected(counted):
            total = total.merge(fold.unpack(bytes(row[0])))
        return _seen(total, selection)


def spark_session(master: str | None = None) -> SparkSession:
    """Return a session: the one that runs already, or a new one.

    A new session has no pages, since those would listen. Of a master on this machine, everything
    listens on loopback alone.

    Args:
        master: such as local[4], spark://HOST:PORT, or sc://HOST:PORT for Spark Connect. By
            default what Spark's own settings say, else local[*].

    Raises:
        MissingExtra: if PySpark or pandas is not installed.
        InvalidParameter: if there is no Java, or the master does not answer.
    """
    try:
        import pandas  # noqa: F401 - PySpark refuses Arrow without it
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("spark", "Counting with Spark") from None
    builder = SparkSession.builder.appName("deniable")
    if master is not None and master.startswith("sc://"):
        return builder.remote(master).getOrCreate()
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
    if master is None or master.startswith(_LOOPBACK):
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.driver.host", "127.0.0.1")
    try:
        return builder.getOrCreate()
    except Exception as error:
        raise InvalidParameter(
            f"Spark does not start: {str(error).splitlines()[0] if str(error) else error!r:.300}",
            "It needs Java 17 or newer (Debian: openjdk-17-jre-headless) and a master that runs.",
        ) from None


def running_session() -> SparkSession | None:
    """Return the session that runs in this process already; None if none does, or no PySpark."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return None
    return SparkSession.getActiveSession()


def _collected(frame: DataFrame) -> list[Any]:
    """Return the rows of a job; an error of this package in a worker is raised here as itself."""
    try:
        return frame.collect()
    except Exception as error:
        told = re.findall(r"deniable\.errors\.(\w+): (.+)", str(error))
        if told:
            name, message = told[-1]
            raise _AGAIN.get(name, StoreError)(message) from None
        raise


def _seen(counted: Accumulated, selection: Selection) -> Accumulated:
    """Return counts whose cells have the names that may be seen, of what is asked about."""
    own = counted.question.id, counted.question.version, counted.question.digest
    parts = {
        Batch(*own, cell.epoch, segments=cell.segments): part.counts
        for cell, part in counted.cells.items()
    }
    return seen_parts(counted.question, parts, selection)


def default_tasks(cores: int, files: int) -> int:
    """Return the tasks of a job: one per core, up to four where files are many."""
    return max(cores, min(TASKS_PER_CORE * cores, files // FILES_PER_TASK))


def _tasks_for(session: SparkSession, files: int) -> int:
    try:
        return default_tasks(int(session.sparkContext.defaultParallelism), files)
    except Exception:  # Spark Connect does not tell how many cores there are
        return 200


def _read(fold: Fold[Any], shares: Sequence[Sequence[str]], batches: Batches) -> Batches:
    for batch in batches:
        for place in batch.column(0).to_pylist():
            yield from _row(fold, [fold.read(path) for path in shares[place]])


def _merge(fold: Fold[Any], batches: Batches) -> Batches:
    parts = (fold.unpack(data) for batch in batches for data in batch.column(0).to_pylist())
    yield from _row(fold, parts)


def _row(fold: Fold[Any], parts: Any) -> Batches:
    import pyarrow as pa

    total = None
    for part in parts:
        total = part if total is None else fold.merge(total, part)
    if total is not None:
        yield pa.RecordBatch.from_arrays([pa.array([fold.pack(total)], pa.binary())], ["result"])


def _rows(fold: CountFold, epoch: int, batches: Batches) -> Batches:
    counting = Counting(fold.question, apart=True)
    for batch in batches:
        _add(counting, fold.question, batch, epoch)
    yield from _row(fold, [counting.accumulated()])


def _add(counting: Counting, question: Question, batch: Any, epoch: int) -> None:
    """Count a record batch of a DataFrame: records, and perhaps epochs and segments."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    rows = _records(batch.column(0), question)
    epochs, at = _coded(columns.get("epoch"), len(rows), epoch)
    texts, named = _coded(columns.get("segments"), len(rows), "")
    keys = at * len(texts) + named
    for key in np.unique(keys):
        when, text = epochs[key // len(texts)], texts[key % len(texts)]
        own = Batch(question.id, question.version, question.digest, when, segments=text)
        counting.add(own, rows[keys == key])


def _records(column: Any, question: Question) -> Bytes:
    """Return a column of bytes of any length as rows, if each has the length of a record."""
    import pyarrow as pa

    size, number = question.record_size, len(column)
    fixed = column.cast(pa.large_binary())
    if not number:
        return np.empty((0, size), np.uint8)
    offsets = np.frombuffer(fixed.buffers()[1], np.int64)[fixed.offset : fixed.offset + number + 1]
    if fixed.null_count or (np.diff(offsets) != size).any():
        raise InvalidReport(
            "record", f"Every record of question {question.id!r} must have {size} bytes."
        )
    return np.frombuffer(fixed.buffers()[2], np.uint8)[offsets[0] : offsets[-1]].reshape(-1, size)


def _coded(column: Any, number: int, alone: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct values of a column, and of every row the place of its own."""
    if column is None:
        return [alone], np.zeros(number, np.int64)
    if column.null_count:
        raise InvalidReport("record", "No epoch and no segments of a report may be null.")
    coded = column.dictionary_encode()
    return coded.dictionary.to_pylist(), coded.indices.to_numpy().astype(np.int64)
