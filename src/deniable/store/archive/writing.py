"""From the closed epochs of a store to the files of an archive.

An epoch is written into a folder beside its place, read back, compared, and then renamed: a reader
sees all of an epoch or nothing of it, and who was interrupted goes on with the next epoch.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import StoreError
from deniable.protocol import Question
from deniable.protocol.canonical import canonical
from deniable.store.archive.columns import columns_of
from deniable.store.archive.layout import (
    FORMAT,
    HEAD,
    Head,
    folder_of,
    pyarrow,
    records_sum,
)
from deniable.store.archive.reading import Part, read_marker
from deniable.store.base import Batch, Chunk, Store
from deniable.store.place import ARCHIVE_MARKER

PART_BYTES = 1 << 26
"""The bytes of a part: many, so that opening it costs nothing, and few enough for the memory."""
ROW_GROUP = 1 << 20

Bytes = NDArray[np.uint8]
Progress = Callable[[int, int], None]
"""Called with the number of reports done and the number expected."""


@dataclass(frozen=True)
class Written:
    """The outcome of writing an archive.

    Attributes:
        epochs: the number of epochs that were written.
        reports: the number of their reports.
        there: the number of epochs that the archive had already.
        waiting: the number of epochs that are not closed, and stayed out.
    """

    epochs: int
    reports: int
    there: int
    waiting: int


def write_archive(
    store: Store,
    questions: Sequence[Question],
    directory: str | Path,
    *,
    columns: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Write every closed epoch of the questions that the archive does not hold yet.

    Guarantees: an epoch is in the archive whole or not at all, and was read back. A second call
    writes what was closed since. Open epochs stay out: their small combinations of segments are
    not masked yet, and more reports may come.

    Cost: linear; a few times 64 MiB.

    Args:
        store: where the reports are.
        questions: whose epochs are written.
        directory: the archive's folder, which is made if it is missing.
        columns: also write the numbers and words of every record, for databases (`columns.py`).
        progress: called after every epoch.

    Raises:
        StoreError: if the archive was begun with columns and this is without, or the other way; if
            an epoch of the archive holds another number of reports than the store, if
            files cannot be written, or if what is read back differs.
    """
    root, known = Path(directory), {question.digest: question for question in questions}
    _begin(root, columns)
    found = _epochs(store, known)
    closed = {epoch: reports for epoch, (reports, is_open) in found.items() if not is_open}
    done = written = epochs = 0
    for epoch, reports in closed.items():
        place = root / folder_of(epoch)
        if place.exists():
            _check_there(place, root, reports)
        else:
            _write_epoch(_Target(known[epoch.digest], epoch, reports, root, columns), store)
            written, epochs = written + reports, epochs + 1
        done += reports
        if progress is not None:
            progress(done, sum(closed.values()))
    return Written(epochs, written, len(closed) - epochs, len(found) - len(closed))


def _begin(root: Path, columns: bool) -> None:
    """Make the archive's folder, or see that it is one of the same kind."""
    marker = root / ARCHIVE_MARKER
    if marker.exists():
        if read_marker(marker.read_bytes(), str(root)) != columns:
            kinds = ("without", "with") if columns else ("with", "without")
            raise StoreError(
                f"{root} was begun {kinds[0]} columns, and all its parts are alike. Write it "
                f"{kinds[0]} --columns, or one {kinds[1]} them to another folder."
            )
        return
    if root.exists() and any(root.iterdir()):
        raise StoreError(f"{root} is neither empty nor an archive. Name another folder.")
    root.mkdir(parents=True, exist_ok=True)
    told = ',"columns":true' if columns else ""
    marker.write_text(f'{{"format":{FORMAT}{told}}}\n', encoding="utf-8")


def _epochs(store: Store, known: dict[bytes, Question]) -> dict[Batch, tuple[int, bool]]:
    """Return the reports of each epoch over all its segments, and whether one of them is open."""
    found: dict[Batch, tuple[int, bool]] = {}
    for tally in store.tallies():
        if tally.batch.digest in known:
            epoch = replace(tally.batch, segments="")
            reports, is_open = found.get(epoch, (0, False))
            found[epoch] = reports + tally.reports, is_open or tally.open
    return found


def _check_there(place: Path, root: Path, reports: int) -> None:
    parts = sorted(place.glob("part-*.parquet"))
    held = sum(Part.open(str(part.relative_to(root)), str(part)).head.reports for part in parts)
    if held != reports:
        raise StoreError(
            f"{place} holds {held:,} reports, the store {reports:,}: an epoch was opened again or "
            "reports were deleted since it was written. Remove that folder and write it again."
        )


@dataclass(frozen=True)
class _Target:
    """An epoch to be written: its question, its batch without segments, its reports, the place."""

    question: Question
    epoch: Batch
    reports: int
    root: Path
    columns: bool = False

    def chunks(self, store: Store) -> Iterator[Chunk]:
        """Yield the chunks of the epoch, of all segments."""
        one = self.epoch.epoch
        for chunk in store.read(self.epoch.question, self.epoch.version, one, one):
            if replace(chunk.batch, segments="") == self.epoch:
                yield chunk


def _write_epoch(target: _Target, store: Store) -> None:
    place = target.root / folder_of(target.epoch)
    place.parent.mkdir(parents=True, exist_ok=True)
    for left in place.parent.glob(f".{place.name}.*"):
        shutil.rmtree(left)  # of a run that was interrupted
    making = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    making.mkdir()
    try:
        sums = np.zeros(target.question.record_size, dtype=np.uint64)
        for chunks in _groups(target.chunks(store)):
            sums += _write_part(target, chunks, making / f"part-{secrets.token_hex(8)}.parquet")
        _check_written(target, making, sums)
        _sync(making)
        making.rename(place)
        _sync(place.parent)
    except OSError as error:
        raise StoreError(
            f"{place} cannot be written: {error.strerror}. Make room and run the command again."
        ) from None
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _groups(chunks: Iterator[Chunk]) -> Iterator[list[Chunk]]:
    group: list[Chunk] = []
    size = 0
    for chunk in chunks:
        group.append(chunk)
        size += len(chunk.records)
        if size >= PART_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _write_part(target: _Target, chunks: Sequence[Chunk], path: Path) -> NDArray[np.uint64]:
    """Write a part in a random order; return the sum of every byte of a record over its rows."""
    pa, pq, _ = pyarrow()
    size = target.question.record_size
    records = np.frombuffer(b"".join(chunk.records for chunk in chunks), dtype=np.uint8)
    rows = records.reshape(-1, size)
    order = np.argsort(np.frombuffer(os.urandom(8 * len(rows)), dtype=np.uint64))
    rows = np.ascontiguousarray(rows[order])
    head = Head(
        target.epoch,
        len(rows),
        size,
        records_sum(rows.tobytes()),
        canonical(target.question.published()).decode(),
        target.reports,
    )
    columns = {"record": _binary(pa, rows)}
    if target.question.segments:
        texts = sorted({chunk.batch.segments for chunk in chunks})
        codes = np.repeat(
            [texts.index(chunk.batch.segments) for chunk in chunks],
            [chunk.count for chunk in chunks],
        )
        columns["segments"] = pa.DictionaryArray.from_arrays(
            codes[order].astype(np.int16), pa.array(texts, pa.string())
        )
    if target.columns:
        columns |= {one.name: pa.array(one.of(rows)) for one in columns_of(target.question)}
    table = pa.table(columns).replace_schema_metadata({HEAD: head.written()})
    pq.write_table(
        table,
        path,
        compression="none",
        use_dictionary=["segments"] if target.question.segments else False,
        write_statistics=False,
        row_group_size=ROW_GROUP,
    )
    return np.asarray(rows.sum(axis=0, dtype=np.uint64))


def _binary(pa: Any, rows: Bytes) -> Any:
    return pa.Array.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(rows)])


def _check_written(target: _Target, making: Path, sums: NDArray[np.uint64]) -> None:
    """Read an epoch back: as many reports as the store has, the same bytes, each with its sum."""
    held, found = 0, np.zeros_like(sums)
    for path in making.glob("part-*.parquet"):
        part = Part.open(f"{folder_of(target.epoch)}/{path.name}", str(path))
        part.check()
        held += part.head.reports
        for rows in part.rows():
            found += rows.sum(axis=0, dtype=np.uint64)
        with path.open("rb") as file:
            os.fsync(file.fileno())
    if held != target.reports or not np.array_equal(found, sums):
        raise StoreError(
            f"Epoch {target.epoch.epoch} of {target.epoch.question!r} has {target.reports:,} "
            f"reports in the store and {held:,} in what was written of it, or other bytes. Run: "
            "deniable store check"
        )


def _sync(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
