"""The check of a store: every sum, every batch's bytes, the counters, and SQLite's own check.

Nothing is changed. The store may be in use: all is read at one moment.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deniable.store.base import ACCEPTED, SIMULATED
from deniable.store.batches import BatchRow, judged_rows, name_of
from deniable.store.chunks import is_sound
from deniable.store.connection import read_commits, reading
from deniable.store.files import prepare_file
from deniable.store.mark import Mark
from deniable.store.schema import readable_version
from deniable.store.sqlite import STORE_FILE

Progress = Callable[[int, int], None]
"""Called with the bytes of records that are read so far, and all of them."""

_MOST_LINES = 20
"""The most lines of SQLite's own check that are kept; it may have one per damaged page."""


@dataclass(frozen=True)
class Problem:
    """Something that is not as it was written.

    `kind` is one of: log, sqlite, batch, chunk, bytes, counters. The batch's question, version and
    epoch are None where the problem is not in one batch.
    """

    kind: str
    words: str
    question: str | None = None
    version: int | None = None
    epoch: int | None = None


@dataclass(frozen=True)
class Checked:
    """The findings of a check of a store.

    `leftovers` are chunks of no batch: of a closing that is under way or was interrupted. The next
    closing removes them; they are no problem.
    """

    batches: int
    chunks: int
    reports: int
    bytes: int
    leftovers: int
    problems: tuple[Problem, ...]


def check_store(directory: Path, progress: Progress = lambda done, total: None) -> Checked:
    """Check the store of a data directory.

    Cost: one pass over the file by SQLite, one over the records.

    Raises:
        StoreError: if there is no store, it is empty, or it cannot be opened at all.
    """
    path = directory / STORE_FILE
    prepare_file(path, create=False)
    marked = Mark(path).read()
    with reading(path) as connection:
        readable_version(connection)
        return _Look(connection, progress).run(marked)


class _Look:
    """One check, on a connection that sees one moment. An unreadable part is a problem too."""

    def __init__(self, connection: sqlite3.Connection, progress: Progress) -> None:
        self._connection = connection
        self._progress = progress
        self._problems: list[Problem] = []
        self._chunks = self._bytes = 0

    def run(self, marked: int | None) -> Checked:
        with self._guarded("its number of transactions"):
            self._check_log(marked)
        with self._guarded("its pages"):
            self._check_pages()
        rows: list[BatchRow] = []
        with self._guarded("its table of batches"):
            rows = self._sound_rows()
        total = sum(row.bytes for row in rows)
        for row in rows:
            with self._guarded(name_of(row.batch), row):
                self._check_chunks(row, total)
        with self._guarded("its counters"):
            self._check_counters(rows)
        leftovers = 0
        with self._guarded("its chunks"):
            leftovers = self._leftovers()
        reports = sum(row.reports for row in rows)
        problems = tuple(self._problems)
        return Checked(len(rows), self._chunks, reports, self._bytes, leftovers, problems)

    @contextmanager
    def _guarded(self, what: str, row: BatchRow | None = None) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", type(error).__name__)
            self._add("sqlite", f"SQLite cannot read {what} ({name})", row)

    def _add(self, kind: str, words: str, row: BatchRow | None = None) -> None:
        if row is None:
            self._problems.append(Problem(kind, words))
        else:
            batch = row.batch
            self._problems.append(Problem(kind, words, batch.question, batch.version, batch.epoch))

    def _check_log(self, marked: int | None) -> None:
        number = read_commits(self._connection)
        if marked is not None and number < marked:
            self._add(
                "log",
                f"{marked - number:,} of the {marked:,} transactions that were written are lost: "
                "the log was lost, or an older copy was put back",
            )

    def _check_pages(self) -> None:
        found = self._connection.execute(f"PRAGMA integrity_check({_MOST_LINES})")
        for (line,) in found.fetchall():
            if line != "ok":
                # SQLite names pages, tables and row numbers, and never what is in them.
                self._add("sqlite", f"SQLite's check says: {line}")

    def _sound_rows(self) -> list[BatchRow]:
        rows = list(judged_rows(self._connection))
        for _ in range(rows.count(None)):
            self._add("batch", "a row of the table of batches does not fit its sum")
        return [row for row in rows if row is not None]

    def _check_chunks(self, row: BatchRow, total: int) -> None:
        found = damaged = 0
        chunks = self._connection.execute(
            "SELECT key, sum, records FROM chunks WHERE batch = ?", (row.number,)
        )
        for key, expected, records in chunks:
            self._chunks += 1
            if is_sound(row.number, key, expected, records):
                found += len(records)
                self._bytes += len(records)
            else:
                damaged += 1
            self._progress(self._bytes, total)
        if damaged:
            self._add("chunk", f"{damaged:,} of its chunks do not fit their sums", row)
        if found != row.bytes:
            words = f"its sound chunks hold {found:,} of the {row.bytes:,} bytes of its reports"
            self._add("bytes", words, row)

    def _check_counters(self, rows: list[BatchRow]) -> None:
        stored: Counter[tuple[str, str]] = Counter()
        for row in rows:
            kept = SIMULATED if row.batch.simulated else ACCEPTED
            stored[row.batch.question, kept] += row.reports
        found = self._connection.execute(
            "SELECT question, reason, count FROM counters WHERE reason IN (?, ?)",
            (ACCEPTED, SIMULATED),
        )
        counted = Counter({(question, kept): count for question, kept, count in found})
        for question, kept in sorted(stored.keys() | counted.keys()):
            had, has = counted[question, kept], stored[question, kept]
            if had != has:
                words = f"{had:,} reports were counted as {kept}, its batches have {has:,}"
                self._problems.append(Problem("counters", words, question))

    def _leftovers(self) -> int:
        found: int = self._connection.execute(
            "SELECT count(*) FROM chunks WHERE batch NOT IN (SELECT batch FROM batches)"
        ).fetchone()[0]
        return found
