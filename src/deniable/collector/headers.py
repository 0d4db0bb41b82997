"""Headers that protect readers, and the ones that let web pages read answers."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = {"/v1/reports": "POST", "/v1/survey": "GET"}
"""Paths that web pages may call, with the method."""

SURVEYS = "/s"
"""The path below which each of several surveys has its own."""


def inner_path(path: str) -> str:
    """Return a path as the survey's application knows it: /s/NAME/v1/reports is /v1/reports."""
    if not path.startswith(f"{SURVEYS}/"):
        return path
    return "/" + path.split("/", 3)[-1] if path.count("/") > 2 else path


PROTECTION = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    # Nothing may be loaded or run; a page that needs more says so itself.
    "content-security-policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every answer that does not set them itself."""

READABLE = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "etag, retry-after",
}
"""Headers with which a web page of any origin can read an answer."""


def protect(headers: MutableHeaders) -> None:
    """Add the protective headers that an answer does not set itself."""
    if "access-control-allow-origin" in headers:
        headers.setdefault("cross-origin-resource-policy", "cross-origin")
    for name, value in PROTECTION.items():
        headers.setdefault(name, value)


class SecurityHeaders:
    """Adds protective headers to every answer, where the answer does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request with headers added."""

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                protect(MutableHeaders(scope=message))
            await send(message)

        await self._app(scope, receive, send_protected)
