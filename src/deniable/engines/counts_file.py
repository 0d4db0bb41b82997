"""Counts as a file: public, versioned, the same bytes for the same counts.

    a line: deniable counts 1
    a line: the head, canonical JSON
    for every cell, for every field: little-endian integers of 8 bytes
    SHA-256 of everything before

The head names the question's contract and digest, the fields with the shapes of their tables, and
the cells (epoch, segments, reports, simulated ones), rising, which say in order what the integers
are: the reports of each cohort, the table row by row, and, of a mechanism that keeps patterns, one
integer per report in rising order. docs/time.md describes it for other programs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.engines.accumulated import Accumulated, Cell, FieldCounts, Part, no_counts
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts
from deniable.protocol import Question
from deniable.protocol.canonical import Json, canonical

FORMAT = 1
_MAGIC = b"deniable counts "
_SUM = hashlib.sha256().digest_size
_WORD = 8
_NOT_WHOLE = (
    "The counts file is damaged or cut off: it does not fit its sum.",
    "Copy it again, or count again: deniable count QUESTION -o FILE",
)


def to_bytes(counted: Accumulated) -> bytes:
    """Return counts as the bytes of a file; the cells must have been kept apart.

    Guarantees: equal counts of equal contracts are equal bytes.
    """
    shapes = no_counts(counted.question)
    head: dict[str, Json] = {
        "contract": counted.question.contract(),
        "digest": counted.question.digest.hex(),
        "n": counted.n,
        "fields": [
            {"name": name, "reports": len(c.reports), "table": list(c.table.shape)}
            for name, c in shapes.items()
        ],
        "cells": [_cell_head(cell, part) for cell, part in sorted(counted.cells.items())],
    }
    arrays = (
        array.astype(f"<{array.dtype.kind}{_WORD}").tobytes()
        for _, part in sorted(counted.cells.items())
        for counts in part.counts.values()
        for array in _arrays(counts).values()
    )
    data = b"".join([_MAGIC, b"%d\n" % FORMAT, canonical(head), b"\n", *arrays])
    return data + hashlib.sha256(data).digest()


def _cell_head(cell: Cell, part: Part) -> dict[str, Json]:
    segments: Json = json.loads(cell.segments) if cell.segments else {}
    told: dict[str, Json] = {"epoch": cell.epoch, "segments": segments}
    return {**told, "reports": part.n, "simulated": part.simulated}


def _arrays(counts: Counts) -> dict[str, NDArray[Any]]:
    """Return the arrays of counts by name: reports, table, and what a mechanism keeps beside."""
    return {one.name: getattr(counts, one.name) for one in fields(counts) if one.name != "digest"}


def from_bytes(data: bytes, question: Question) -> Accumulated:
    """Read a counts file of a question.

    Raises:
        InvalidParameter: if it is no counts file, was written by a newer version, is damaged or
            cut off, or holds counts of another digest.
    """
    return Accumulated.of_cells(question, cells_of(data, question, no_counts(question)))


def cells_of(data: bytes, question: Question, zero: FieldCounts) -> dict[Cell, Part]:
    """Return the cells of a counts file; `zero` are the counts of no reports.

    Raises:
        InvalidParameter: as `from_bytes`.
    """
    head, body = _opened(data)
    if head["digest"] != question.digest.hex():
        contract = head.get("contract", {})
        raise InvalidParameter(
            f"The counts are of question {contract.get('id')!r:.80}, version "
            f"{contract.get('version')}, with another digest than that of {question.title!r}, "
            f"version {question.version}: another question, version, level or epsilon.",
            "Name that question, and the survey.json that it was asked with.",
        )
    reader = _Reader(body)
    cells: dict[Cell, Part] = {}
    for told in head["cells"]:
        segments = canonical(told["segments"]).decode() if told["segments"] else ""
        counts = {name: reader.counts(empty, told["reports"]) for name, empty in zero.items()}
        cells[Cell(told["epoch"], segments)] = Part(counts, told["simulated"])
    reader.end()
    return cells


class _Reader:
    """Takes integers from the front of a file's body."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def counts(self, empty: Counts, reports: int) -> Counts:
        """Return counts of the shape of the empty ones."""
        found: dict[str, Any] = {}
        for name, array in _arrays(empty).items():
            # Beside reports and table stands one number per report.
            shape = array.shape if name in ("reports", "table") else (reports,)
            found[name] = self._take(array.dtype, shape)
        read = replace(empty, **found)
        if read.n != reports or any(array.min(initial=0) < 0 for array in found.values()):
            raise InvalidParameter(*_NOT_WHOLE)
        return read

    def _take(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        size = _WORD * int(np.prod(shape))
        part = self._body[self._at : self._at + size]
        if len(part) < size:
            raise InvalidParameter(*_NOT_WHOLE)
        self._at += size
        return np.frombuffer(part, f"<{dtype.kind}{_WORD}").astype(dtype).reshape(shape)

    def end(self) -> None:
        """Raise InvalidParameter unless everything was taken."""
        if self._at != len(self._body):
            raise InvalidParameter(*_NOT_WHOLE)


def _opened(data: bytes) -> tuple[Mapping[str, Any], bytes]:
    first, _, rest = data.partition(b"\n")
    if not first.startswith(_MAGIC):
        raise InvalidParameter(
            "The file holds no counts: it must begin with 'deniable counts'.",
            "Write one with: deniable count QUESTION -o FILE",
        )
    if first != _MAGIC + b"%d" % FORMAT:
        raise InvalidParameter(
            f"The counts have the format {first[len(_MAGIC) :][:20].decode('ascii', 'replace')}; "
            f"this version of deniable reads {FORMAT}.",
            "Upgrade deniable.",
        )
    if hashlib.sha256(data[:-_SUM]).digest() != data[-_SUM:]:
        raise InvalidParameter(*_NOT_WHOLE)
    head, _, body = rest[:-_SUM].partition(b"\n")
    try:
        told = json.loads(head)
        members = told["digest"], told["cells"]
    except (ValueError, TypeError, KeyError):
        raise InvalidParameter(*_NOT_WHOLE) from None
    del members
    return told, body


def digest_of(data: bytes) -> bytes:
    """Return the digest of the question whose counts a file holds.

    Raises:
        InvalidParameter: as `from_bytes`.
    """
    return bytes.fromhex(_opened(data)[0]["digest"])


def read_counts(path: Path, question: Question) -> Accumulated:
    """Read a counts file; see `from_bytes`.

    Raises:
        InvalidParameter: also if it cannot be read.
    """
    return from_bytes(read_file(path), question)


def read_file(path: Path) -> bytes:
    """Return the bytes of a file, else raise InvalidParameter."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidParameter(
            f"The counts file {path.name!r:.80} cannot be read: {error.strerror or error}.",
            "Name a file that deniable count QUESTION -o FILE wrote.",
        ) from None


def merge_counts(parts: list[Accumulated]) -> Accumulated:
    """Return the counts of several files together, cell by cell.

    Raises:
        InvalidParameter: if there are none, or their digests differ.
    """
    if not parts:
        raise InvalidParameter("Counts of one question are merged. Got none.")
    return reduce(Accumulated.merge, parts)
