"""The files of google/rappor's decoder: params.csv, counts.csv and map.csv.

    params.csv    header k,h,m,p,q,f and one row
    counts.csv    m rows without a header: the reports of the cohort, then bit 0 to bit k-1
    map.csv       a row per candidate: the string, then m x h integers cohort * k + bit + 1

Every file is UTF-8, and is read and written row by row.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.interop.google_csv import Rows, reading, write_rows
from deniable.interop.google_rappor import GoogleParams, GoogleRappor, Positions, bloom_bits

_PARAMS_HEADER = ["k", "h", "m", "p", "q", "f"]
_MAX_COUNT = 2**53
_CHUNK = 2**14


def read_params(path: Path) -> GoogleParams:
    """Read a params.csv.

    Raises:
        InvalidParameter: with the line, what is allowed and the fix.
    """
    with reading(path) as rows:
        rows.header(_PARAMS_HEADER)
        row = next(rows, [])
        if len(row) != len(_PARAMS_HEADER):
            raise rows.error("must hold the six numbers k,h,m,p,q,f.", "Add them in this order.")
        k, h, m = rows.integers(row[:3], 0, 2**32)
        try:
            p, q, f = (float(cell) for cell in row[3:])
            params = GoogleParams(k, h, m, p, q, f)
        except InvalidParameter as error:
            raise rows.error(f"cannot be. {error.message}", error.fix) from None
        except ValueError:
            raise rows.error("must hold p, q and f as decimals.", "Write 0.5, not 1/2.") from None
        if next(rows, None) is not None:
            raise rows.error("is one too many: there is one row of numbers.", "Remove it.")
        return params


def write_params(path: Path, params: GoogleParams) -> None:
    """Write a params.csv."""
    row = (params.k, params.h, params.m, params.p, params.q, params.f)
    write_rows(path, [_PARAMS_HEADER, row])


def read_counts(path: Path, params: GoogleParams) -> NDArray[np.int64]:
    """Read a counts.csv: m x (1 + k) integers.

    Raises:
        InvalidParameter: with the line; also if a bit is set in more reports than there are.
    """
    counts = np.zeros((params.m, 1 + params.k), dtype=np.int64)
    cohort = 0
    with reading(path) as rows:
        for row in rows:
            if len(row) != 1 + params.k or cohort == params.m:
                raise rows.error(
                    f"does not fit: there must be {params.m:,} rows (m) of {1 + params.k:,} "
                    "integers (1 + k).",
                    "Use the params.csv that the clients ran with.",
                )
            values = rows.integers(row, 0, _MAX_COUNT)
            if max(values) > values[0]:
                raise rows.error(
                    "counts a bit more often than there are reports.",
                    "The first number is the reports of the cohort: count them again.",
                )
            counts[cohort] = values
            cohort += 1
        if cohort < params.m:
            raise rows.error(
                f"is missing: there must be {params.m:,} rows, one per cohort (m).",
                "Write a row of zeros for a cohort without reports.",
            )
    return counts


def write_counts(path: Path, counts: NDArray[np.int64]) -> None:
    """Write a counts.csv from m x (1 + k) integers."""
    write_rows(path, (row.tolist() for row in counts))


def read_map(path: Path, params: GoogleParams) -> tuple[tuple[str, ...], Positions, int]:
    """Read a map.csv: the candidates, the bits of each (M x m x h, 0..k-1), and the repeats.

    A string that is listed again with the same bits is left out, as Google's decoder does.

    Cost: linear; 2 m h bytes per candidate, and its string.

    Raises:
        InvalidParameter: with the line; also if a string is there with two sets of bits.
    """
    reader = _MapReader(params)
    with reading(path) as rows:
        for row in rows:
            reader.add(rows, row)
        return reader.finish(rows)


class _MapReader:
    """Gathers the rows of a map in chunks of small integers."""

    def __init__(self, params: GoogleParams) -> None:
        self._params = params
        self._first = np.arange(params.m, dtype=np.int64)[:, None] * params.k + 1
        self._places: dict[str, int] = {}
        self._repeats: list[tuple[int, int, list[int]]] = []
        self._waiting: list[tuple[int, list[int]]] = []
        self._chunks = [np.empty((0, params.m, params.h), dtype=np.uint16)]

    def add(self, rows: Rows, row: list[str]) -> None:
        params = self._params
        if len(row) != 1 + params.m * params.h:
            raise rows.error(
                f"must hold a string and {params.m * params.h:,} integers (m x h).",
                "Use the params.csv that the map was made with.",
            )
        values = rows.integers(row[1:], 1, params.m * params.k)
        if row[0] in self._places:
            self._repeats.append((rows.line, self._places[row[0]], values))
            return
        self._places[row[0]] = len(self._places)
        self._waiting.append((rows.line, values))
        if len(self._waiting) == _CHUNK:
            self._store(rows)

    def _bits(self, rows: Rows, added: list[tuple[int, list[int]]]) -> Positions:
        """Return the bits of rows, after checking that each stands in the column of its cohort."""
        params = self._params
        values = np.array([values for _, values in added], dtype=np.int64)
        # A map numbers bits over all cohorts from 1: bit b of cohort c is c k + b + 1.
        bits = values.reshape(-1, params.m, params.h) - self._first
        wrong = np.flatnonzero(((bits < 0) | (bits >= params.k)).any(axis=(1, 2)))
        if wrong.size:
            raise rows.error(
                "has a bit in the column of another cohort: bits are cohort * k + bit + 1, "
                "cohort after cohort.",
                "Use the params.csv that the map was made with.",
                added[wrong[0]][0],
            )
        return bits.astype(np.uint16)

    def _store(self, rows: Rows) -> None:
        self._chunks.append(self._bits(rows, self._waiting))
        self._waiting = []

    def finish(self, rows: Rows) -> tuple[tuple[str, ...], Positions, int]:
        self._store(rows)
        positions = np.concatenate(self._chunks)
        for line, place, values in self._repeats:
            if (self._bits(rows, [(line, values)])[0] != positions[place]).any():
                raise rows.error(
                    "lists a string again, with other bits than before.", "Keep one.", line
                )
        if not self._places:
            raise rows.error("is missing: there must be a candidate.", "List at least one string.")
        return tuple(self._places), positions, len(self._repeats)


def write_map(path: Path, params: GoogleParams, candidates: Iterable[str]) -> None:
    """Write the map.csv of candidate strings, hashed as Google's clients do.

    Cost: m MD5s per candidate; one row in memory.

    Raises:
        InvalidParameter: if k is above 256: those clients cannot hash so far.
    """
    write_rows(path, (_map_row(word, params) for word in candidates))


def _map_row(word: str, params: GoogleParams) -> list[object]:
    row: list[object] = [word]
    for cohort in range(params.m):
        bits = bloom_bits(word.encode(), cohort, params.h, params.k)
        row += [cohort * params.k + bit + 1 for bit in bits]
    return row


def read_triple(folder: Path, prefix: str = "") -> GoogleRappor:
    """Read params.csv, counts.csv and map.csv of a folder.

    Args:
        folder: where they are.
        prefix: the beginning of the three names, such as "case_".

    Raises:
        InvalidParameter: naming the file and line.
    """
    params = read_params(folder / f"{prefix}params.csv")
    counts = read_counts(folder / f"{prefix}counts.csv", params)
    candidates, positions, repeats = read_map(folder / f"{prefix}map.csv", params)
    notes = (f"Rows of the map that repeat a string, left out: {repeats:,}.",) * bool(repeats)
    return GoogleRappor(params, counts, candidates, positions, notes)
