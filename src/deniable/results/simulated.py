"""How many reports there are, with the mark of simulated ones: in words, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COLUMN = "simulated"
"""The column, and the key in JSON, that holds the number of simulated reports."""


def reports_text(n: int, simulated: int) -> str:
    """Return the number of reports as every heading says it.

    >>> reports_text(51, 0)
    '51 reports'
    >>> reports_text(20_000, 20_000)
    '20,000 simulated reports'
    >>> reports_text(20_051, 20_000)
    '20,051 reports, 20,000 of them simulated'
    """
    word = "report" if n == 1 else "reports"
    if not simulated:
        return f"{n:,} {word}"
    return (
        f"{n:,} simulated {word}"
        if simulated == n
        else f"{n:,} {word}, {simulated:,} of them simulated"
    )


def marked_rows(rows: Sequence[Mapping[str, Any]], simulated: int) -> list[dict[str, Any]]:
    """Return rows for a file, with a column more where some of the reports are simulated."""
    mark = {COLUMN: simulated} if simulated else {}
    return [{**row, **mark} for row in rows]


def marked_chart(definition: dict[str, Any], n: int, simulated: int) -> dict[str, Any]:
    """Return a Vega-Lite definition whose title says that reports are simulated, where some are."""
    text = reports_text(n, simulated)
    title = definition.get("title", {})
    said = title if isinstance(title, dict) else {"text": title}
    lines = said.get("subtitle", [])
    lines = [lines] if isinstance(lines, str) else list(lines)
    if not simulated or any(text in line for line in lines):
        return definition
    return {**definition, "title": {"text": "", **said, "subtitle": [text, *lines]}}
