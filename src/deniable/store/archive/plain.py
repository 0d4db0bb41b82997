"""Records read where they lie in a Parquet file, with one copy: that of reading.

    row group -> its pages: a header of Thrift, levels, the records one after the other

Only what an archive writes is understood: fixed-size binary, plain, uncompressed, without nulls.
Every number of a row group is compared with every other before a record of it is read; of any
other file, `pages_of` says nothing, and PyArrow reads it.

References: Parquet's parquet.thrift (PageHeader, DataPageHeader) and Encodings.md; Thrift's compact
protocol.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import FileIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_PEEK = 64
"""Bytes read of a page for its header and levels, which take about 30."""
_INTEGER, _STRUCT = 5, 12
"""Types of Thrift's compact protocol: i32, and a struct."""
_DATA_PAGE, _PLAIN, _RUNS = 0, 0, 3
"""Parquet's numbers of a page of data (version 1), and of the encodings PLAIN and RLE."""


_PIECE = 1 << 22
"""Bytes read at a time: enough that counting hardly notices where one ends, and cached."""


class Page(NamedTuple):
    """A run of records in a file.

    Attributes:
        start: its place.
        records: their number.
    """

    start: int
    records: int


class _Header(NamedTuple):
    """The bytes before the records of a page, read.

    Attributes:
        length: its bytes, with the levels.
        records: how many records follow.
    """

    length: int
    records: int


class _Unusual(Exception):
    """A page of another form; what it holds is PyArrow's business."""


def pages_of(file: FileIO, chunk: Any, size: int, nullable: bool) -> list[Page] | None:
    """Return the pages of a column in one row group; None if they are not as an archive's.

    Guarantees: what the pages hold is, to the byte, what PyArrow reads. They fill the chunk without
    a gap, have its number of records, and their levels say of every record that it is there.

    Args:
        file: opened without a buffer.
        chunk: PyArrow's metadata of the column.
        size: the bytes of a record.
        nullable: whether the schema allows nulls, so that levels stand before the records.

    Raises:
        EOFError: if the file is shorter than its pages.
    """
    plain = chunk.compression == "UNCOMPRESSED" and chunk.physical_type == "FIXED_LEN_BYTE_ARRAY"
    if not plain or chunk.has_dictionary_page:
        return None
    at, end = chunk.data_page_offset, chunk.data_page_offset + chunk.total_compressed_size
    if end > os.fstat(file.fileno()).st_size:
        raise EOFError("It is shorter than it says.")
    if not 0 <= at <= end:
        return None
    _announce(file, at, end - at)
    pages: list[Page] = []
    before, header = b"", _Header(0, 0)
    try:
        while at < end:
            file.seek(at)
            seen = file.read(_PEEK)
            # Pages of one length have the same header, to the byte.
            if not (before and seen.startswith(before)):
                header = _header(seen, size, nullable)
                before = seen[: header.length]
            pages.append(Page(at + header.length, header.records))
            at += header.length + header.records * size
    except _Unusual:
        return None
    whole = at == end and sum(page.records for page in pages) == chunk.num_values
    return pages if whole else None


def _announce(file: FileIO, start: int, size: int) -> None:
    """Tell the system what will be read: many small reads of a disk cost it three times the work.

    Edge cases: only some systems listen; nothing depends on it.
    """
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), start, size, os.POSIX_FADV_WILLNEED)


def read_pages(file: FileIO, pages: Sequence[Page], size: int) -> Iterator[Bytes]:
    """Yield the records of pages as rows of bytes: some pages at a time, at least one.

    Raises:
        EOFError: if the file has become shorter.
    """
    first = 0
    while first < len(pages):
        end, records = first + 1, pages[first].records
        while end < len(pages) and (records + pages[end].records) * size <= _PIECE:
            records += pages[end].records
            end += 1
        rows = np.empty((records, size), np.uint8)
        memory = memoryview(rows.data).cast("B")
        for start, number in pages[first:end]:
            file.seek(start)
            _fill(file, memory[: number * size])
            memory = memory[number * size :]
        yield rows
        first = end


def _fill(file: FileIO, memory: memoryview) -> None:
    """Read until the memory is full: one read returns at most 2 GiB."""
    while memory:
        count = file.readinto(memory)
        if not count:
            raise EOFError("It has become shorter.")
        memory = memory[count:]


def _header(seen: bytes, size: int, nullable: bool) -> _Header:
    """Read a page's header and levels.

    Raises:
        _Unusual: unless it is a page of version 1, plain, of records that are all there.
    """
    reading = _Compact(seen)
    page = reading.struct()
    data = page.get(5)
    if page.keys() != {1, 2, 3, 5} or not isinstance(data, dict):
        raise _Unusual
    # An empty struct of statistics may be there, and nothing else.
    if data.pop(5, {}) != {} or data.keys() != {1, 2, 3, 4}:
        raise _Unusual
    records, length = data[1], reading.at
    if records < 1:
        raise _Unusual
    levels = _levels(records) if nullable else b""
    bytes_after = len(levels) + records * size
    told = (page[1], page[2], page[3], data[2], data[3])
    sound = told == (_DATA_PAGE, bytes_after, bytes_after, _PLAIN, _RUNS)
    if not sound or seen[length : length + len(levels)] != levels:
        raise _Unusual
    return _Header(length + len(levels), records)


def _levels(records: int) -> bytes:
    """Return the levels that say of every record that it is there.

    They are one run of Parquet's hybrid of runs and bits: twice its length, then the level 1 that
    all its values have; before it, its length in bytes.
    """
    run, rest = bytearray(), records << 1
    while rest >= 128:
        run.append(rest & 127 | 128)
        rest >>= 7
    run += bytes([rest, 1])
    return len(run).to_bytes(4, "little") + run


class _Compact:
    """Structs of integers and structs, in Thrift's compact protocol.

    Args:
        data: bytes that begin with a struct.

    Attributes:
        at: the place after what was read.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self) -> dict[int, Any]:
        """Return the members of a struct, by their numbers.

        Raises:
            _Unusual: if it has a member of another type, or does not end.
        """
        found: dict[int, Any] = {}
        number = 0
        while first := self._byte():
            step, kind = first >> 4, first & 15
            if not step or kind not in (_INTEGER, _STRUCT):
                raise _Unusual
            number += step
            found[number] = self.struct() if kind == _STRUCT else self._integer()
        return found

    def _byte(self) -> int:
        if self.at == len(self._data):
            raise _Unusual
        self.at += 1
        return self._data[self.at - 1]

    def _integer(self) -> int:
        """Return a zigzag integer: 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ..."""
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return (value >> 1) ^ -(value & 1)
