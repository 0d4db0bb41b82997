"""A chart as people hold it: it shows by itself in a notebook, and writes itself to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.results.charts.files import html_of, png_of, svg_of
from deniable.results.whole_files import whole_file


class Chart:
    """A picture of a table.

    A notebook shows it as SVG, drawn here: no script runs and nothing is loaded. Everything else
    that it is asked for is Altair's chart, in `altair`, to build on.
    """

    def __init__(self, altair: Any) -> None:
        self.altair = altair

    def to_dict(self) -> dict[str, Any]:
        """Return the definition in Vega-Lite."""
        found: dict[str, Any] = self.altair.to_dict()
        return found

    def save(self, path: str | Path) -> None:
        """Write the picture to a file: .svg, .png, or .html, a page of its own.

        Raises:
            InvalidParameter: if the name ends in something else.
        """
        path, definition = Path(path), self.to_dict()
        if path.suffix == ".svg":
            data = svg_of(definition)
        elif path.suffix == ".png":
            data = png_of(definition)
        elif path.suffix == ".html":
            data = html_of(definition, path.stem, "")
        else:
            raise InvalidParameter(
                f"The name of a picture must end in .svg, .png or .html. Got {path.name!r:.80}."
            )
        with whole_file(path) as temporary:
            temporary.write_bytes(data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "altair":
            raise AttributeError(name)
        return getattr(self.altair, name)

    def __repr__(self) -> str:
        return "Chart(...)"

    def _repr_svg_(self) -> str:
        return svg_of(self.to_dict()).decode()


def below_each_other(charts: Sequence[Any]) -> Chart:
    """Return Altair's charts as one picture; the look of the first is that of all."""
    import altair

    first = charts[0]
    parts = [chart.copy(deep=False) for chart in charts]
    for part in parts:  # a definition has these once, at its top
        for name in ("config", "autosize", "background", "padding", "usermeta"):
            part[name] = altair.Undefined
    whole = altair.vconcat(*parts, config=first.config, background=first.background)
    return Chart(whole.resolve_scale(color="independent", y="independent", x="independent"))
