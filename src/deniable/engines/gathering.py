"""Reports themselves, where counts are not enough: distinct records, and samples.

    archive -> per file: distinct records with their numbers, or the rows with the smallest keys
            -> merge -> reports, in an order that depends on nothing but them

Two verbs beside counting: `patterns` and `sample`. Both merge like counts, so that every engine
gives the same to the bit.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.engines.files import Files, Names
from deniable.engines.mapping import Engine, Fold, Threads
from deniable.engines.selection import ALL, Selection, selected
from deniable.engines.smallest import Smallest
from deniable.protocol import Question
from deniable.store.archive.reading import Archive, Bytes, open_part, release_unused
from deniable.store.base import Batch, Store

Cut = tuple[tuple[int, int], ...]
"""The bytes of a record that are kept, as (first, end) of each field."""
Groups = Iterator[tuple[Batch, Bytes, str]]
"""Rows of bytes, the batch that they belong to, under the name that may be seen, and a label that
no other rows have."""
_SEED = 0
_REPEATED = 2
"""Records that occur less often than this on average are not worth grouping."""
_LOOK = 4_096
_KEY_BYTES = 8
"""Longer records are not compared: hardly any of those occur twice."""


@dataclass(frozen=True)
class Gathered:
    """Rows of bytes of some fields, and the tallies of all reports that they stand for.

    Attributes:
        tallies: the number of reports of each batch, under the name that may be seen.
        rows: a row per record.
        numbers: of patterns, how often each record occurs; of a sample, the key of each row.
        ignored: reports under the same id and version but with another digest.
    """

    tallies: Mapping[Batch, int]
    rows: Bytes
    numbers: NDArray[np.uint64]
    ignored: int = 0

    @property
    def n(self) -> int:
        """The number of reports that were looked at."""
        return sum(self.tallies.values())


@dataclass(frozen=True)
class Sampled:
    """A sample of reports, field by field.

    Attributes:
        tallies: as those of `Gathered`.
        fields: a table of bytes each, a row per report.
        keys: of the rows, rising.
        ignored: as that of `Gathered`.
    """

    tallies: Mapping[Batch, int]
    fields: tuple[Bytes, ...]
    keys: NDArray[np.uint64]
    ignored: int = 0

    @property
    def n(self) -> int:
        """The number of reports that were looked at."""
        return sum(self.tallies.values())


def fields_cut(question: Question, names: list[str]) -> Cut:
    """Return where the records of some fields stand in a question's record, in their order."""
    places, first = {}, 0
    for one in question.fields:
        places[one.name] = (first, first + one.parameters.layout.size)
        first += one.parameters.layout.size
    return tuple(places[name] for name in names)


def patterns(
    store: Store,
    question: Question,
    cut: Cut,
    selection: Selection = ALL,
    engine: Engine | None = None,
) -> Gathered:
    """Return the distinct records of some fields, sorted, with their multiplicities.

    Cost: linear and a sort per file; memory of the distinct records.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        cut: the fields (`fields_cut`).
        selection: which of its reports.
        engine: where files of an archive are read; in threads of this process by default.

    Raises:
        StoreError: if the store cannot be read.
    """
    return _folded(PatternFold(question, cut), store, selection, engine)


def sample(
    store: Store,
    question: Question,
    cut: Cut,
    most: int,
    selection: Selection = ALL,
    engine: Engine | None = None,
) -> Gathered:
    """Return a uniform random sample of the reports, without replacement; all if there are few.

    Every row of a file has a key, which is drawn from the file's random name: those with the
    smallest keys are the sample. So who reads it twice, or reads it elsewhere, has the same.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        cut: the fields (`fields_cut`).
        most: the most rows.
        selection: which of its reports.
        engine: where files of an archive are read; in threads of this process by default.

    Raises:
        StoreError: if the store cannot be read.
    """
    found = sampled_fields(store, question, cut, most, selection, engine)
    rows = np.concatenate([np.empty((len(found.keys), 0), np.uint8), *found.fields], axis=1)
    return Gathered(found.tallies, rows, found.keys, found.ignored)


def sampled_fields(
    store: Store,
    question: Question,
    cut: Cut,
    most: int,
    selection: Selection = ALL,
    engine: Engine | None = None,
) -> Sampled:
    """Return the sample that `sample` draws, in a table of bytes for each field.

    Cost: the bytes of the sample, once, and eight for the key of each row; a group of a million
        records. Of processes and clusters also their results, of some files each.

    Args:
        store: where the reports are.
        question: the question, with the version that is wanted.
        cut: the fields (`fields_cut`).
        most: the most rows.
        selection: which of its reports.
        engine: where files of an archive are read; here, one after the other, by default.

    Raises:
        StoreError: if the store cannot be read.
    """
    fold, where = SampleFold(question, cut, most=most), engine or Threads()
    found = Smallest(most, [end - first for first, end in cut], reports_of(store, question))
    if not isinstance(store, Archive) and isinstance(where, Threads):
        tallies, ignored = _added(found, fold, _chunks_of(store, question, selection))
        return Sampled(tallies, *found.sorted(), ignored)
    files = Files.of(store, question, selection, where)
    fold = replace(fold, names=files.names)
    if isinstance(where, Threads):
        groups = (group for path in files.paths for group in fold.groups(path))
        tallies, _ = _added(found, fold, groups)
        release_unused()
    else:
        tallies = _merged(found, where.partials(fold, files.paths))
    return Sampled(tallies, *found.sorted(), files.ignored)


def _added(found: Smallest, fold: SampleFold, groups: Groups) -> tuple[Counter[Batch], int]:
    """Add rows; return the reports of each batch, and how many were of another digest."""
    tallies, ignored = Counter[Batch](), 0
    for batch, rows, label in groups:
        if batch.digest == fold.question.digest:
            tallies[batch] += len(rows)
            found.add(_fields(rows, fold.cut), keys_of(label, len(rows)))
        else:
            ignored += len(rows)
    return tallies, ignored


def _merged(found: Smallest, parts: Iterator[Gathered]) -> Counter[Batch]:
    """Add the rows of partial results; return the reports of each batch."""
    tallies = Counter[Batch]()
    for part in parts:
        tallies.update(part.tallies)
        found.add(parted(part.rows, found.widths), part.numbers)
    return tallies


def repeats(store: Archive, question: Question, cut: Cut) -> bool:
    """Tell from the first rows of a file whether records of some fields occur often."""
    own = [n for n, b in store.within(question.id).items() if b.digest == question.digest]
    if not own or _width(cut) > _KEY_BYTES:
        return False
    part = store.part(own[0])
    rows = next((rows for _, rows in part.groups()), None)
    if rows is None:
        return False
    keys = _keys(_cut(rows[:_LOOK], cut))
    # Among d equally frequent records, s of them have about s^2 / 2d repetitions while s < d.
    repeated = len(keys) - len(np.unique(keys))
    often = 2 * repeated * part.head.reports >= _REPEATED * len(keys) ** 2
    return often or 2 * repeated >= len(keys)


@dataclass(frozen=True)
class GatherFold(Fold[Gathered]):
    """Rows of files.

    Attributes:
        question: whose records they are.
        cut: the bytes that are kept.
        names: of batches, as `count_file` takes them.
    """

    question: Question
    cut: Cut
    names: Names | None = None
    most: int = 0
    weight: int = field(default=1 << 22, compare=False)

    def read(self, path: str) -> Gathered:
        """Return what is kept of a file."""
        total = self.none()
        for batch, rows, label in self.groups(path):
            total = self.merge(total, self.kept(batch, rows, label))
        return total

    def groups(self, path: str) -> Groups:
        """Yield the rows of a file that are asked about."""
        part = open_part(path)
        label = path.rpartition("/")[2]
        for number, (text, rows) in enumerate(part.groups()):
            batch = replace(part.head.batch, segments=text)
            name = text if self.names is None else self.names.get(batch)
            if name is not None:
                yield replace(batch, segments=name), rows, f"{label} {number}"

    def none(self) -> Gathered:
        """Return the result of no rows."""
        return Gathered({}, np.empty((0, _width(self.cut)), np.uint8), np.empty(0, np.uint64))

    def kept(self, batch: Batch, rows: Bytes, label: str) -> Gathered:
        """Return what is kept of rows."""
        raise NotImplementedError

    def reduced(self, rows: Bytes, numbers: NDArray[np.uint64]) -> tuple[Bytes, Any]:
        """Return what is kept of rows that were kept of parts."""
        raise NotImplementedError

    def merge(self, one: Gathered, other: Gathered) -> Gathered:
        """Return what is kept of both."""
        rows, numbers = self.reduced(
            np.concatenate([one.rows, other.rows]), np.concatenate([one.numbers, other.numbers])
        )
        return Gathered(Counter(one.tallies) + Counter(other.tallies), rows, numbers)

    def pack(self, result: Gathered) -> bytes:
        """Return a line of tallies, the numbers, and the rows."""
        told = [[b.epoch, b.simulated, b.segments, n] for b, n in sorted(result.tallies.items())]
        numbers = result.numbers.astype("<u8").tobytes()
        return (
            json.dumps([told, len(result.rows)]).encode() + b"\n" + numbers + result.rows.tobytes()
        )

    def unpack(self, data: bytes) -> Gathered:
        """Return what `pack` packed."""
        head, _, rest = data.partition(b"\n")
        told, number = json.loads(head)
        own = self.question.id, self.question.version, self.question.digest
        numbers = np.frombuffer(rest, "<u8", number).astype(np.uint64)
        rows = np.frombuffer(rest, np.uint8, offset=8 * number).reshape(number, _width(self.cut))
        return Gathered({Batch(*own, *batch): n for *batch, n in told}, rows, numbers)


@dataclass(frozen=True)
class PatternFold(GatherFold):
    """Distinct rows with their multiplicities."""

    def kept(self, batch: Batch, rows: Bytes, label: str) -> Gathered:
        """Return the distinct rows."""
        found, numbers = self.reduced(_cut(rows, self.cut), np.ones(len(rows), np.uint64))
        return Gathered({batch: len(rows)}, found, numbers)

    def reduced(self, rows: Bytes, numbers: NDArray[np.uint64]) -> tuple[Bytes, Any]:
        """Return the distinct rows, sorted, with the sums of their numbers."""
        keys = _keys(rows)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        sums = np.add.reduceat(numbers[order], first) if len(first) else numbers
        return np.ascontiguousarray(rows[order[first]]), sums


@dataclass(frozen=True)
class SampleFold(GatherFold):
    """The rows with the smallest keys."""

    def kept(self, batch: Batch, rows: Bytes, label: str) -> Gathered:
        """Return the rows of the smallest keys."""
        found, numbers = self.reduced(_cut(rows, self.cut), keys_of(label, len(rows)))
        return Gathered({batch: len(rows)}, found, numbers)

    def reduced(self, rows: Bytes, numbers: NDArray[np.uint64]) -> tuple[Bytes, Any]:
        """Return the rows of the smallest keys, in the order of these."""
        order = np.argsort(numbers, kind="stable")[: self.most]
        return np.ascontiguousarray(rows[order]), numbers[order]


def _folded(
    fold: GatherFold, store: Store, selection: Selection, engine: Engine | None
) -> Gathered:
    where = engine or Threads()
    if isinstance(store, Archive) or not isinstance(where, Threads):
        files = Files.of(store, fold.question, selection, where)
        found = where.folded(replace(fold, names=files.names), files.paths) or fold.none()
        return replace(found, ignored=files.ignored)
    total, ignored = fold.none(), 0
    for batch, rows, label in _chunks_of(store, fold.question, selection):
        if batch.digest == fold.question.digest:
            total = fold.merge(total, fold.kept(batch, rows, label))
        else:
            ignored += len(rows)
    return replace(total, ignored=ignored)


def keys_of(label: str, rows: int) -> NDArray[np.uint64]:
    """Return the keys of rows, drawn from their label."""
    seed = list(hashlib.sha256(f"{_SEED} {label}".encode()).digest())
    return np.random.default_rng(seed).integers(0, 2**64, rows, np.uint64)


def _chunks_of(store: Store, question: Question, selection: Selection) -> Groups:
    for number, chunk in enumerate(selected(store, question, selection)):
        rows = np.frombuffer(chunk.records, np.uint8).reshape(chunk.count, -1)
        yield chunk.batch, rows, f"chunk {number}"


def reports_of(store: Store, question: Question) -> int:
    """Return the number of a question's reports, as far as is known before they are read."""
    if isinstance(store, Archive):
        return sum(store.part(name).head.reports for name in store.within(question.id))
    return sum(one.reports for one in store.tallies() if one.batch.question == question.id)


def _fields(rows: Bytes, cut: Cut) -> list[Bytes]:
    return [rows[:, first:end] for first, end in cut]


def parted(rows: Bytes, widths: Sequence[int]) -> list[Bytes]:
    """Return rows that hold fields side by side as a table of each."""
    ends = np.cumsum([0, *widths]).tolist()
    return _fields(rows, tuple(pairwise(ends)))


def _width(cut: Cut) -> int:
    return sum(end - first for first, end in cut)


def _cut(rows: Bytes, cut: Cut) -> Bytes:
    return np.concatenate([rows[:, first:end] for first, end in cut], axis=1)


def _keys(rows: Bytes) -> NDArray[Any]:
    """Return what rows are compared by: numbers of eight bytes, or the bytes of longer ones."""
    width = rows.shape[1]
    if width > _KEY_BYTES:
        return np.ascontiguousarray(rows).view(f"V{width}").reshape(-1)
    padded = np.zeros((len(rows), _KEY_BYTES), np.uint8)
    padded[:, _KEY_BYTES - width :] = rows
    return padded.view(">u8").reshape(-1)
