"""An estimate held against the truth: precision, recall and coverage, where people know it.

Model [EPK14, section 4.1]: of the answers that a procedure found, precision is the share that
people hold; recall is the share of the held answers that it found, those that no candidate names
included.
"""

from __future__ import annotations

import csv
import json
import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from deniable.ask.candidates import read_candidates
from deniable.errors import InvalidParameter
from deniable.protocol import Question
from deniable.results.table import Table

Truth = Mapping[str, float | None]
"""The true share of each answer that people hold; None where only that they hold it is known."""

_MOST_BYTES = 2**28


def read_truth(path: Path, question: Question) -> dict[str, Truth]:
    """Return the truth about each field of a question from a file.

    The name decides: `.json` is what `deniable simulate --json` prints, or an object from answers
    to shares; `.csv` has the answer and its share on each line, with or without a heading; any
    other file has an answer on each line, whose shares are unknown.

    Raises:
        InvalidParameter: if the file cannot be read, a share is none, or the question has several
            fields and the file says not which it is about.
    """
    try:
        if path.suffix == ".json":
            found = _from_json(path)
        else:
            found = {"": _from_csv(path) if path.suffix == ".csv" else _from_lines(path)}
    except (OSError, ValueError, TypeError) as error:
        raise InvalidParameter(
            f"The truth in {path.name!r} cannot be read: {error}.",
            "Give what deniable simulate --json prints, a .csv of answers and shares, or a list.",
        ) from None
    names = [field.name for field in question.fields]
    if list(found) == [""] and len(names) == 1:
        found = {names[0]: found[""]}
    if unknown := found.keys() - set(names):
        raise InvalidParameter(
            f"The truth in {path.name!r} must name fields of question {question.id!r}: "
            f"{', '.join(names)}. Got {sorted(unknown)[0] or 'answers without a field'!r:.80}.",
            'Write {"truth": {FIELD: {ANSWER: SHARE}}} to a .json file.',
        )
    return found


def _from_json(path: Path) -> dict[str, Truth]:
    read = json.loads(_text(path))
    by_field = read.get("truth", {"": read}) if isinstance(read, dict) else None
    if not isinstance(by_field, dict) or not all(
        isinstance(one, dict) for one in by_field.values()
    ):
        raise ValueError("it is no object from answers to shares")
    return {field: _shares(shares.items()) for field, shares in by_field.items()}


def _from_csv(path: Path) -> Truth:
    rows = [row for row in csv.reader(_text(path).splitlines()) if row]
    if rows and not _is_number(rows[0][-1]):
        rows = rows[1:]  # the heading
    return _shares((row[0], row[1]) for row in rows)


def _from_lines(path: Path) -> Truth:
    return dict.fromkeys(read_candidates(path))


def _text(path: Path) -> str:
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES:,} bytes")
    return path.read_text(encoding="utf-8-sig")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shares(items: Iterable[tuple[object, Any]]) -> Truth:
    found = {unicodedata.normalize("NFC", str(value)): float(share) for value, share in items}
    if wrong := [share for share in found.values() if not 0 <= share <= 1]:
        raise ValueError(f"a share must be from 0 to 1, not {wrong[0]}")
    return found


def against_truth(table: Table, truth: Truth) -> Table:
    """Return a table of shares with the truth beside it, and how well it was found.

    Precision and recall stand in `about.more["against_truth"]` for every decision of the table,
    beside the share of intervals that hold the true share, where shares are known.
    """
    shares = {value: share for value, share in truth.items() if share is not None}
    known = bool(shares)
    held = {value for value, share in truth.items() if share is None or share > 0}
    listed = {row.value for row in table.rows}
    if known:
        table = table.with_truth({value: shares.get(value, 0.0) for value in listed})
    told: dict[str, object] = {"held": len(held), "listed": len(held & listed)}
    sentences = [
        f"Truth: people hold {len(held):,} answers, of which {len(held & listed):,} stand here."
    ]
    for column in table.columns.of("decision"):
        found = {row.value for row in table.rows if row[column.name]}
        hits = len(found & held)
        precision = hits / len(found) if found else math.nan
        recall = hits / len(held) if held else math.nan
        told[column.name] = {"found": len(found), "precision": precision, "recall": recall}
        sentences.append(
            f"{column.word}: {len(found):,} found, precision {_number(precision)}, recall "
            f"{_number(recall)}."
        )
    if known:
        told["coverage"] = coverage = _coverage(table)
        sentences.append(
            f"{_number(coverage)} of the {table.about.intervals}s hold the true share."
        )
    about = replace(table.about, more={**table.about.more, "against_truth": told})
    return replace(table, about=replace(about, what=(*about.what, " ".join(sentences))))


def _number(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.3f}"


def _coverage(table: Table) -> float:
    ends = [
        (row.truth, row.interval) for row in table.rows if row.learned and row.truth is not None
    ]
    covered = [low <= truth <= high for truth, (low, high) in ends]
    return sum(covered) / len(covered) if covered else math.nan
