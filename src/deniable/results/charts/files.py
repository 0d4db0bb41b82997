"""A chart as a file, without any network: SVG, PNG, a page of its own, or its definition."""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from typing import Any

from deniable.errors import MissingExtra
from deniable.results.labels import printable

PAGE_WIDTH = 800
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


def svg_of(definition: dict[str, Any]) -> bytes:
    """Return any Vega-Lite definition as SVG; its strings must be printable."""
    return str(_converter().vegalite_to_svg(definition, allowed_base_urls=[])).encode()


def png_of(definition: dict[str, Any], scale: float = PNG_SCALE) -> bytes:
    """Return any Vega-Lite definition as PNG; its strings must be printable."""
    return bytes(_converter().vegalite_to_png(definition, scale=scale, allowed_base_urls=[]))


def html_of(definition: dict[str, Any], title: str, description: str) -> bytes:
    """Return any Vega-Lite definition as a page of its own, with everything inline.

    Guarantees: the page loads nothing; strings of the chart stay strings whatever they hold.

    Args:
        definition: whose strings must be printable.
        title: the title of the page.
        description: what the chart shows, for those who do not see it.
    """
    # Altair's and vl-convert's own pages put the definition into the script as it is, so that a
    # candidate could end the script element: hence a page of ours.
    page = _PAGE.format(
        title=escape(printable(title)),
        width=PAGE_WIDTH,
        bundle=_bundle(),
        description=escape(description),
        spec=_script_safe(definition),
    )
    return page.encode()


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
