"""Tables of attributes as people read them: shares, conditional shares, all tables at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal

from deniable.marginals.crafted.smoothed import Progress
from deniable.protocol.epsilon import as_float
from deniable.results.intervals import LEVEL
from deniable.results.marginals import RAW, SMOOTHED, RecordReports
from deniable.results.marginals_attackers import attacked_tables
from deniable.results.marginals_cells import Bars, Both, CellRow, Given, cells_of
from deniable.results.marginals_charts import table_chart
from deniable.results.simulated import reports_text
from deniable.results.view import Cell, View
from deniable.results.words import percent

Kind = Literal["both", "raw", "smoothed"]
DIVIDED = "Shares given a condition add up to 1 for each condition."
_HEADERS: Mapping[Kind, tuple[str, ...]] = {
    "both": ("raw", "std. error", "95% interval", "smoothed"),
    "raw": ("raw", "std. error", "95% interval"),
    "smoothed": ("smoothed",),
}


def tables_view(
    reports: RecordReports,
    tables: Sequence[Both],
    kind: Kind = "both",
    given: Given | None = None,
    attackers: float | None = None,
    attacking: Progress | None = None,
) -> View:
    """Return tables as a view: a row per cell, raw and smoothed side by side.

    Args:
        reports: what they come from.
        tables: all of as many attributes.
        kind: show only the raw or only the smoothed shares.
        given: attributes that are given instead of asked for.
        attackers: the share of reports that may be crafted; adds a second error bar.
        attacking: called with how much of that is done.

    Raises:
        InvalidParameter: if `attackers` is no share from 0 to 1, or there are too many smoothed
            tables to say what crafted reports could have done to them.
    """
    known = dict(given or {})
    shown = [both.given(known) for both in tables]
    bars: Sequence[Bars | None] = [None] * len(shown)
    said: tuple[str, ...] = ()
    if attackers is not None:
        bars, said = attacked_tables(reports, tables, shown, known, kind, attackers, attacking)
    cells = [cells_of(both, known, bar) for both, bar in zip(shown, bars, strict=True)]
    one = len(tables) == 1
    heading = (*heading_of(reports), _what(shown[0], known, len(tables), reports))
    notes = (*_notes(shown, kind, known), *said)
    listed = [_json(both, rows, known, kind) for both, rows in zip(shown, cells, strict=True)]
    data: dict[str, object] = {**summary_of(reports), "kind": kind}
    data |= {} if attackers is None else {"attackers": attackers}
    data |= listed[0] if one else {"tables": listed}
    data["notes"] = list(notes)
    names = shown[0].attributes if one else ("attributes", "values")
    return View(
        heading,
        (*names, *_header(kind, attackers)),
        [
            _line(row, kind, one, _error(rows), attackers is not None)
            for rows in cells
            for row in rows
        ],
        [_record(reports, row, attackers is not None) for rows in cells for row in rows],
        data,
        notes,
        (lambda: table_chart(cells[0], heading, attackers)) if one else None,
        f"Bar chart of the shares of {' and '.join(shown[0].attributes)}, raw with 95% intervals.",
    )


def heading_of(reports: RecordReports) -> tuple[str, str]:
    """Return the lines above every view: what was asked, of how many, at what epsilon."""
    question, parameters = reports.question, reports.mechanism.parameters
    number_of = reports_text(reports.n, reports.simulated)
    return (
        f"{question.id} (version {question.version}): {question.description}",
        f"n = {number_of}, epsilon {as_float(parameters.epsilon_once):.4g} once, "
        f"{parameters.mechanism}, {len(reports.record.names)} attributes, tables of up to "
        f"{reports.order}",
    )


def summary_of(reports: RecordReports) -> dict[str, object]:
    """Return what every JSON object about a record question begins with."""
    question, parameters = reports.question, reports.mechanism.parameters
    return {
        "question": question.id,
        "version": question.version,
        "description": question.description,
        "mechanism": parameters.mechanism,
        "n": reports.n,
        "simulated": reports.simulated,
        "level": LEVEL,
        "epsilon_once": as_float(parameters.epsilon_once),
        "collected": {"attributes": list(reports.record.names), "order": reports.order},
    }


def number(value: float) -> float | None:
    """Return a number that JSON can hold: None for NaN."""
    return float(value) if math.isfinite(value) else None


def three(value: Cell) -> str:
    """Return a number with three digits after the point; n/a for none."""
    return f"{value:.3f}" if isinstance(value, float) and math.isfinite(value) else "n/a"


def _error(rows: Sequence[CellRow]) -> float:
    """Return the typical standard error, which decides how many digits are shown."""
    errors = [row.std_error for row in rows if math.isfinite(row.std_error)]
    return median(errors) if errors else math.nan


def _header(kind: Kind, attackers: float | None) -> tuple[str, ...]:
    names = _HEADERS[kind]
    if attackers is None:
        return names
    crafted = f"with {attackers:.3g} crafted"
    if kind == "both":
        return (*names[:3], crafted, *names[3:], crafted)
    return (*names, crafted)


def _line(row: CellRow, kind: Kind, one: bool, error: float, attacked: bool) -> list[str]:
    low, high = percent(row.low, error), percent(row.high, error)
    raw = [
        percent(row.raw, error),
        percent(row.std_error, error),
        f"{low} to {high}" if math.isfinite(row.low) else low,
    ]
    smoothed = [percent(row.smoothed, error)]
    if attacked:
        for shown, ends in ((raw, row.attacked_interval), (smoothed, row.attacked_smoothed)):
            shown.append(" to ".join(percent(end, error) for end in ends or ()) or "n/a")
    chosen = {"both": raw + smoothed, "raw": raw, "smoothed": smoothed}[kind]
    values = list(row.values.values())
    return [*(values if one else (", ".join(row.values), ", ".join(values))), *chosen]


def _record(reports: RecordReports, row: CellRow, attacked: bool) -> dict[str, Cell]:
    """Return a row of the one table that holds all tables."""
    found: dict[str, Cell] = {"question": reports.question.id, "version": reports.question.version}
    for i, (name, level) in enumerate(row.values.items(), 1):
        found |= {f"attribute_{i}": name, f"value_{i}": level}
    found |= {
        "raw": number(row.raw),
        "std_error": number(row.std_error),
        "low": number(row.low),
        "high": number(row.high),
    }
    if attacked:
        low, high = row.attacked_interval or (None, None)
        found |= {"attacked_low": low, "attacked_high": high}
    found["smoothed"] = number(row.smoothed)
    if attacked:
        low, high = row.attacked_smoothed or (None, None)
        found |= {"attacked_smoothed_low": low, "attacked_smoothed_high": high}
    return found | {"n": reports.n}


def _json(both: Both, cells: Sequence[CellRow], known: Given, kind: Kind) -> dict[str, object]:
    rows: list[dict[str, object]] = []
    for cell in cells:
        row: dict[str, object] = {"values": dict(cell.values)}
        if kind != "smoothed":
            row["raw"] = number(cell.raw)
            row["std_error"] = number(cell.std_error)
            row["interval"] = [number(cell.low), number(cell.high)]
            if cell.attacked_interval is not None:
                row["attacked_interval"] = list(cell.attacked_interval)
        if kind != "raw":
            row["smoothed"] = number(cell.smoothed)
            if cell.attacked_smoothed is not None:
                row["attacked_smoothed"] = list(cell.attacked_smoothed)
        rows.append(row)
    asked = [name for name in both.attributes if name not in known]
    data: dict[str, object] = {"attributes": asked, "rows": rows}
    if known:
        data["given"] = dict(known)
    return data


def _what(both: Both, known: Given, count: int, reports: RecordReports) -> str:
    if count > 1:
        return f"all {count:,} tables of {len(both.attributes)} of {len(reports.record.names)}"
    asked = [name for name in both.attributes if name not in known]
    given = [name if level is None else f"{name} = {level}" for name, level in known.items()]
    return f"shares of {', '.join(asked)}" + (f", given {', '.join(given)}" if given else "")


def _notes(tables: Sequence[Both], kind: Kind, known: Given) -> tuple[str, ...]:
    notes = [RAW] if kind != "smoothed" else []
    notes += [SMOOTHED] if kind != "raw" else []
    notes += [DIVIDED] if known else []
    for both in tables:
        if kind != "smoothed":
            notes += both.raw.notes
        if kind != "raw":
            notes += both.smoothed.notes
    return tuple(dict.fromkeys(notes))
