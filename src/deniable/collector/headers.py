"""Headers that protect readers, and the ones that let web pages send reports."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = {"/v1/reports": "POST", "/v1/survey": "GET"}
"""Paths that a web page of any origin may call, with the method."""

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

_PREFLIGHT = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "authorization, content-type, if-none-match",
    "access-control-max-age": "86400",
}


class SecurityHeaders:
    """Adds protective headers to every answer, where the answer does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request with headers added."""

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if "access-control-allow-origin" in headers:
                    headers.setdefault("cross-origin-resource-policy", "cross-origin")
                for name, value in PROTECTION.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_protected)


class OpenToWebPages:
    """Lets web pages of any origin send reports and fetch the survey, and nothing else (CORS).

    No credentials: a browser adds neither cookies nor remembered passwords.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or serve the request with the permission added."""
        method = OPEN_PATHS.get(scope["path"]) if scope["type"] == "http" else None
        if method is None:
            await self._app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS":
            headers = {**_PREFLIGHT, "access-control-allow-methods": method}
            await Response(status_code=204, headers=headers)(scope, receive, send)
            return

        async def send_open(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(READABLE)
            await send(message)

        await self._app(scope, receive, send_open)
