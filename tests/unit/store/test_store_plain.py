"""Records read from the pages of a Parquet file, against PyArrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from deniable.store.archive import plain
from deniable.store.archive.plain import pages_of, read_pages

Bytes = NDArray[np.uint8]
AS_WRITTEN: dict[str, Any] = {
    "compression": "none",
    "use_dictionary": False,
    "write_statistics": False,
}


def written(path: Path, rows: Bytes, *, nullable: bool = True, **how: Any) -> None:
    """Write rows as a column of an archive, or otherwise."""
    kind = pa.binary(rows.shape[1])
    column = pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(rows)])
    schema = pa.schema([pa.field("record", kind, nullable)])
    pq.write_table(pa.table([column], schema), path, **(AS_WRITTEN | how))


def read(path: Path) -> list[Bytes] | None:
    """Return what the pages hold, in pieces; None if a row group is unusual."""
    with pq.ParquetFile(path) as told, path.open("rb", buffering=0) as file:
        column = told.schema.column(0)
        size, nullable = column.length, column.max_definition_level > 0
        found: list[Bytes] = []
        for group in range(told.metadata.num_row_groups):
            chunk = told.metadata.row_group(group).column(0)
            pages = pages_of(file, chunk, size, nullable)
            if pages is None:
                return None
            found += read_pages(file, pages, size)
    return found


def slowly(path: Path) -> list[bytes]:
    """The twin: PyArrow, a record at a time."""
    return [bytes(value.as_py()) for value in pq.read_table(path).column(0)]


def rows_of(number: int, size: int) -> Bytes:
    return np.random.default_rng(number).integers(0, 256, (number, size), np.uint8)


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("size", [1, 2, 4, 18, 130, 4_097])
@pytest.mark.parametrize("number", [0, 1, 2, 63, 64, 500, 20_001])
def test_equal_to_pyarrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, size: int, nullable: bool
) -> None:
    number = min(number, 2_000_000 // size)
    path = tmp_path / "a.parquet"
    for how in ({}, {"row_group_size": 77}, {"max_rows_per_page": 100, "write_batch_size": 10}):
        written(path, rows_of(number, size), nullable=nullable, **how)
        monkeypatch.setattr(plain, "_PIECE", 3 * 100 * size)
        found = read(path)
        assert found is not None
        assert all(len(rows) for rows in found)
        assert b"".join(rows.tobytes() for rows in found) == b"".join(slowly(path))
        assert sum(map(len, found)) == number
        if number == 20_001 // size * size and how:
            assert len(found) > 1


@pytest.mark.parametrize(
    "how",
    [
        {"compression": "snappy"},
        {"use_dictionary": True},
        {"data_page_version": "2.0"},
        {"write_statistics": True},
        {"write_page_checksum": True},
        {"column_encoding": {"record": "DELTA_BYTE_ARRAY"}},
        {"column_encoding": {"record": "BYTE_STREAM_SPLIT"}},
    ],
    ids=str,
)
def test_what_no_archive_writes_is_left_to_pyarrow(tmp_path: Path, how: dict[str, Any]) -> None:
    path = tmp_path / "a.parquet"
    written(path, rows_of(3_000, 4), **how)
    assert read(path) is None
    assert len(slowly(path)) == 3_000


@pytest.mark.parametrize("absent", [[0], [2_999], range(1_000, 1_100), range(3_000)])
def test_nulls_are_left_to_pyarrow(tmp_path: Path, absent: Any) -> None:
    path = tmp_path / "a.parquet"
    gone = set(absent)
    values = [None if i in gone else bytes([i % 256] * 4) for i in range(3_000)]
    pq.write_table(pa.table({"record": pa.array(values, pa.binary(4))}), path, **AS_WRITTEN)
    assert read(path) is None


def test_a_header_with_any_other_byte_is_left_to_pyarrow(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = rows_of(1_000, 5)
    written(path, rows, max_rows_per_page=500, write_batch_size=10)
    sound = path.read_bytes()
    records = rows.tobytes()
    one, two = sound.index(records[:2_500]), sound.index(records[2_500:])
    heads = [*range(4, one), *range(one + 2_500, two)]
    assert len(heads) > 40
    for place in heads:
        for other in {sound[place] ^ 1, sound[place] ^ 128, 0, 255} - {sound[place]}:
            path.write_bytes(sound[:place] + bytes([other]) + sound[place + 1 :])
            # Otherwise the header would say the same in other words: nothing may be read wrongly.
            found = read(path)
            assert found is None or b"".join(part.tobytes() for part in found) == records


def test_a_page_behind_the_first_may_be_of_another_length(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    written(path, rows_of(1_130, 3), max_rows_per_page=100, write_batch_size=10)
    with pq.ParquetFile(path) as told, path.open("rb", buffering=0) as file:
        pages = pages_of(file, told.metadata.row_group(0).column(0), 3, True)
    assert pages is not None
    assert [page.records for page in pages] == [100] * 11 + [30]


def test_a_file_that_has_become_shorter_is_no_shorter_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    written(path, rows_of(1_000, 5))
    with pq.ParquetFile(path) as told, path.open("rb+", buffering=0) as file:
        pages = pages_of(file, told.metadata.row_group(0).column(0), 5, True)
        assert pages is not None
        file.truncate(pages[0].start + 4_999)
        with pytest.raises(EOFError, match="shorter"):
            list(read_pages(file, pages, 5))
