"""Accumulate on one machine: chunks in, counts out, folded in threads.

    store.read -> groups of records -> one Counts per field, per group -> merge

NumPy releases the GIL in the loops that matter, so threads are enough. Counts are integers and
`merge` is associative and commutative: the result depends neither on the number of threads nor
on how the reports were cut into chunks.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from deniable import _validate
from deniable.errors import StoreError
from deniable.mechanisms import Counts, Mechanism, mechanism_for
from deniable.mechanisms.records import view_records
from deniable.protocol import Question
from deniable.store.base import Chunk, Store

GROUP_BYTES = 1 << 20
"""Small chunks are joined up to this size: a task for ten reports would be all overhead."""
_MOST_GROUP_BYTES = 1 << 26
_MAX_THREADS = 256

Progress = Callable[[int, int], None]
"""Called with the number of reports done and the number expected."""


@dataclass(frozen=True)
class Accumulated:
    """The counts of a question's reports, one per field, and the epochs they cover.

    Attributes:
        question: the question, whose digest every counted report carries.
        counts: by field name, in the order of the question.
        epochs: the number of reports of each epoch, in order of the epochs.
        ignored: reports under the same id and version but with another digest, not counted.
        simulated: the number of simulated reports among those counted.
        segments: the number of reports by the text of their segments, "" without any.
    """

    question: Question
    counts: Mapping[str, Counts]
    epochs: Mapping[int, int]
    ignored: int = 0
    simulated: int = 0
    segments: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """The number of reports counted."""
        return sum(self.epochs.values())

    @property
    def ignored_words(self) -> list[str]:
        """A sentence about the reports that were not counted, if there are any."""
        if not self.ignored:
            return []
        if self.question.level:
            return [
                f"{self.ignored:,} reports of other levels were not counted: each level is a "
                "channel of its own, and levels are not pooled."
            ]
        return [
            f"{self.ignored:,} reports under this id and version carry another digest and were not "
            "counted: the question was changed without a new version."
        ]


def accumulate(
    store: Store,
    question: Question,
    *,
    first_epoch: int | None = None,
    last_epoch: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Accumulated:
    """Return the counts of a question's reports in `store`.

    Guarantees: the same reports give the same counts, whatever the threads and the chunks. Only
    reports whose digest is the question's are counted.

    Cost: linear in the reports; about 3 groups of at least 1 MiB per thread are held in memory.

    Args:
        store: where the reports are; others may append meanwhile.
        question: the question, with the version that is wanted.
        first_epoch: leave out the epochs before this one.
        last_epoch: leave out the epochs after this one.
        threads: the number of threads; one per processor by default.
        progress: called in this thread after every group.

    Raises:
        StoreError: if a chunk's length does not fit its number of records.
        InvalidReport: if a record could not have come from a client.
    """
    workers = _threads(threads)
    mechanisms = {one.name: mechanism_for(one.parameters) for one in question.fields}
    totals = {name: mechanism.zero() for name, mechanism in mechanisms.items()}
    chunks = store.read(question.id, question.version, first_epoch, last_epoch)
    kept = Kept(question, chunks, _group_bytes(totals))
    expected = _expected(store, question, first_epoch, last_epoch) if progress else 0

    def fold(records: bytes) -> dict[str, Counts]:
        return _count(question, mechanisms, records)

    for part in _in_threads(fold, kept.groups(), workers):
        totals = {name: totals[name].merge(part[name]) for name in totals}
        if progress is not None:
            done = next(iter(totals.values())).n
            progress(done, max(done, expected))
    return kept.accumulated(totals)


class Kept:
    """The records of the chunks that count, in groups, with a tally of epochs and others.

    Attributes:
        epochs: the number of reports of each epoch so far.
        ignored: reports so far under the same id and version but with another digest.
        simulated: the number of simulated reports so far.
        segments: the number of reports so far by the text of their segments.
    """

    def __init__(
        self, question: Question, chunks: Iterator[Chunk], group_bytes: int = GROUP_BYTES
    ) -> None:
        self._question = question
        self._chunks = chunks
        self._group_bytes = group_bytes
        self.epochs: Counter[int] = Counter()
        self.ignored = 0
        self.simulated = 0
        self.segments: Counter[str] = Counter()

    def accumulated(self, counts: Mapping[str, Counts]) -> Accumulated:
        """Return counts of all that was read, with the tallies."""
        return Accumulated(
            self._question,
            counts,
            dict(sorted(self.epochs.items())),
            self.ignored,
            self.simulated,
            dict(sorted(self.segments.items())),
        )

    def groups(self) -> Iterator[bytes]:
        """Yield records of at least `group_bytes`, the last group excepted."""
        waiting: list[bytes] = []
        size = 0
        for chunk in self._chunks:
            if chunk.batch.digest != self._question.digest:
                self.ignored += chunk.count
                continue
            self._check(chunk)
            self.epochs[chunk.batch.epoch] += chunk.count
            self.simulated += chunk.count if chunk.batch.simulated else 0
            self.segments[chunk.batch.segments] += chunk.count
            waiting.append(chunk.records)
            size += len(chunk.records)
            if size >= self._group_bytes:
                yield b"".join(waiting)
                waiting, size = [], 0
        if waiting:
            yield b"".join(waiting)

    def _check(self, chunk: Chunk) -> None:
        expected = chunk.count * self._question.record_size
        if len(chunk.records) != expected:
            raise StoreError(
                f"A chunk of question {self._question.id!r} must hold {expected:,} bytes. "
                f"Got {len(chunk.records):,}. The store is damaged: restore it from a backup."
            )


def _group_bytes(counts: Mapping[str, Counts]) -> int:
    """Return the size of a group: its counts are made and merged, so no smaller than these."""
    return min(
        max(GROUP_BYTES, *(one.table.nbytes for one in counts.values()), 0), _MOST_GROUP_BYTES
    )


def _count(
    question: Question, mechanisms: Mapping[str, Mechanism], records: bytes
) -> dict[str, Counts]:
    """Return one Counts per field of records that hold the fields one after the other."""
    reports = view_records(question, records)
    # A single field's records are already contiguous; those of several are copied one field at
    # a time, at most one group each.
    return {
        name: mechanism.accumulate(np.ascontiguousarray(reports[name]))
        for name, mechanism in mechanisms.items()
    }


def _in_threads(
    fold: Callable[[bytes], dict[str, Counts]], groups: Iterator[bytes], workers: int
) -> Iterator[dict[str, Counts]]:
    """Yield fold(group) for every group, in any order, with few groups in memory at a time."""
    with ThreadPoolExecutor(workers, thread_name_prefix="deniable-accumulate") as pool:
        running: set[Future[dict[str, Counts]]] = set()
        try:
            running |= {pool.submit(fold, group) for group in islice(groups, 2 * workers)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                running |= {pool.submit(fold, group) for group in islice(groups, len(done))}
        finally:
            for future in running:
                future.cancel()


def _threads(wanted: int | None) -> int:
    """Return the number of threads: as wanted, or one per processor this process may use."""
    if wanted is not None:
        return _validate.integer("threads", "accumulate", wanted, 1, _MAX_THREADS)
    may_use = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return min(_MAX_THREADS, len(may_use) or os.cpu_count() or 1)


def _expected(store: Store, question: Question, first: int | None, last: int | None) -> int:
    """Return the number of reports that `accumulate` will count, as far as is known now."""
    return sum(
        tally.reports
        for tally in store.tallies()
        if tally.batch.digest == question.digest
        and (first is None or tally.batch.epoch >= first)
        and (last is None or tally.batch.epoch <= last)
    )
