"""A chart as a file, without any network: SVG, PNG, a page of its own, or its definition."""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter, MissingExtra
from deniable.results.chart import WIDE, chart, described
from deniable.results.labels import printable
from deniable.results.result import Result
from deniable.results.writing import whole_file

PNG_SCALE = 2.0

# The policy is what makes the page offline for certain: a browser refuses every request from it.
# Vega compiles its expressions, hence 'unsafe-eval'.
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body {{ margin: 2rem auto; max-width: {width}px; font-family: sans-serif }}</style>
<script>{bundle}</script>
</head>
<body>
<div id="chart" role="img" aria-label="{description}"></div>
<script>vegaEmbed("#chart", {spec}, {{"renderer": "svg", "actions": false}});</script>
</body>
</html>
"""


def chart_svg(
    result: Result, *, theme: str = "light", width: int = WIDE, heading: bool = True
) -> bytes:
    """Return the chart as SVG."""
    return svg_of(chart(result, theme=theme, width=width, heading=heading).to_dict())


def chart_png(result: Result) -> bytes:
    """Return the chart as PNG, two pixels per point."""
    return png_of(_definition(result))


def svg_of(definition: dict[str, Any]) -> bytes:
    """Return any Vega-Lite definition as SVG; its strings must be printable."""
    return str(_converter().vegalite_to_svg(definition, allowed_base_urls=[])).encode()


def png_of(definition: dict[str, Any], scale: float = PNG_SCALE) -> bytes:
    """Return any Vega-Lite definition as PNG; its strings must be printable."""
    return bytes(_converter().vegalite_to_png(definition, scale=scale, allowed_base_urls=[]))


def chart_html(result: Result) -> bytes:
    """Return the chart as a page of its own, with everything inline.

    Guarantees: the page loads nothing; strings of the result stay strings whatever they hold.
    """
    return html_of(_definition(result), result.question, described(result))


def html_of(definition: dict[str, Any], title: str, description: str) -> bytes:
    """Return any Vega-Lite definition as a page of its own; see `chart_html`."""
    # Altair's and vl-convert's own pages put the definition into the script as it is, so that a
    # candidate could end the script element: hence a page of ours.
    page = _PAGE.format(
        title=escape(printable(title)),
        width=WIDE + 40,
        bundle=_bundle(),
        description=escape(description),
        spec=_script_safe(definition),
    )
    return page.encode()


def chart_json(result: Result) -> bytes:
    """Return the chart's Vega-Lite definition, data included."""
    return json.dumps(_definition(result), allow_nan=False, indent=1).encode()


_KINDS = {".svg": chart_svg, ".png": chart_png, ".html": chart_html, ".json": chart_json}


def save_chart(result: Result, path: str | Path) -> None:
    """Write the chart to a file whose name ends in .png, .svg, .html or .json.

    Guarantees: the file is written whole or not at all, and nothing is loaded from anywhere.

    Raises:
        InvalidParameter: if the name ends otherwise.
        MissingExtra: if Altair or vl-convert is not installed.
    """
    path = Path(path)
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise InvalidParameter(
            f"The name of a chart's file must end in one of {', '.join(_KINDS)}. "
            f"Got {path.name!r:.80}."
        )
    data = kind(result)
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


def _definition(result: Result) -> dict[str, Any]:
    return chart(result).to_dict()


def _script_safe(value: object) -> str:
    """Return JSON that cannot end or open a script element: `<` never appears in it."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("analysis", "A chart file") from None
    return vl_convert


@lru_cache(maxsize=1)
def _bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; made once, it takes a second."""
    return str(_converter().javascript_bundle())
