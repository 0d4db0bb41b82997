"""Access control: write keys for senders, a token for analysts, a guard of the host name.

Writing is open unless write keys are set. Reading is open on a loopback address without an analyst
token; in every other case, and behind a proxy, it needs the token. On a loopback address that no
proxy stands before, only requests that name this machine are served, so that a web page cannot
reach the collector under a name of its own (DNS rebinding).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from deniable.collector.problems import Problem, Refused, problem_response
from deniable.collector.reasons import Reason
from deniable.collector.refusals import Refusals
from deniable.collector.settings import Settings

_LOCAL_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
PROXY_HEADERS = frozenset(
    {
        "forwarded",
        "via",
        "x-forwarded",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-original-host",
        "x-original-forwarded-for",
        "x-proxyuser-ip",
        "x-request-start",
        "client-ip",
        "true-client-ip",
        "cf-connecting-ip",
        "cf-connecting-ipv6",
        "cf-ray",
        "cf-visitor",
        "cdn-loop",
        "fastly-client-ip",
        "fly-client-ip",
        "fly-forwarded-port",
        "x-appengine-user-ip",
        "x-azure-clientip",
        "x-azure-ref",
        "x-amzn-trace-id",
        "x-amz-cf-id",
        "x-cloud-trace-context",
        "x-arr-log-id",
        "x-envoy-external-address",
        "x-envoy-expected-rq-timeout-ms",
        "x-nf-client-connection-ip",
        "x-vercel-forwarded-for",
        "x-varnish",
        "tailscale-user-login",
    }
)
"""Headers by which a request shows that a proxy passed it on; and all that begin as below."""
_PROXY_PREFIX = "x-forwarded-"
ASK_READER = {"www-authenticate": 'Basic realm="Deniable", charset="UTF-8"'}
_ASK_WRITER = {"www-authenticate": 'Bearer realm="Deniable"'}


class HostGuard:
    """Serves only requests for this machine when the collector listens on a loopback address."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._local_only = not settings.public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 421."""
        if scope["type"] == "lifespan" or not self._local_only or is_local(scope):
            await self._app(scope, receive, send)
            return
        problem = Problem.of(
            Reason.HOST,
            "A collector on a loopback address serves localhost, 127.0.0.1 and [::1] only. "
            "Use one of these names.",
        )
        await refuse(problem, {}, scope, receive, send)


Check = Callable[[HTTPConnection, Settings], Problem | None]
"""Returns why a request may not see something; None if it may."""


class AnalystGuard:
    """Serves an application to analysts only: wrap every page and route that shows results.

    The token comes as `Authorization: Bearer`, or as the password of HTTP Basic, for which a
    browser asks by itself.

    Guarantees: fails closed. Without a token, reading is open on a loopback address only, and not
    there either when a proxy has passed the request on: it would open the results to the world.

    Refusals are counted with the collector's, where the guard stands in its application.

    Args:
        app: the application to guard.
        settings: of the collector.
        check: decides; by default whether results may be seen.
    """

    def __init__(self, app: ASGIApp, settings: Settings, check: Check | None = None) -> None:
        self._app = app
        self._settings = settings
        self._check = check or reading_problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401 or 403."""
        problem = None
        if scope["type"] != "lifespan":
            problem = self._check(HTTPConnection(scope), self._settings)
        if problem is None:
            await self._app(scope, receive, send)
            return
        headers = ASK_READER if problem.reason is Reason.UNAUTHORIZED else {}
        await refuse(problem, headers, scope, receive, send)


def reading_problem(request: HTTPConnection, settings: Settings) -> Problem | None:
    """Return why a request may not see a survey's results; None if it may."""
    if not settings.ring.reading_open:
        if settings.ring.may_read(shown_token(request.headers), settings.name):
            return None
        detail = "Send the analyst token as a bearer token or as the password."
        return Problem.of(Reason.UNAUTHORIZED, detail)
    if not settings.loopback:
        detail = "No analyst token is set, and the collector can be reached from elsewhere."
    elif settings.behind_proxy:
        detail = "No analyst token is set, and a proxy stands before the collector."
    elif any(map(_of_a_proxy, request.headers)):
        detail = "No analyst token is set, and the request came through a proxy."
    else:
        return None
    return Problem.of(
        Reason.FORBIDDEN,
        f"{detail} Make one: deniable keys make NAME --for analyst, and start the collector with "
        "the file, --keys keys.json.",
    )


def measuring_problem(request: HTTPConnection, settings: Settings) -> Problem | None:
    """Return why a request may not see the metrics; None if it may.

    A monitor's token opens them, and whatever opens the results of all surveys.
    """
    if settings.ring.may_measure(shown_token(request.headers)):
        return None
    return reading_problem(request, replace(settings, name=""))


def require_write_key(headers: Mapping[str, str], settings: Settings) -> None:
    """Raise Refused unless the headers of a request show a write key, or none is set."""
    ring = settings.ring
    if not (ring.writing_open or ring.may_write(_bearer(headers), settings.name)):
        raise Refused(Reason.UNAUTHORIZED, "Send the write key as a bearer token.", _ASK_WRITER)


def _of_a_proxy(name: str) -> bool:
    name = name.lower()
    return name in PROXY_HEADERS or name.startswith(_PROXY_PREFIX)


def is_local(scope: Mapping[str, Any]) -> bool:
    """Tell whether a request names this machine, and nothing else, as its host."""
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    return len(hosts) == 1 and is_local_name(hosts[0])


def is_local_name(host: str) -> bool:
    """Tell whether a `Host` header names this machine."""
    return _LOCAL_HOST.fullmatch(host) is not None


def _credentials(headers: Mapping[str, str]) -> tuple[str, bytes]:
    """Return the scheme of the Authorization header in lower case, and what follows it."""
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    return scheme.lower(), rest.strip().encode("latin-1", "replace")


def _bearer(headers: Mapping[str, str]) -> bytes:
    scheme, rest = _credentials(headers)
    return rest if scheme == "bearer" else b""


def shown_token(headers: Mapping[str, str]) -> bytes:
    """Return the analyst token of a request, empty if there is none."""
    scheme, rest = _credentials(headers)
    if scheme != "basic":
        return _bearer(headers)
    try:
        return base64.b64decode(rest, validate=True).partition(b":")[2]
    except binascii.Error:
        return b""


async def refuse(
    problem: Problem,
    headers: dict[str, str],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Count a refusal, and answer it."""
    refusals = getattr(getattr(scope.get("app"), "state", None), "refusals", None)
    if isinstance(refusals, Refusals):
        refusals.add("", problem.reason)
    if scope["type"] == "http":
        await problem_response(problem, headers)(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008})
