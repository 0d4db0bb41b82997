"""The table as a picture: coverage and errors by mechanism, people and epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import altair as alt

from _honesty.grid import EPSILONS, PEOPLE
from _honesty.kept import Line

PANELS = (
    ("exact", "least exact coverage", "Least coverage of a share, computed"),
    ("shares", "coverage", "Coverage of shares"),
    ("tables", "coverage of joint cells", "Coverage of joint cells with (other)"),
    ("tables", "coverage of conditional shares", "Coverage of conditional shares"),
    ("profiles", "coverage of raw cells", "Coverage of raw cells of profiles"),
    ("found", "coverage of found strings", "Coverage of found strings"),
    ("shares", "family-wise error", "Family-wise error of Holm"),
    ("shares", "false share", "False share of Storey"),
    ("tables", "type I error", "Type I error of independence"),
    ("profiles", "type I error of pairs", "Type I error of pairs"),
)
COVERS = alt.Scale(
    domain=[0.8, 0.915, 0.95, 1.0], range=["#7b1e1e", "#f2b8a0", "#f7f7f7", "#4c78a8"]
)
ERRS = alt.Scale(domain=[0.0, 0.05, 0.085, 0.2], range=["#4c78a8", "#f7f7f7", "#f2b8a0", "#7b1e1e"])


def draw(lines: Sequence[Line], path: Path) -> None:
    """Write the picture, as SVG or PNG by its name."""
    rows = [_panel(lines, *panel) for panel in PANELS]
    known = [row for row in rows if row is not None]
    chart = alt.vconcat(*known, spacing=14).resolve_scale(color="independent")
    chart.configure_view(stroke=None).configure_axis(labelFontSize=9, titleFontSize=10).save(
        str(path), **({"scale_factor": 1.1} if path.suffix == ".png" else {})
    )


def _panel(lines: Sequence[Line], kind: str, measure: str, title: str) -> alt.Chart | None:
    data = [
        {
            "mechanism": line.mechanism,
            "setting": f"{line.people:,} | {line.epsilon:g}",
            "epochs": "one epoch" if line.epochs == 1 else "twelve epochs of the same people",
            "value": line.value,
            "text": f"{100 * line.value:.0f}",
        }
        for line in lines
        if (line.kind, line.measure) == (kind, measure)
    ]
    if not data:
        return None
    order = [f"{n:,} | {e:g}" for n in PEOPLE for e in EPSILONS]
    scale = ERRS if "error" in measure or "false" in measure else COVERS
    base = alt.Chart(alt.Data(values=data)).encode(
        x=alt.X(
            "setting:N",
            sort=order,
            scale=alt.Scale(domain=order),
            title="people | epsilon",
            axis=alt.Axis(labelAngle=-60),
        ),
        y=alt.Y("mechanism:N", title=None),
    )
    boxes = base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=None))
    words = base.mark_text(fontSize=8, color="#222").encode(text="text:N")
    panel = (boxes + words).properties(width=alt.Step(21), height=alt.Step(13))
    column = alt.Column("epochs:N", title=None, header=alt.Header(labelFontSize=10))
    return panel.facet(column=column, title=f"{title}, %")
