"""An outcome as files (PNG, SVG, CSV), and the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deniable.results.charts.files import png_of, svg_of
from deniable.results.labels import printable
from deniable.results.table import Table, as_csv
from deniable.results.whole_files import whole_file
from deniable_papers.base import Figure, Numbers, Outcome


def write(figure: Figure, outcome: Outcome, directory: Path) -> list[Path]:
    """Write the figure as PNG and SVG and every table as CSV; return the files.

    Guarantees: each file is written whole or not at all. The first table has the figure's id as its
    name, the others have theirs after it.

    Edge cases: strings that come from data files are shown with escapes in the chart, since its
    renderer aborts on control characters; the CSV keeps them.
    """
    definition = _printable(outcome.chart.to_dict())
    contents = {".png": png_of(definition), ".svg": svg_of(definition)}
    for place, (name, rows) in enumerate(outcome.tables.items()):
        contents[f"-{name}.csv" if place else ".csv"] = as_csv(Table.of_mappings("figure", rows))
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    for end, content in contents.items():
        files.append(directory / f"{figure.id}{end}")
        with whole_file(files[-1]) as temporary:
            temporary.write_bytes(content)
    return files


def compared(outcome: Outcome) -> list[tuple[str, str, str]]:
    """Return rows of (what, the paper's number, ours), nested names joined by spaces.

    What only one of the two has stands alone in its row.
    """
    paper, ours = dict(_leaves(outcome.paper)), dict(_leaves(outcome.ours))
    names = list(dict.fromkeys([*ours, *paper]))
    return [(name, paper.get(name, ""), ours.get(name, "")) for name in names]


def _leaves(numbers: Numbers, before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in numbers.items():
        path = printable(f"{before} {name}".strip())
        if isinstance(value, Mapping):
            yield from _leaves(value, path)
        else:
            yield path, _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_shown(item) for item in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def _printable(value: Any) -> Any:
    """Return a chart's definition with every string in it printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {name: _printable(item) for name, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list | tuple) else value
