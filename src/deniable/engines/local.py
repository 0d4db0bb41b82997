"""Accumulate on one machine: chunks in, counts out, folded in threads.

    store.read -> groups of records -> one Counts per field, per group -> merge

NumPy releases the GIL in the loops that matter, so threads are enough. Counts are integers and
`merge` is associative and commutative: the result depends neither on the number of threads nor
on how the reports were cut into chunks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from deniable.engines.accumulated import Accumulated, Cell, FieldCounts, Part, merged, no_counts
from deniable.engines.files import Progress, accumulate_files, count_records
from deniable.engines.mapping import Engine, Threads, in_threads, mapped, workers_of
from deniable.engines.remembered import Remembered
from deniable.engines.selection import ALL, Selection, seen_as, selected
from deniable.errors import StoreError
from deniable.mechanisms import Counts, mechanism_for
from deniable.protocol import Question
from deniable.store.archive import Archive
from deniable.store.base import Chunk, Store

GROUP_BYTES = 1 << 20
"""Small chunks are joined up to this size: a task for ten reports would be all overhead."""
_MOST_GROUP_BYTES = 1 << 26
_KEPT_BYTES = 1 << 24

APART = 2**17
"""The most numbers of one cell's counts, above which cells are kept apart only when asked for."""


def accumulate(
    store: Store,
    question: Question,
    selection: Selection = ALL,
    *,
    apart: bool | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Accumulated:
    """Return the counts of a question's reports in `store`.

    Guarantees: the same reports give the same counts, whatever the threads and the chunks. Only
    reports whose digest is the question's are counted. No cell tells a combination of segments
    with fewer reports than the floor.

    Cost: linear in the reports; about 3 groups of at least 1 MiB per thread are held in memory,
    and the counts of every cell where they are kept apart.

    Args:
        store: where the reports are; others may append meanwhile.
        question: the question, with the version that is wanted.
        selection: which of its reports.
        apart: keep the counts of epochs and segments apart; by default where they are small.
        threads: the number of threads; one per processor by default.
        progress: called in this thread after every group.
        engine: where files of an archive are counted; in threads of this process by default.

    Raises:
        StoreError: if a chunk's length does not fit its number of records.
        InvalidReport: if a record could not have come from a client.
        InvalidParameter: if the question has no segment or value of the selection, or an engine
            of files is given a store that is no archive.
    """
    selection.check(question)
    workers = workers_of(threads)
    _keep_memory()
    zero = no_counts(question)
    if apart is None:
        apart = sum(counts.table.size for counts in zero.values()) <= APART
    if isinstance(store, Archive) or not isinstance(engine or Threads(), Threads):
        where = engine or Threads(workers)
        return accumulate_files(store, question, selection, where, apart=apart, progress=progress)
    mechanisms = {one.name: mechanism_for(one.parameters) for one in question.fields}
    totals: dict[Cell | None, FieldCounts] = {}
    before = Remembered.of(store, question, selection) if apart else Remembered()
    chunks = _chunks(store, question, selection, before if apart else None)
    kept = Kept(question, chunks, _group_bytes(zero), apart=apart)
    expected = _expected(store, question, selection) if progress else 0

    def fold(group: Group) -> Folded:
        return group[0], count_records(question, mechanisms, group[1])

    done = 0
    with in_threads(workers) as pool:
        for cell, part in mapped(pool, fold, kept.groups(), workers):
            totals[cell] = merged(totals.get(cell, zero), part)
            if progress is not None:
                done += next(iter(part.values())).n
                progress(done, max(done, expected))
    found = kept.accumulated(totals)
    if not apart:
        return found
    before.remember(store, found)
    return Accumulated.of_cells(question, {**before.parts, **found.cells}, before.ignored)


def _keep_memory() -> None:
    """Let the allocator keep what is freed, instead of giving it back and asking for it again.

    glibc takes the largest block that was mapped and freed for what a program needs often, and
    gives back what is free above twice its size. Groups come and go by the megabyte: without this,
    two threads had every page of every group mapped anew, and cost a quarter more than one.
    """
    bytes(_KEPT_BYTES)


def _chunks(
    store: Store, question: Question, selection: Selection, before: Remembered | None
) -> Iterator[Chunk]:
    """Yield the chunks to count: of epochs in a row at once, without what is known."""
    if before is None:
        yield from selected(store, question, selection)
        return
    known = {(cell.epoch, cell.segments) for cell in before.parts}
    for first, last in _runs(before.epochs):
        part = replace(selection, first_epoch=first, last_epoch=last)
        yield from selected(store, question, part, known)


def _runs(epochs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of every run of epochs that follow each other."""
    for place, epoch in enumerate(epochs):
        if place and epochs[place - 1] == epoch - 1:
            continue
        last = place
        while last + 1 < len(epochs) and epochs[last + 1] == epochs[last] + 1:
            last += 1
        yield epoch, epochs[last]


Group = tuple[Cell | None, bytes]
"""Records, and the cell that they belong to; None where cells are not kept apart."""


class Kept:
    """The records of the chunks that count, in groups, with a tally of epochs and others.

    Attributes:
        epochs: the number of reports of each epoch so far.
        ignored: reports so far under the same id and version but with another digest.
        simulated: the number of simulated reports so far, by cell.
        segments: the number of reports so far by the text of their segments.
    """

    def __init__(
        self,
        question: Question,
        chunks: Iterator[Chunk],
        group_bytes: int = GROUP_BYTES,
        *,
        apart: bool = False,
    ) -> None:
        self._question = question
        self._chunks = chunks
        self._group_bytes = group_bytes
        self._apart = apart
        self.epochs: Counter[int] = Counter()
        self.ignored = 0
        self.simulated: Counter[Cell] = Counter()
        self.segments: Counter[str] = Counter()

    def accumulated(self, counts: Mapping[Cell | None, FieldCounts]) -> Accumulated:
        """Return counts of all that was read, with the tallies."""
        if self._apart:
            cells = {
                cell: Part(part, self.simulated[cell])
                for cell, part in counts.items()
                if cell is not None
            }
            return Accumulated.of_cells(self._question, cells, self.ignored)
        return Accumulated(
            self._question,
            counts.get(None) or no_counts(self._question),
            dict(sorted(self.epochs.items())),
            self.ignored,
            self.simulated.total(),
            dict(sorted(self.segments.items())),
        )

    def groups(self) -> Iterator[Group]:
        """Yield records of at least `group_bytes`, the last group of a cell excepted."""
        waiting: list[bytes] = []
        size = 0
        current: Cell | None = None
        for chunk in self._chunks:
            if chunk.batch.digest != self._question.digest:
                self.ignored += chunk.count
                continue
            self._check(chunk)
            cell = self._tally(chunk)
            if waiting and (cell != current or size >= self._group_bytes):
                yield current, b"".join(waiting)
                waiting, size = [], 0
            current = cell
            waiting.append(chunk.records)
            size += len(chunk.records)
        if waiting:
            yield current, b"".join(waiting)

    def _tally(self, chunk: Chunk) -> Cell | None:
        batch = chunk.batch
        cell = Cell(batch.epoch, batch.segments)
        self.epochs[batch.epoch] += chunk.count
        self.simulated[cell] += chunk.count if batch.simulated else 0
        self.segments[batch.segments] += chunk.count
        return cell if self._apart else None

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


Folded = tuple[Cell | None, dict[str, Counts]]


def _expected(store: Store, question: Question, selection: Selection) -> int:
    """Return the number of reports that `accumulate` will count, as far as is known now."""
    tallies = store.tallies()
    names = seen_as(tallies, question, selection.floor)
    return sum(
        tally.reports
        for tally in tallies
        if tally.batch in names and selection.takes(tally.batch.epoch, names[tally.batch])
    )
