"""One function over a file of an archive, `count_file`, which every engine maps.

    archive -> files of the question -> count_file, anywhere -> merge -> counts

Threads, processes and Spark map it here; docs/scale.md maps it with Dask, Ray and Beam.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from deniable.engines.accumulated import Accumulated, Cell, FieldCounts, Part, merged, no_counts
from deniable.engines.counts_file import cells_of, to_bytes
from deniable.engines.mapping import Engine, Fold, Threads
from deniable.engines.selection import Selection, seen_as
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, Mechanism, mechanism_for
from deniable.mechanisms.records import view_records
from deniable.protocol import Question
from deniable.store.archive.reading import Archive, Bytes, open_part
from deniable.store.base import Batch, Store, Tally

Names = Mapping[Batch, str]
"""The names under which batches are seen; a batch without one is left out."""
Progress = Callable[[int, int], None]
"""Called with the number of reports done and the number expected."""


def count_file(
    path: str, question: Question, names: Names | None = None, *, apart: bool = True
) -> Accumulated:
    """Return the counts of the reports in one file of an archive.

    Guarantees: `Accumulated.merge` over all files of a question gives what `accumulate` gives over
    the archive, to the bit, in whatever order and wherever they were counted.

    Cost: linear; 4 MiB of records in memory, or about 2^20 where PyArrow reads them (at an address,
    and with segments); and the counts of every cell.

    Args:
        path: the file's path, or an address that PyArrow knows.
        question: the question, whose digest the file must carry.
        names: the names that combinations of segments are seen by; by default as they are written.
        apart: keep the counts of epochs and segments apart.

    Raises:
        StoreError: if it is no file of an archive, or damaged.
        InvalidParameter: if its reports are of another digest.
        InvalidReport: if a record could not have come from a client.
    """
    part = open_part(path)
    if part.head.batch.digest != question.digest:
        raise InvalidParameter(
            f"The file {path} holds reports of another digest than that of {question.title!r}, "
            f"version {question.version}.",
            "Name a file below the folder of the question's digest.",
        )
    counting = Counting(question, apart=apart)
    for text, rows in part.pieces():
        batch = replace(part.head.batch, segments=text)
        name = text if names is None else names.get(batch)
        if name is not None:
            counting.add(replace(batch, segments=name), rows)
    return counting.accumulated()


class Counting:
    """Counts that grow by many records at a time.

    Args:
        question: whose records they are.
        apart: keep epochs and segments apart.
    """

    def __init__(self, question: Question, *, apart: bool) -> None:
        self._question = question
        self._apart = apart
        self._mechanisms = {one.name: mechanism_for(one.parameters) for one in question.fields}
        self._zero = no_counts(question)
        self._counts: dict[Cell | None, FieldCounts] = {}
        self._tallies: Counter[Batch] = Counter()

    def add(self, batch: Batch, records: bytes | Bytes) -> None:
        """Count records of one batch, under the name that its segments may be seen by."""
        cell = Cell(batch.epoch, batch.segments) if self._apart else None
        part = count_records(self._question, self._mechanisms, records)
        self._tallies[batch] += next(iter(part.values())).n
        self._counts[cell] = merged(self._counts.get(cell, self._zero), part)

    def accumulated(self) -> Accumulated:
        """Return the counts so far."""
        simulated: Counter[Cell] = Counter()
        epochs, segments = Counter[int](), Counter[str]()
        for batch, number in self._tallies.items():
            epochs[batch.epoch] += number
            segments[batch.segments] += number
            simulated[Cell(batch.epoch, batch.segments)] += number if batch.simulated else 0
        if self._apart:
            cells = {
                cell: Part(counts, simulated[cell])
                for cell, counts in self._counts.items()
                if cell is not None
            }
            return Accumulated.of_cells(self._question, cells)
        return Accumulated(
            self._question,
            self._counts.get(None, self._zero),
            dict(sorted(epochs.items())),
            simulated=simulated.total(),
            segments=dict(sorted(segments.items())),
        )


def count_records(
    question: Question, mechanisms: Mapping[str, Mechanism], records: bytes | Bytes
) -> dict[str, Counts]:
    """Return one Counts per field of records that hold the fields one after the other."""
    reports = view_records(question, records)
    # A single field's records are already contiguous; those of several are copied one field at
    # a time, at most one group each.
    return {
        name: mechanism.accumulate(np.ascontiguousarray(reports[name]))
        for name, mechanism in mechanisms.items()
    }


@dataclass(frozen=True)
class CountFold(Fold[Accumulated]):
    """Counts of files.

    Attributes:
        question: the question.
        names: as `count_file` takes them.
        apart: keep epochs and segments apart.
        weight: about the bytes of a result.
    """

    question: Question
    names: Names | None = None
    apart: bool = True
    weight: int = field(default=0, compare=False)

    def read(self, path: str) -> Accumulated:
        """Return the counts of a file."""
        return count_file(path, self.question, self.names, apart=self.apart)

    def merge(self, one: Accumulated, other: Accumulated) -> Accumulated:
        """Return the counts of both."""
        return one.merge(other)

    def pack(self, result: Accumulated) -> bytes:
        """Return a line of tallies, and a counts file; of counts that are not apart, one cell."""
        tallies = [list(result.epochs.items()), list(result.segments.items())]
        if not self.apart:
            one = {Cell(0): Part(result.counts, result.simulated)} if result.n else {}
            result = Accumulated.of_cells(self.question, one)
        return json.dumps(tallies).encode() + b"\n" + to_bytes(result)

    def unpack(self, data: bytes) -> Accumulated:
        """Return the counts that `pack` packed."""
        tallies, _, counts = data.partition(b"\n")
        cells = cells_of(counts, self.question, no_counts(self.question))
        whole = Accumulated.of_cells(self.question, cells)
        if self.apart:
            return whole
        epochs, segments = (dict(map(tuple, each)) for each in json.loads(tallies))
        return replace(whole, epochs=epochs, segments=segments, cells={})


@dataclass(frozen=True)
class TallyFold(Fold[Counter[Batch]]):
    """The number of reports of files by their segments; only that column is read."""

    def read(self, path: str) -> Counter[Batch]:
        """Return the numbers of a file."""
        return open_part(path).tallies()

    def merge(self, one: Counter[Batch], other: Counter[Batch]) -> Counter[Batch]:
        """Return the numbers of both."""
        return one + other

    def pack(self, result: Counter[Batch]) -> bytes:
        """Return the numbers as JSON."""
        rows = [
            (b.question, b.version, b.digest.hex(), b.epoch, b.simulated, b.segments, number)
            for b, number in result.items()
        ]
        return json.dumps(rows).encode()

    def unpack(self, data: bytes) -> Counter[Batch]:
        """Return the numbers that `pack` packed."""
        return Counter(
            {
                Batch(name, version, bytes.fromhex(digest), *rest): number
                for name, version, digest, *rest, number in json.loads(data)
            }
        )


@dataclass(frozen=True)
class Files:
    """The files of an archive that hold reports that are asked about.

    Attributes:
        paths: their paths or addresses.
        names: of their batches; None where the question has no segments.
        epochs: the number of epochs, real and simulated ones apart.
        reports: the number of reports that are asked about; None where nobody had to count them.
        ignored: reports under the same id and version but with another digest.
    """

    paths: tuple[str, ...]
    names: Names | None
    epochs: int
    reports: int | None
    ignored: int

    @classmethod
    def of(cls, store: Store, question: Question, selection: Selection, engine: Engine) -> Files:
        """Look up the files of a question; an engine reads their segments where it has any.

        Raises:
            InvalidParameter: if the store is no archive, or a segment is unknown.
            StoreError: if the archive is damaged.
        """
        archive = archive_of(store, engine.name)
        selection.check(question)
        found = archive.within(
            question.id, question.version, selection.first_epoch, selection.last_epoch
        )
        own = [name for name, batch in found.items() if batch.digest == question.digest]
        paths = tuple(archive.address(name) for name in own)
        ignored = sum(archive.part(name).head.reports for name in found.keys() - set(own))
        epochs = len({found[name] for name in own})
        if not question.segments:
            return cls(paths, None, epochs, None, ignored)
        tallies = engine.folded(TallyFold(), paths) or Counter()
        seen = seen_as(
            [Tally(batch, number, 0) for batch, number in tallies.items()],
            question,
            selection.floor,
        )
        names = {b: name for b, name in seen.items() if selection.takes(b.epoch, name)}
        return cls(paths, names, epochs, sum(tallies[b] for b in names), ignored)


def seen_parts(
    question: Question, parts: Mapping[Batch, FieldCounts], selection: Selection
) -> Accumulated:
    """Return counts of batches under the names that may be seen, of what is asked about."""
    sizes = {batch: next(iter(counts.values())).n for batch, counts in parts.items()}
    names = seen_as([Tally(b, n, 0) for b, n in sizes.items()], question, selection.floor)
    cells: dict[Cell, Part] = {}
    for batch, counts in sorted(parts.items(), key=lambda item: item[0]):
        cell = Cell(batch.epoch, names[batch])
        if selection.takes(batch.epoch, cell.segments):
            own = Part(counts, sizes[batch] if batch.simulated else 0)
            cells[cell] = cells[cell].merge(own) if cell in cells else own
    return Accumulated.of_cells(question, cells)


def archive_of(store: Store, engine: str) -> Archive:
    """Return a store as an archive.

    Raises:
        InvalidParameter: if it is none.
    """
    if not isinstance(store, Archive):
        raise InvalidParameter(
            f"The {engine} engine reads archives: folders of Parquet files.",
            "Write one with deniable export --archive FOLDER, and name it with --data.",
        )
    return store


def accumulate_files(
    store: Store,
    question: Question,
    selection: Selection,
    engine: Engine,
    *,
    apart: bool,
    progress: Progress | None = None,
) -> Accumulated:
    """Return the counts of a question's reports in an archive, as `accumulate` describes them."""
    files = Files.of(store, question, selection, engine)
    table = sum(counts.table.nbytes for counts in no_counts(question).values())
    weight = table * (files.epochs if apart else 1)
    fold = CountFold(question, files.names, apart, weight)
    done, expected = 0, files.reports
    if progress is not None and expected is None and isinstance(engine, Threads):
        expected = sum(open_part(path).head.reports for path in files.paths)

    def tell(part: Accumulated) -> None:
        nonlocal done
        done += part.n
        if progress is not None:
            progress(done, max(done, expected or 0))

    found = engine.folded(fold, files.paths, tell)
    return replace(found or Accumulated.of_cells(question, {}), ignored=files.ignored)
