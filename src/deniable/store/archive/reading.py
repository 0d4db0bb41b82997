"""An archive as a store that can only be read: in a folder, or where PyArrow finds files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from io import FileIO
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deniable.errors import StoreError
from deniable.store.archive.layout import (
    FORMAT,
    Head,
    batch_of,
    incomplete,
    pyarrow,
    read_head,
    records_sum,
)
from deniable.store.archive.plain import pages_of, read_pages
from deniable.store.base import ACCEPTED, SIMULATED, Batch, Chunk, Scope, Tally
from deniable.store.place import ARCHIVE_MARKER
from deniable.store.read_only import ReadOnlyStore

Bytes = NDArray[np.uint8]


def read_marker(data: bytes, place: str) -> bool:
    """Return whether an archive of a format that this version reads has columns for databases.

    Raises:
        StoreError: if it has another format.
    """
    try:
        told = json.loads(data)
        number, columns = told["format"], told.get("columns", False)
    except (AttributeError, KeyError, TypeError, ValueError):
        number, columns = None, False
    if number != FORMAT:
        raise StoreError(
            f"{place} is an archive of format {number!r:.20}. This version reads format {FORMAT}: "
            "install a newer one, or restore archive.json."
        )
    return columns is True


@dataclass(frozen=True)
class Part:
    """One file of an archive.

    Attributes:
        head: its statement about itself.
        name: its place below the archive.
        file: it, opened by PyArrow.
        path: its path; None where only PyArrow can read it.
    """

    head: Head
    name: str
    file: Any
    path: str | None = None

    @classmethod
    def open(cls, name: str, source: Any) -> Self:
        """Open a part by its place below the archive, and its path or file.

        Raises:
            StoreError: if it is no part of an archive, or damaged.
        """
        pa, pq, _ = pyarrow()
        try:
            file = pq.ParquetFile(source, memory_map=isinstance(source, str))
        except (pa.ArrowException, OSError) as error:
            raise StoreError(f"The archive's part {name} cannot be read: {error!s:.200}") from None
        head = read_head(name, file.metadata)
        column = file.schema_arrow.field("record") if "record" in file.schema_arrow.names else None
        if column is None or column.type != pa.binary(head.size):
            raise StoreError(f"The archive's part {name} has no column of {head.size} bytes.")
        return cls(head, name, file, source if isinstance(source, str) else None)

    def rows(self) -> Iterator[Bytes]:
        """Yield the records, a row of bytes each, many at a time and without copying them.

        Raises:
            StoreError: if the file is damaged.
        """
        for batch in self._batches(["record"]):
            yield _rows_of(batch.column(0), self.head.size)

    def groups(self) -> Iterator[tuple[str, Bytes]]:
        """Yield rows of bytes by the text of their segments, "" without any."""
        has_segments = "segments" in self.file.schema_arrow.names
        for batch in self._batches(["record", "segments"] if has_segments else ["record"]):
            rows = _rows_of(batch.column(0), self.head.size)
            if not has_segments:
                yield "", rows
                continue
            coded = batch.column(1).dictionary_encode()
            codes = coded.indices.to_numpy(zero_copy_only=False)
            for code, text in enumerate(coded.dictionary.to_pylist()):
                chosen = rows[codes == code]
                if len(chosen):
                    yield text or "", chosen

    def pieces(self) -> Iterator[tuple[str, Bytes]]:
        """Yield the rows of `groups` in pieces of other lengths, for sums that need not care.

        Raises:
            StoreError: if the file is damaged.
        """
        if self.path is None or "segments" in self.file.schema_arrow.names:
            yield from self.groups()
            return
        try:
            with Path(self.path).open("rb", buffering=0) as file:
                for number in range(self.file.num_row_groups):
                    for rows in self._row_group(file, number):
                        yield "", rows
        except (EOFError, OSError) as error:
            raise StoreError(
                f"The archive's part {self.name} cannot be read: {error!s:.200}"
            ) from None

    def _row_group(self, file: FileIO, number: int) -> Iterator[Bytes]:
        """Yield the records of a row group: by this package or, of unusual pages, by PyArrow."""
        column = self.file.schema_arrow.get_field_index("record")
        chunk = self.file.metadata.row_group(number).column(column)
        nullable = self.file.schema.column(column).max_definition_level > 0
        pages = pages_of(file, chunk, self.head.size, nullable)
        if pages is None:
            for batch in self._batches(["record"], [number]):
                yield _rows_of(batch.column(0), self.head.size)
        else:
            yield from read_pages(file, pages, self.head.size)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the records by their segments."""
        for text, rows in self.groups():
            yield Chunk(self._in(text), rows.tobytes(), len(rows))

    def tallies(self) -> Counter[Batch]:
        """Return the number of reports by their segments; only that column is read."""
        if "segments" not in self.file.schema_arrow.names:
            return Counter({self.head.batch: self.head.reports})
        found: Counter[Batch] = Counter()
        for batch in self._batches(["segments"]):
            for pair in batch.column(0).dictionary_decode().value_counts().to_pylist():
                found[self._in(pair["values"])] += pair["counts"]
        return found

    def check(self) -> None:
        """Compare the records with their sum.

        Raises:
            StoreError: if they do not fit it.
        """
        if records_sum(*(rows.tobytes() for rows in self.rows())) != self.head.sum:
            raise StoreError(f"The archive's part {self.name} is damaged: its sum does not fit.")

    def _in(self, text: str | None) -> Batch:
        return replace(self.head.batch, segments=text or "")

    def _batches(self, columns: list[str], groups: list[int] | None = None) -> Iterator[Any]:
        pa, _, _ = pyarrow()
        try:
            yield from self.file.iter_batches(1 << 20, row_groups=groups, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise StoreError(f"The archive's part {self.name} is damaged: {error!s:.200}") from None


def release_unused() -> None:
    """Give back the memory that PyArrow keeps for the next batch: tens of megabytes per reader."""
    pa, _, _ = pyarrow()
    pa.default_memory_pool().release_unused()


def open_part(path: str) -> Part:
    """Open a part by its path, or its address, in whatever process.

    Raises:
        StoreError: if it is no part of an archive, or damaged.
    """
    if "://" not in path:
        return Part.open(path, path)
    pa, _, fs = pyarrow()
    try:
        system, place = fs.FileSystem.from_uri(path)
        return Part.open(path.partition("?")[0], system.open_input_file(place))
    except (pa.ArrowException, OSError) as error:
        raise StoreError(f"{path} cannot be read: {error!s:.200}") from None


class Archive(ReadOnlyStore):
    """An archive in a folder, or at an address that PyArrow knows (s3://, gs://).

    Args:
        place: the folder, or the address.

    Raises:
        StoreError: if there is no archive, or it cannot be read.
    """

    def __init__(self, place: str | Path) -> None:
        pa, _, fs = pyarrow()
        self._place = str(place)
        try:
            if "://" in self._place:
                self._system, self._root = fs.FileSystem.from_uri(self._place)
            else:
                self._system, self._root = fs.LocalFileSystem(), str(Path(place).resolve())
            with self._system.open_input_stream(f"{self._root}/{ARCHIVE_MARKER}") as stream:
                self.columns = read_marker(stream.read(), self._place)
        except (pa.ArrowException, OSError) as error:
            raise StoreError(f"{self._place} is no archive: {error!s:.200}") from None
        self._local = isinstance(self._system, fs.LocalFileSystem)

    @cached_property
    def _named(self) -> dict[str, Batch | None]:
        """The places of all files below the archive, with the batches of those that name one."""
        _, _, fs = pyarrow()
        found = self._system.get_file_info(fs.FileSelector(self._root, recursive=True))
        names = sorted(info.path[len(self._root) :].lstrip("/") for info in found if info.is_file)
        return {name: batch_of(name) for name in names if "/." not in f"/{name}"}

    @cached_property
    def paths(self) -> dict[str, Batch]:
        """The places of all parts below the archive, with the batch that each one names."""
        return {name: batch for name, batch in self._named.items() if batch is not None}

    @property
    def strays(self) -> tuple[str, ...]:
        """The places of Parquet files whose names are not those of parts: nobody counts them."""
        parquet = (name for name in self._named if name.endswith(".parquet"))
        return tuple(name for name in parquet if self._named[name] is None)

    def part(self, name: str) -> Part:
        """Open the part at a place below the archive."""
        path = f"{self._root}/{name}"
        return Part.open(name, path if self._local else self._system.open_input_file(path))

    def read(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> Iterator[Chunk]:
        """Yield the chunks of a question, a row group at a time."""
        for name in self.within(question, version, first_epoch, last_epoch):
            yield from self.part(name).chunks()

    def within(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> dict[str, Batch]:
        """Return the places of a question's parts below the archive, each with its batch.

        Raises:
            StoreError: if a part of an epoch is missing, or there twice.
        """
        scope = Scope(question, version, first_epoch, last_epoch)
        found = {name: batch for name, batch in self.paths.items() if scope.holds(batch)}
        heads: dict[Batch, list[Head]] = {}
        for name, batch in found.items():
            heads.setdefault(batch, []).append(self._head(name))
        for batch, each in heads.items():
            if wrong := incomplete(batch, each):
                raise StoreError(
                    f"{self._place} is not whole. {wrong} Put the part back, or delete the epoch's "
                    "folder and export it again: deniable archive check finds all that is wrong."
                )
        return found

    def address(self, name: str) -> str:
        """Return the path of a part, or its address, by which `open_part` finds it anywhere."""
        if self._local:
            return f"{self._root}/{name}"
        # What follows a question mark says how PyArrow reaches the files.
        place, mark, how = self._place.partition("?")
        return f"{place.rstrip('/')}/{name}{mark}{how}"

    def tallies(self) -> list[Tally]:
        """Return the number of reports of each batch, from the heads of the parts."""
        return self._tallies

    @cached_property
    def _heads(self) -> dict[str, Head]:
        """The heads of the parts that were looked at."""
        return {}

    def _head(self, name: str) -> Head:
        if name not in self._heads:
            self._heads[name] = self.part(name).head
        return self._heads[name]

    @cached_property
    def _tallies(self) -> list[Tally]:
        reports: Counter[Batch] = Counter()
        sizes: dict[Batch, int] = {}
        for name in self.paths:
            part = self.part(name)
            self._heads[name] = part.head
            for batch, number in part.tallies().items():
                reports[batch] += number
                sizes[batch] = part.head.size
        return [
            Tally(batch, reports[batch], reports[batch] * sizes[batch], open=False)
            for batch in sorted(reports)
        ]

    def counters(self) -> dict[tuple[str, str], int]:
        """Return the numbers of accepted and of simulated reports; an archive knows no others."""
        found: Counter[tuple[str, str]] = Counter()
        for tally in self.tallies():
            kind = SIMULATED if tally.batch.simulated else ACCEPTED
            found[tally.batch.question, kind] += tally.reports
        return dict(found)

    def close(self) -> None:
        """Release nothing: files are opened when they are read."""


def _rows_of(column: Any, size: int) -> Bytes:
    """View a column of fixed-size binary as rows of bytes."""
    # The buffer holds all rows of the array that a batch may be a slice of.
    data = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    start = column.offset * size
    return data[start : start + len(column) * size].reshape(len(column), size)
