"""The check of a store: every sum, every batch's bytes, the counters, and the database's own check.

Nothing is changed. The store may be in use: all is read at one moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deniable.store.base import ACCEPTED, SIMULATED
from deniable.store.place import is_database, open_database
from deniable.store.rows import BatchRow, name_of
from deniable.store.sqlite import STORE_FILE
from deniable.store.sqlite.check import own_problems, tables_to_check
from deniable.store.tables import Tables, is_sound

Progress = Callable[[int, int], None]
"""Called with the bytes of records that are read so far, and all of them."""


@dataclass(frozen=True)
class Problem:
    """Something that is not as it was written.

    `kind` is one of: log, database, batch, chunk, bytes, counters. The batch's question,
    version and epoch are None where the problem is not in one batch.
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


def check_store(place: str | Path, progress: Progress = lambda done, total: None) -> Checked:
    """Check the store of a place.

    Cost: one pass over the file by SQLite, one over the records.

    Raises:
        StoreError: if there is no store, it is empty, or it cannot be opened at all.
    """
    if is_database(place):
        with open_database(str(place), create=False) as store, store.reading() as tables:
            return _Look(tables, progress).run(())
    with tables_to_check(Path(place) / STORE_FILE) as (found, marked):
        return _Look(found, progress).run(own_problems(found, marked))


class _Look:
    """One check, on a connection that sees one moment. An unreadable part is a problem too."""

    def __init__(self, tables: Tables, progress: Progress) -> None:
        self._tables = tables
        self._progress = progress
        self._problems: list[Problem] = []
        self._chunks = self._bytes = 0

    def run(self, own: Iterable[tuple[str, str]]) -> Checked:
        with self._guarded("its own check"):
            for kind, words in own:
                self._add(kind, words)
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
            leftovers = self._tables.leftovers()
        reports = sum(row.reports for row in rows)
        problems = tuple(self._problems)
        return Checked(len(rows), self._chunks, reports, self._bytes, leftovers, problems)

    @contextmanager
    def _guarded(self, what: str, row: BatchRow | None = None) -> Iterator[None]:
        try:
            yield
        except self._tables.errors as error:
            name = self._tables.error_name(error)
            self._add("database", f"the database cannot read {what} ({name})", row)

    def _add(self, kind: str, words: str, row: BatchRow | None = None) -> None:
        if row is None:
            self._problems.append(Problem(kind, words))
        else:
            batch = row.batch
            self._problems.append(Problem(kind, words, batch.question, batch.version, batch.epoch))

    def _sound_rows(self) -> list[BatchRow]:
        rows = list(self._tables.judged())
        for _ in range(rows.count(None)):
            self._add("batch", "a row of the table of batches does not fit its sum")
        return [row for row in rows if row is not None]

    def _check_chunks(self, row: BatchRow, total: int) -> None:
        found = damaged = 0
        for key, expected, records in self._tables.chunks(row):
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
        counted = Counter(
            {
                key: count
                for key, count in self._tables.counters().items()
                if key[1] in (ACCEPTED, SIMULATED)
            }
        )
        for question, kept in sorted(stored.keys() | counted.keys()):
            had, has = counted[question, kept], stored[question, kept]
            if had != has:
                words = f"{had:,} reports were counted as {kept}, its batches have {has:,}"
                self._problems.append(Problem("counters", words, question))
