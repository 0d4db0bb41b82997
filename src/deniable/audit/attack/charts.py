"""Charts of the attacks on a field: averaging, posterior, linking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.audit.attack.attackers import Attacked
from deniable.results.charts.files import png_of, svg_of
from deniable.results.charts.look import altair, colours, data_of, styled
from deniable.results.whole_files import whole_file

_WIDTH, _HEIGHT = 520, 300


def attack_charts(attacked: Attacked) -> dict[str, Any]:
    """Return the charts of a field by name: averaging, posterior, linking.

    Raises:
        MissingExtra: if Altair is not installed.
    """
    return {
        "averaging": _averaging(attacked),
        "posterior": _posterior(attacked),
        "linking": _linking(attacked),
    }


def save_charts(attacked: Attacked, directory: Path) -> list[Path]:
    """Write the charts of a field as PNG and SVG; return the files."""
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    for name, chart in attack_charts(attacked).items():
        definition = chart.to_dict()
        for end, content in ((".png", png_of(definition)), (".svg", svg_of(definition))):
            files.append(directory / f"{attacked.about}-{name}{end}")
            with whole_file(files[-1]) as temporary:
                temporary.write_bytes(content)
    return files


def _lines(
    rows: Sequence[Mapping[str, object]],
    over: str,
    named: Mapping[str, str],
    titles: tuple[str, str],
    scale: str = "linear",
) -> Any:
    """Return one line per column, over another column."""
    alt = altair()
    long = [
        {over: row[over], "line": label, "share": row[column]}
        for column, label in named.items()
        for row in rows
    ]
    return (
        alt.Chart(data_of(long), width=_WIDTH, height=_HEIGHT)
        .mark_line(point=len(rows) < 20)
        .encode(
            x=alt.X(f"{over}:Q", title=titles[0], scale=alt.Scale(type=scale)),
            y=alt.Y("share:Q", title=titles[1], scale=alt.Scale(zero=False)),
            color=alt.Color("line:N", scale=colours(list(named.values())), title=None),
        )
    )


def _averaging(attacked: Attacked) -> Any:
    lines = _lines(
        attacked.windows,
        "reports",
        {
            "bound": "what epsilon allows",
            "right": "as the question is asked",
            "right_without_permanence": "if nothing were permanent",
        },
        ("reports of one device that are seen", "right guesses between two values"),
        "log",
    )
    return styled(lines, f"{attacked.about}: averaging", "1/2 is a blind guess")


def _posterior(attacked: Attacked) -> Any:
    names = [name for name in attacked.posteriors[0] if name.startswith("posterior_")]
    labels = {name: name.replace("posterior_", "holds it: ").replace("_", " ") for name in names}
    lines = _lines(
        attacked.posteriors,
        "frequency",
        {**labels, "false_discovery_rate": "wrongly targeted"},
        ("share of people who hold the answer", "probability"),
    )
    return styled(
        lines,
        f"{attacked.about}: what one report says",
        "holds it, given how much of the answer the report shows; and the false discovery rate",
    )


def _linking(attacked: Attacked) -> Any:
    lines = _lines(
        attacked.links,
        "reports",
        {"area": "told apart", "alike": "others that look as much alike"},
        ("reports before, and as many after", "probability"),
    )
    return styled(
        lines,
        f"{attacked.about}: linking, and seeing a change",
        "same permanent response or another one; 1/2 is blind",
    )
