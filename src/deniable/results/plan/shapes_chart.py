"""Shapes of hashing as a picture: what can be seen, by the length of a report or by the split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from deniable._words import crowd, plural
from deniable.plan import Setting
from deniable.plan.shapes import UNLISTED, Shape
from deniable.results.charts import look as styling


def shapes_picture(setting: Setting, shapes: Sequence[Shape]) -> Callable[..., Any]:
    """Return the function that draws shapes, as the picture of their table."""
    return lambda _table, **_look: _shapes_chart(setting, shapes)


def _shapes_chart(setting: Setting, shapes: Sequence[Shape]) -> Any:
    """Return the chart: the detection limit by bytes, of n-grams by the whole string's share.

    Shapes that see no share, however large, have no point.

    Raises:
        MissingExtra: if Altair is not installed.
    """
    alt, split = styling.altair(), shapes[0].prediction.mechanism in UNLISTED
    points = list(_points(shapes, split))
    names = sorted({str(point["series"]) for point in points})
    title = "the whole string's share of epsilon" if split else "bytes of a report"
    across = alt.Scale(zero=False) if split else alt.Scale(type="log", base=2, nice=False)
    lines = (
        alt.Chart(styling.data_of(points), width=560, height=300)
        .mark_line(point=True)
        .encode(
            x=alt.X("across:Q", title=title, scale=across, axis=alt.Axis(format="~g")),
            y=alt.Y(
                "share:Q",
                title="smallest share that is seen",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(format="~%", tickCount=6),
            ),
            color=alt.Color(
                "series:N",
                scale=alt.Scale(domain=names, range=list(styling.COLOURS[: len(names)])),
                title=None,
            ),
            tooltip=["parameters:N", alt.Tooltip("share:Q", format=".3%")],
        )
    )
    asked = f"{crowd(setting.people)} at epsilon {setting.epsilon:g}, {listed_strings(setting)}"
    return styling.styled(
        lines,
        f"Shapes for {asked}",
        f"best: {parameters_of(shapes[0])}",
    )


def listed_strings(setting: Setting) -> str:
    """Return how many strings are listed, in words."""
    return plural(setting.listed, "listed string") if setting.listed else "strings nobody listed"


def parameters_of(shape: Shape) -> str:
    """Return the survey keys that make a shape, as people write them."""
    return ", ".join(f"{name} = {value:g}" for name, value in shape.letters.items())


def _points(shapes: Sequence[Shape], split: bool) -> Iterator[dict[str, object]]:
    for shape in shapes:
        seen = shape.prediction
        if seen.smallest < 1:
            yield {
                "series": f"n = {shape.letters['n']:g}" if split else seen.mechanism,
                "across": shape.letters["whole"] if split else seen.size,
                "share": seen.smallest,
                "parameters": parameters_of(shape),
            }
