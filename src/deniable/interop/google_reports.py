"""The reports of google/rappor's clients.

    reports.csv   header client,cohort,bloom,prr,irr; bit strings of k digits, bit k-1 first

Its simulations also write the Bloom filter and the permanent response, which no client sends; they
may be empty here, and counting never looks at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.interop.google_csv import Rows, reading
from deniable.interop.google_rappor import GoogleParams
from deniable.kernels.bit_counts import count_bits

_REPORTS_HEADER = ["client", "cohort", "bloom", "prr", "irr"]
_CHUNK = 2**14


@dataclass(frozen=True, repr=False)
class GoogleReport:
    """One row of reports.csv. Its repr shows nothing: `bloom` is the answer as good as in clear.

    Attributes:
        client: the name in the file.
        cohort: 0..m-1.
        bloom: the Bloom filter, before any noise; None if the file does not say.
        prr: the permanent response; None if the file does not say.
        irr: the report.
    """

    client: str
    cohort: int
    bloom: int | None
    prr: int | None
    irr: int

    def __repr__(self) -> str:
        return "GoogleReport(<hidden>)"


def read_reports(path: Path, params: GoogleParams) -> Iterator[GoogleReport]:
    """Yield the reports of a reports.csv, row by row.

    Raises:
        InvalidParameter: with the line and the column, but without what stands there.
    """
    with reading(path) as rows:
        rows.header(_REPORTS_HEADER)
        for row in rows:
            yield _report(rows, row, params)


def _report(rows: Rows, row: list[str], params: GoogleParams) -> GoogleReport:
    if len(row) != len(_REPORTS_HEADER):
        raise rows.error(f"must hold {','.join(_REPORTS_HEADER)}.", "Add what is missing.")
    client, cohort, bloom, prr, irr = row
    return GoogleReport(
        client,
        rows.integers([cohort], 0, params.m - 1)[0],
        _bits(rows, "bloom", bloom, params.k) if bloom else None,
        _bits(rows, "prr", prr, params.k) if prr else None,
        _bits(rows, "irr", irr, params.k),
    )


def _bits(rows: Rows, column: str, text: str, count: int) -> int:
    if len(text) != count or text.strip("01"):
        raise rows.error(
            f"must have {count} digits 0 or 1 (k) in column {column}.",
            "Use the params.csv that the clients ran with.",
        )
    return int(text, 2)


def count_reports(reports: Iterable[GoogleReport], params: GoogleParams) -> NDArray[np.int64]:
    """Return the counts of reports, m x (1 + k): those of the cohort, then of each bit.

    Guarantees: looks only at cohort and report; nothing about clients is kept.

    Cost: linear, about 2 microseconds a report read from a file; 16,384 of them in memory.
    """
    size = -(-params.k // 8)
    record = np.dtype([("cohort", "<u2"), ("bits", "u1", (size,))])
    counts = np.zeros((params.m, 1 + params.k), dtype=np.int64)
    waiting = iter(reports)
    while chunk := list(islice(waiting, _CHUNK)):
        packed = b"".join(
            r.cohort.to_bytes(2, "little") + r.irr.to_bytes(size, "little") for r in chunk
        )
        totals, table = count_bits(np.frombuffer(packed, dtype=record), params.m, params.k)
        counts[:, 0] += totals
        counts[:, 1:] += table
    return counts
