"""A chart as a file, without any network: SVG, PNG, a page of its own, or its definition."""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from deniable.errors import MissingExtra
from deniable.results.labels import printable

_PAGE_WIDTH = 800
_PNG_SCALE = 2.0

# The policy is what makes the page offline for certain: a browser refuses every request from it.
# Vega compiles its expressions, hence 'unsafe-eval'.
_PAGE = Path(__file__).with_name("chart_page.html")


def svg_of(definition: dict[str, Any]) -> bytes:
    """Return any Vega-Lite definition as SVG; its strings must be printable."""
    return str(_converter().vegalite_to_svg(definition, allowed_base_urls=[])).encode()


def png_of(definition: dict[str, Any], scale: float = _PNG_SCALE) -> bytes:
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
    page = Template(_PAGE.read_text("utf-8")).substitute(
        title=escape(printable(title)),
        width=_PAGE_WIDTH,
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
