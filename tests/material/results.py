"""What the tests of results have in common: questions as people write them, and made-up crowds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable.ask.estimate import answer_row, shares_table
from deniable.authoring import read_authored
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Question, Survey
from deniable.protocol.domain import Absent
from deniable.results.table import About, Cell, Column, Epochs, Table
from deniable.store import Batch, SqliteStore

EPOCH = 20_000
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script></svg><!-- ]]> & &amp;",
    "=HYPERLINK(0)",
    "bell \x07 null \x00 escape \x1b[31m",
    "line\nbreak\ttab\r",
    "override \u202e evil \u2066 \ufeff \uffff",
    "astral 😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀",
    "日本語" * 30,
    "[bold]markup[/bold] [/]",
    "${x} {{ y }} {% z %} {0} %s",
    "-1+1",
    "a" * 400 + "end",
    "",
)


def survey(folder: Path, questions: str) -> Survey:
    """Publish a survey of questions in TOML."""
    path = folder / "survey.toml"
    path.write_text(f'name = "Test"\nowner = "us"\n{questions}', encoding="utf-8")
    return Survey.from_published(read_authored(path).require().published())


def question(folder: Path, body: str) -> Question:
    """Publish a survey of one question, called `asked`."""
    head = '[[questions]]\nid = "asked"\ndescription = "What?"\nexpires = 2030-12-31\n'
    return survey(folder, head + body).questions[0]


def answer(
    store: SqliteStore,
    asked: Question,
    codes: Mapping[str, Sequence[int]],
    rng: np.random.Generator,
    strings: Sequence[str | Absent] | None = None,
    epoch: int = EPOCH,
) -> None:
    """Write the simulated reports of people whose answers have these codes."""
    reports = {
        field.name: mechanism_for(field.parameters).simulate(
            np.asarray(codes[field.name], dtype=np.int64),
            rng,
            strings if field.domain.size is None else None,
        )
        for field in asked.fields
    }
    batch = Batch(asked.id, asked.version, asked.digest, epoch)
    store.append_records(batch, join_records(asked, reports), asked.record_size)


Cells = tuple[Cell, ...]


def row(
    value: str,
    frequency: float,
    std_error: float = 0.01,
    truth: float | None = None,
    **test: Any,
) -> Cells:
    half = 1.96 * std_error
    interval = (frequency - half, frequency + half)
    return answer_row(value, frequency, std_error, interval, truth=truth, **test)


def row_with_test(
    value: str, frequency: float, *, holm: bool, storey: bool, p_value: float = 0.0123
) -> Cells:
    """Return a row with its test, as every estimated one has."""
    return row(
        value,
        frequency,
        z=frequency / 0.01,
        p_value=p_value,
        holm=holm,
        storey=storey,
        selected_interval=(frequency - 0.03, frequency + 0.03) if storey else None,
        points={"likely": max(0.0, frequency)},
    )


UNKNOWN = row("unknown", math.nan, math.nan)


def result(*rows: Cells, domain: str = "strings", n: int = 10_000, **changes: Any) -> Table:
    """Return a table that was not estimated, to be shown."""
    notes = changes.pop("notes", ("A note.",))
    more = {name: changes.pop(name, given) for name, given in MORE.items()}
    values: dict[str, Any] = {
        "question": "asked",
        "field": "value",
        "description": "What?",
        "domain": domain,
        "mechanism": "rappor",
        "n": n,
        "epsilon_once": 1.074286,
        "epsilon_forever": 4.39445,
        "memoised": True,
        "epochs": Epochs(EPOCH, EPOCH + 1, 1),
        "more": more,
        **changes,
    }
    table = shares_table(About("estimate", **values), rows, notes)
    if all(one.truth is None for one in table.rows):
        return table
    return table.with_column(Column("truth", "share", "truth", tick=True), table.column("truth"))


MORE: dict[str, Any] = {"expected_false": 0.0, "unlisted": None}


def hostile_result() -> Table:
    rows = [row(value, 0.5 / (i + 1)) for i, value in enumerate(HOSTILE)]
    return result(*rows, UNKNOWN, description="<b>\x07</b>", notes=("note \x1b <i>",))
