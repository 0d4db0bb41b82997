"""Several surveys behind one address: /s/NAME/... is the application of the survey of that name.

Each has a store, a queue before it, refusals and pages of its own, so that nothing of one can reach
another. What they share is the address: connections, the bounds on them, health, and the keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from html import escape
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from deniable.collector.auth import ASK_READER, HostGuard, reading_problem
from deniable.collector.endpoints import (
    Collector,
    health_routes,
    metrics_route,
    with_other_methods,
)
from deniable.collector.headers import SURVEYS, SecurityHeaders
from deniable.collector.health import Health
from deniable.collector.load import REPORTS, Load
from deniable.collector.metrics_page import MetricsPage
from deniable.collector.plain import PlainReports
from deniable.collector.problems import ProblemAnswers, Refused, unavailable
from deniable.collector.reasons import Reason
from deniable.collector.refusals import Refusals
from deniable.collector.settings import Settings
from deniable.errors import StoreError


class AllStores:
    """The stores of several surveys together: they work if each of them does."""

    def __init__(self, collectors: Mapping[str, Collector]) -> None:
        self._collectors = collectors

    @property
    def known(self) -> bool:
        """True if the outcome of a write of each is fresh."""
        return all(each.commits.known for each in self._collectors.values())

    @property
    def failure(self) -> StoreError | None:
        """Why the last write of one of them failed; None if all succeeded."""
        for name, each in self._collectors.items():
            if each.commits.failure is not None:
                return StoreError(f"Of the survey {name}: {each.commits.failure}")
        return None

    async def outcome(self) -> None:
        """Wait until the outcome of a write of each is known."""
        await asyncio.gather(*(each.commits.outcome() for each in self._collectors.values()))

    async def probe(self) -> None:
        """Raise Refused unless every store works."""
        await self.outcome()
        if self.failure is not None:
            raise unavailable(Reason.STORE, str(self.failure))


class Surveys:
    """The applications of several surveys as one.

    Guarantees: a survey that is added while requests are served changes nothing for the others.

    Args:
        settings: of the address; those of each survey are its application's.
        apps: the surveys' applications, of `create_app`; each has a name in its settings.
    """

    def __init__(self, settings: Settings, apps: Iterable[Starlette] = ()) -> None:
        self.collectors: dict[str, Collector] = {}
        self._apps: dict[str, Starlette] = {}
        self._settings = settings
        self._stack: AsyncExitStack | None = None
        self._plain: dict[bytes, PlainReports] = {}
        self.refusals = Refusals()
        self._stores = AllStores(self.collectors)
        answers = ProblemAnswers(self.refusals)
        page = MetricsPage(self.collectors, self.refusals)
        own = [*health_routes(self._stores), metrics_route(page, settings), Route("/", self._list)]
        self.app = Starlette(
            routes=[
                Mount(SURVEYS, self._pass_on),
                *with_other_methods(own),
            ],
            middleware=[Middleware(SecurityHeaders), Middleware(HostGuard, settings=settings)],
            exception_handlers={HTTPException: answers.http, Exception: answers.internal},
            lifespan=self._lifespan,
        )
        self.app.router.redirect_slashes = False
        self.app.state.refusals = self.refusals
        self.app.state.metrics = page.text
        for each in apps:
            self._enter(each)

    async def add(self, app: Starlette) -> None:
        """Serve one more application while the others are served."""
        if self._stack is None:
            raise RuntimeError("Applications are added while the lifespan runs.")
        await self._stack.enter_async_context(app.router.lifespan_context(app))
        self._enter(app)

    def _enter(self, app: Starlette) -> None:
        collector: Collector = app.state.collector
        name = collector.settings.name
        self._apps[name], self.collectors[name] = app, collector
        self._plain[f"{SURVEYS}/{name}{REPORTS}".encode()] = collector.plain

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[Mapping[str, Any]]:
        """Run every survey's queue and housekeeping."""
        settings = self._settings
        health = Health(self._stores, self.refusals, local_only=not settings.public)
        async with AsyncExitStack() as stack:
            for each in self._apps.values():
                await stack.enter_async_context(each.router.lifespan_context(each))
            self._stack = stack
            pages = settings.open_to_pages
            yield {"load": Load(self.refusals, settings.body_seconds, pages, health, self._plain)}
            self._stack = None

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the survey that the path names answer."""
        below = scope["path"].removeprefix(scope["root_path"])
        name, slash, _ = below.removeprefix("/").partition("/")
        app = self._apps.get(name)
        if app is None or not slash:
            raise HTTPException(404)
        await app({**scope, "root_path": f"{scope['root_path']}/{name}"}, receive, send)

    async def _list(self, request: Request) -> Response:
        """Show an analyst the surveys whose results the token opens."""
        problems = {
            name: reading_problem(request, app.state.settings) for name, app in self._apps.items()
        }
        names = sorted(name for name, problem in problems.items() if problem is None)
        refused = next(filter(None, problems.values()), None)
        if not names and refused is not None:
            raise Refused(refused.reason, refused.detail, ASK_READER)
        items = "".join(f'<li><a href="s/{name}/">{name}</a></li>' for name in map(escape, names))
        return HTMLResponse(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Surveys</title>'
            f"<h1>Surveys</h1><ul>{items}</ul></html>"
        )
