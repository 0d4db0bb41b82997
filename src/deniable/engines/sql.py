"""Counting in a database: a query over the columns of an archive, and counts from its result.

A row of the result is a field's reports of one epoch and combination of segments that share some
numbers (cohort, symbol, ...), how many they are, and how often each of their bits is set, where a
mechanism's counts are sums of bits; of other mechanisms bits are grouped by, like numbers. Both
say all that counts hold, so that these come out the same to the bit.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.engines.accumulated import Accumulated, FieldCounts, no_counts
from deniable.engines.files import seen_parts
from deniable.engines.selection import ALL, Selection
from deniable.errors import InvalidParameter
from deniable.mechanisms import Counts, Mechanism, mechanism_for
from deniable.protocol import Field, Question
from deniable.store.archive.columns import Column, columns_of
from deniable.store.base import Batch

Dialect = Literal["duckdb", "postgres"]
HEADER = ("field", "epoch", "simulated", "segments", "numbers", "n", "sums")
_NOT_A_RESULT = "Write the whole result of the query with its header as CSV, and nothing else."


def query(question: Question, dialect: Dialect, source: str) -> str:
    """Return the query whose result `counts_from_sql` reads.

    Args:
        question: the question.
        dialect: of the database.
        source: of DuckDB the folder or address of an archive with columns; of PostgreSQL the name
            of a table with these columns and question, digest, epoch, simulated, segments.
    """
    parts = [_of_field(question, field, dialect) for field in question.fields]
    return f"WITH reports AS (\n{_source(question, dialect, source)}\n)\n" + (
        "\nUNION ALL\n".join(parts) + ";\n"
    )


def _source(question: Question, dialect: Dialect, source: str) -> str:
    digest = question.digest.hex()
    if dialect == "postgres":
        return "\n".join(["  SELECT *", f"  FROM {_name(source)}", f"  WHERE digest = '{digest}'"])
    place = source.rstrip("/").replace("'", "''")
    segments = "segments" if question.segments else "''"
    names = ", ".join(_name(column.name) for column in columns_of(question))
    files = f"'{place}/**/digest={digest}/epoch=*/part-*.parquet'"
    lines = [
        "  SELECT epoch, filename LIKE '%/simulated/question=%' AS simulated,",
        f"    {segments} AS segments, {names}",
        f"  FROM read_parquet({files}, hive_partitioning = true, filename = true)",
    ]
    return "\n".join(lines)


def _of_field(question: Question, field: Field, dialect: Dialect) -> str:
    columns = _Columns.of(question, field)
    numbers = [_name(column.name) for column in columns.numbers]
    sums = [
        f"sum(({_name(column.name)} >> {bit}) & 1)"
        for column in columns.words
        for bit in range(column.bits)
    ]
    where = "epoch, simulated, segments"
    grouped = ", ".join([where, *numbers])
    name = field.name.replace("'", "''")
    return (
        f"SELECT '{name}' AS field, epoch, simulated, coalesce(segments, '') AS segments,\n"
        f"  {_array(numbers, dialect)} AS numbers, count(*) AS n,\n"
        f"  {_array(sums, dialect)} AS sums\n"
        f"FROM reports GROUP BY {grouped}"
    )


def _array(parts: list[str], dialect: Dialect) -> str:
    inside = ",\n    ".join(parts)
    return f"{'ARRAY' if dialect == 'postgres' else ''}[{inside}]::bigint[]"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True)
class _Columns:
    """The columns of a field: those that are grouped by, and the words whose bits are added up."""

    numbers: tuple[Column, ...]
    words: tuple[Column, ...]
    first: int
    size: int

    @classmethod
    def of(cls, question: Question, field: Field) -> _Columns:
        adds = mechanism_for(field.parameters).adds_bits
        first, own = 0, []
        for one in question.fields:
            if one.name == field.name:
                break
            first += one.parameters.layout.size
        for column in columns_of(question):
            if column.field == field.name:
                own.append(replace(column, first=column.first - first))
        words = tuple(column for column in own if column.bits and adds)
        numbers = tuple(column for column in own if column not in words)
        return cls(numbers, words, first, field.parameters.layout.size)


def counts_from_sql(path: Path, question: Question, selection: Selection = ALL) -> Accumulated:
    """Return the counts that a query's result holds.

    Args:
        path: a CSV file with the header of the query.
        question: the question of the query.
        selection: which of its reports; its floor names small combinations.

    Raises:
        InvalidParameter: if it is no such result, or not all of it.
    """
    selection.check(question)
    mechanisms = {field.name: mechanism_for(field.parameters) for field in question.fields}
    columns = {field.name: _Columns.of(question, field) for field in question.fields}
    zero = no_counts(question)
    parts: dict[Batch, dict[str, Counts]] = {}
    for row in _rows(path):
        name = row["field"]
        if name not in mechanisms:
            raise InvalidParameter(
                f"The result is of a field {name!r:.80}, which question {question.id!r} has not.",
                "Name the question of the query.",
            )
        batch = Batch(
            question.id,
            question.version,
            question.digest,
            _integer(row["epoch"]),
            row["simulated"].lower().startswith("t"),
            row["segments"],
        )
        found = _counts(mechanisms[name], columns[name], row)
        own = parts.setdefault(batch, dict(zero))
        own[name] = own[name].merge(found)
    _check_whole(parts)
    return seen_parts(question, parts, selection)


def _rows(path: Path) -> Iterator[Mapping[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != HEADER:
                raise InvalidParameter(
                    f"{path.name!r:.80} has not the columns {', '.join(HEADER)}.", _NOT_A_RESULT
                )
            for row in reader:
                if None in row or None in row.values():
                    raise InvalidParameter(f"{path.name!r:.80} is cut off.", _NOT_A_RESULT)
                yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidParameter(f"{path.name!r:.80} cannot be read: {error!s:.200}") from None


def _integer(text: str) -> int:
    found = _integers(text)
    if len(found) != 1 or found[0] < 0:
        raise InvalidParameter("A row of the result does not fit its question.", _NOT_A_RESULT)
    return found[0]


def _integers(text: str) -> list[int]:
    if not re.fullmatch(r"[\[{]?\s*(-?\d+\s*(,\s*-?\d+\s*)*)?[\]}]?", text):
        raise InvalidParameter(
            f"The result holds {text!r:.80} where whole numbers belong.",
            "Query an archive that was written with --columns.",
        )
    return [int(number) for number in re.findall(r"-?\d+", text)]


def _counts(mechanism: Mechanism, columns: _Columns, row: Mapping[str, str]) -> Counts:
    """Return the counts of a row, by accumulating records that have its numbers and sums."""
    n, numbers = _integer(row["n"]), _integers(row["numbers"])
    sums = np.array(_integers(row["sums"]), np.int64)
    expected = sum(column.bits for column in columns.words)
    whole = len(numbers) == len(columns.numbers) and len(sums) == expected and n > 0
    if not whole or sums.min(initial=0) < 0 or sums.max(initial=0) > n:
        raise InvalidParameter("A row of the result does not fit its question.", _NOT_A_RESULT)
    bits, times = dealt(sums, n)
    records = np.zeros((len(times), columns.size), np.uint8)
    for column, number in zip(columns.numbers, numbers, strict=True):
        column.put(records, np.full(len(times), number, np.int64))
    first = 0
    for column in columns.words:
        packed = np.packbits(bits[:, first : first + column.bits], axis=1, bitorder="little")
        records[:, column.first : column.first + column.size] = packed
        first += column.bits
    return weighed(mechanism, records, times)


def dealt(sums: NDArray[np.int64], n: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return n rows of bits whose columns have these sums, as distinct rows and their numbers.

    Bits are dealt like cards, one after the other and round the table of n rows: bit k goes to the
    rows S_k, ..., S_k + s_k - 1, modulo n, where S_k is the sum of those before. No row has a bit
    twice since s_k <= n; all rows have as many bits as each other, up to one; and rows between two
    neighbouring ends are alike, so that there are at most as many distinct ones as bits, and one.
    """
    ends = np.concatenate([[0], np.cumsum(sums)])
    starts = np.unique(ends % n)
    times = np.diff(np.append(starts, n))
    # Row i has bit k if its distance from S_k, going round, is below s_k.
    return (starts[:, None] - ends[None, :-1]) % n < sums[None, :], times


def weighed(mechanism: Mechanism, records: NDArray[np.uint8], times: NDArray[np.int64]) -> Counts:
    """Return the counts of records of which each occurs some number of times."""
    total = mechanism.zero()
    if type(total) is not Counts:  # what is kept of each report by itself cannot be multiplied
        return mechanism.accumulate(np.repeat(records, times, axis=0).tobytes())
    for power in range(int(times.max(initial=0)).bit_length()):
        own = mechanism.accumulate(records[(times >> power) & 1 == 1].tobytes())
        total = total.merge(replace(own, reports=own.reports << power, table=own.table << power))
    return total


def _check_whole(parts: Mapping[Batch, FieldCounts]) -> None:
    for counts in parts.values():
        if len({one.n for one in counts.values()}) > 1:
            raise InvalidParameter(
                "The result has different numbers of reports for the fields of a question.",
                _NOT_A_RESULT,
            )
