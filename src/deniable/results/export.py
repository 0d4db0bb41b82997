"""The raw reports of a question in a file, for other tools.

A file holds what the store holds: epoch, record, segments where the question has some, and whether
the report is simulated. Combinations of segments with fewer reports than the floor are "(small)",
of an open epoch too. It holds neither ids nor any order of arrival. Parquet has a fixed-size binary
column, and a text column for each segment; NDJSON has one object per line with the record in
base64url, as in a batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deniable.engines.selection import ALL, Selection, selected
from deniable.errors import InvalidParameter, MissingExtra, StoreError
from deniable.protocol import Question
from deniable.protocol.canonical import canonical, to_base64url
from deniable.results.whole_files import whole_file
from deniable.store.base import Chunk, Store

GROUP_REPORTS = 200_000
"""Reports per row group of a Parquet file: chunks of a few reports each would make it slow."""

Progress = Callable[[int], None]
"""Called with the number of reports written so far."""


def export_reports(
    store: Store,
    question: Question,
    path: str | Path,
    selection: Selection = ALL,
    *,
    progress: Progress | None = None,
) -> int:
    """Write the reports that carry the question's digest to a .parquet or .ndjson file.

    Guarantees: accumulating what was written gives the same counts as the store. The file is
    written whole or not at all.

    Cost: linear; memory of one group of 200,000 reports.

    Returns:
        The number of reports written.

    Raises:
        InvalidParameter: if the name ends in neither .parquet nor .ndjson.
        StoreError: if a chunk's length does not fit its number of records.
    """
    path = Path(path)
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise InvalidParameter(
            f"The name of an export must end in one of {', '.join(_WRITERS)}. "
            f"Got {path.name!r:.80}."
        )
    kept = _checked(question, selected(store, question, selection))
    with whole_file(path) as temporary:
        return write(question, kept, temporary, progress or _silent)


def _silent(_: int) -> None:
    """Tell nobody."""


def _checked(question: Question, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        if chunk.batch.digest != question.digest:
            continue
        if len(chunk.records) != chunk.count * question.record_size:
            raise StoreError(
                f"A chunk of question {question.id!r} has the wrong length. The store is damaged: "
                "restore it from a backup."
            )
        yield chunk


def _write_ndjson(
    question: Question, chunks: Iterator[Chunk], path: Path, progress: Progress
) -> int:
    written, size = 0, question.record_size
    common: dict[str, object] = {
        "question": question.id,
        "version": question.version,
        "digest": question.digest.hex(),
    }
    if question.level:
        common["level"] = question.level
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for chunk in chunks:
            batch = chunk.batch
            told = {**common, "epoch": batch.epoch, "simulated": batch.simulated}
            if batch.segments:
                told["segments"] = json.loads(batch.segments)
            head = json.dumps(told)[:-1]
            file.writelines(
                f'{head}, "record": "{to_base64url(chunk.records[i : i + size])}"}}\n'
                for i in range(0, len(chunk.records), size)
            )
            written += chunk.count
            progress(written)
    return written


def _write_parquet(
    question: Question, chunks: Iterator[Chunk], path: Path, progress: Progress
) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("analysis", "A Parquet file") from None
    schema = pa.schema(
        [
            ("epoch", pa.int32()),
            ("record", pa.binary(question.record_size)),
            ("simulated", pa.bool_()),
            *((segment.name, pa.string()) for segment in question.segments),
        ],
        metadata={
            "deniable.question": canonical(question.published()),
            "deniable.digest": question.digest.hex(),
        },
    )
    written = 0
    with pq.ParquetWriter(path, schema) as writer:
        for group in _groups(chunks):
            tables = [_arrow_chunk(pa, schema, chunk, question.record_size) for chunk in group]
            table = pa.concat_tables(tables).combine_chunks()
            writer.write_table(table, row_group_size=GROUP_REPORTS)
            written += table.num_rows
            progress(written)
    return written


def _groups(chunks: Iterator[Chunk]) -> Iterator[list[Chunk]]:
    """Yield lists of chunks of at least GROUP_REPORTS reports, the last excepted."""
    group: list[Chunk] = []
    reports = 0
    for chunk in chunks:
        group.append(chunk)
        reports += chunk.count
        if reports >= GROUP_REPORTS:
            yield group
            group, reports = [], 0
    if group:
        yield group


def _arrow_chunk(pa: Any, schema: Any, chunk: Chunk, size: int) -> Any:
    """View a chunk's records as an Arrow column, without copying them."""
    records = pa.Array.from_buffers(
        pa.binary(size), chunk.count, [None, pa.py_buffer(chunk.records)]
    )
    epochs = pa.repeat(pa.scalar(chunk.batch.epoch, pa.int32()), chunk.count)
    simulated = pa.repeat(pa.scalar(chunk.batch.simulated, pa.bool_()), chunk.count)
    values = json.loads(chunk.batch.segments) if chunk.batch.segments else {}
    segments = [
        pa.repeat(pa.scalar(values.get(name), pa.string()), chunk.count)
        for name in schema.names[3:]
    ]
    return pa.Table.from_arrays([epochs, records, simulated, *segments], schema=schema)


_WRITERS = {".parquet": _write_parquet, ".ndjson": _write_ndjson}
