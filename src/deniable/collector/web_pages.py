"""Which web pages may send reports and fetch the survey.

A browser says in `Origin` which page a request comes from. It lets a page send plain text anywhere
without asking first, so that the collector itself refuses the pages that it does not serve, before
it reads a byte of the body. The origin is compared and forgotten: it is neither stored nor counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deniable.collector.auth import refuse
from deniable.collector.headers import OPEN_PATHS, READABLE, inner_path
from deniable.collector.problems import Problem
from deniable.collector.reasons import Reason
from deniable.collector.settings import Settings

_PREFLIGHT = {
    "access-control-allow-headers": "authorization, content-type, if-none-match",
    "access-control-max-age": "86400",
}
_DETAIL = (
    "Web pages of this origin may not send here. Name it with --origin when starting the collector."
)


def may_send(headers: Mapping[str, str], settings: Settings) -> bool:
    """Tell whether a request may come from where it says: no page, our own, or one we serve."""
    origin = headers.get("origin")
    if origin is None or is_own_page(headers):
        return True
    if settings.origins:
        return origin in settings.origins
    return settings.open_to_pages


def is_own_page(headers: Mapping[str, str]) -> bool:
    """Tell whether a request comes from a page that was served under the same name and port."""
    origin = headers.get("origin")
    host = headers.get("host", "")
    return origin is not None and origin in (f"http://{host}", f"https://{host}")


def readable_by(origin: str | None, settings: Settings) -> Mapping[str, str]:
    """Return the headers that let pages read an answer; none where pages may not."""
    if not settings.open_to_pages:
        return {}
    if not settings.origins:
        return READABLE
    listed = {"access-control-allow-origin": origin} if origin is not None else {}
    return {**READABLE, **listed, "vary": "origin"}


class WebPages:
    """Lets the pages that the operator allows send reports and fetch the survey, nothing else.

    No credentials: a browser adds neither cookies nor remembered passwords.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a page, answer a preflight, or serve the request with the permission added."""
        method = OPEN_PATHS.get(inner_path(scope["path"])) if scope["type"] == "http" else None
        if method is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not may_send(headers, self._settings):
            problem = Problem.of(Reason.FORBIDDEN, _DETAIL)
            await refuse(problem, {"connection": "close"}, scope, receive, send)
            return
        readable = readable_by(headers.get("origin"), self._settings)
        if not readable:
            await self._app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS":
            allowed = {**_PREFLIGHT, **readable, "access-control-allow-methods": method}
            await Response(status_code=204, headers=allowed)(scope, receive, send)
            return

        async def send_open(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(readable)
            await send(message)

        await self._app(scope, receive, send_open)
