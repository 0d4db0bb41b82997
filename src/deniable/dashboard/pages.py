"""Templates, and the headers that every page carries."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from deniable._words import epsilon_text, plural
from deniable.collector.problems import Problem, problem_response
from deniable.collector.reasons import Reason
from deniable.dashboard.overview import SPARK_EPOCHS
from deniable.dashboard.remedies import remedy
from deniable.dashboard.small_charts import small_chart, small_line
from deniable.results.figures import figure_caption, figure_html
from deniable.results.labels import printable, shortened
from deniable.results.table.columns import plain
from deniable.results.table.html import MOST_ROWS, rows_html
from deniable.results.words.shares import odds

HEADERS = {
    # Nothing but our own style sheet and pictures: even markup that got through could load or
    # run nothing.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_MOST_PAIRS = 60
"""The number of pairs of attributes in a page's list, the surest first."""
SCRIPT = "text/javascript; charset=utf-8"
ASSETS = {
    "dashboard.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "list.js": SCRIPT,
}
_LEAST_PACKED = 1_000
"""Bytes below which packing a page is not worth its headers."""
SCRIPTED = {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"]
    + "; script-src 'self'; connect-src 'self'"
}
"""The policy of a page with a script of ours."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Every template is HTML: everything is escaped, and a misspelt name is an error.
    environment = Environment(
        loader=PackageLoader("deniable.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=lambda number: f"{number:,}",
        plural=plural,
        day=_day,
        epsilon=epsilon_text,
        meaning=_meaning,
        odds=odds,
        printable=printable,
        reason=lambda name: printable(name).replace("_", " "),
        remedy=remedy,
        shortened=shortened,
    )
    environment.globals.update(
        asset_version=_asset_version(),
        max_pairs=_MOST_PAIRS,
        max_rows=MOST_ROWS,
        figure_caption=figure_caption,
        figure_html=lambda *told: Markup(figure_html(*told)),  # noqa: S704 (every string is escaped)
        rows_html=lambda *told: Markup(rows_html(*told)),  # noqa: S704 (every string is escaped)
        spark_epochs=SPARK_EPOCHS,
        small_chart=small_chart,
        small_line=small_line,
    )
    return environment


def rendered(template: str, base: str, **values: object) -> bytes:
    """Return a template as HTML, links beginning with `base`."""
    html = _environment().get_template(template).render(base=base, **values)
    # Printable text has no unpaired surrogates; anything else becomes a question mark.
    return html.encode("utf-8", "replace")


def page(
    request: Request, template: str, status: int = 200, *, scripted: bool = False, **values: object
) -> Response:
    """Return a page, packed if the reader takes that; `scripted` if it has a script of ours."""
    body = rendered(template, request.scope.get("root_path", "").rstrip("/"), **values)
    headers = {**HEADERS, **(SCRIPTED if scripted else {}), "Vary": "Accept, Accept-Encoding"}
    return packed(request, HTMLResponse(body, status, headers=headers))


def packed(request: Request, response: Response) -> Response:
    """Return an answer, compressed where the reader takes it and it is long enough.

    No page holds a secret beside what a stranger can put into its address, so that its length
    tells nobody anything.
    """
    body = bytes(response.body)
    if len(body) < _LEAST_PACKED or "gzip" not in request.headers.get("accept-encoding", ""):
        return response
    response.body = gzip.compress(body, 6, mtime=0)
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Length"] = str(len(response.body))
    return response


def wants_json(request: Request) -> bool:
    """Tell whether a program asks for a page's result, not a browser for the page."""
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def as_json(request: Request, told: Mapping[str, object]) -> Response:
    """Return the result of a page for a program; never NaN or infinity."""
    body = json.dumps(plain(told), allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
    headers = {**HEADERS, "Vary": "Accept, Accept-Encoding"}
    return packed(request, Response(body, media_type="application/json", headers=headers))


def message(request: Request, reason: Reason, title: str, detail: str) -> Response:
    """Return a refusal: a friendly page for a browser, a problem (RFC 9457) for a program."""
    if "text/html" in request.headers.get("accept", ""):
        return page(request, "message.html", reason.status, title=title, detail=detail)
    return problem_response(Problem.of(reason, detail), HEADERS)


def asset(name: str) -> bytes:
    """Return a file that pages refer to."""
    return files("deniable.dashboard").joinpath("assets", name).read_bytes()


def _asset_version() -> str:
    """Return a tag that changes with the style sheet, so that browsers may keep it."""
    return hashlib.sha256(b"".join(map(asset, ASSETS))).hexdigest()[:12]


def _day(when: date) -> str:
    return f"{when.day} {when:%b %Y}"


def _meaning(reason: str) -> str:
    """Return the meaning of a reason of refusal; a store may hold reasons of other versions."""
    return Reason(reason).meaning if reason in set(Reason) else "A reason of another version."
