"""The endpoints of the collector: one method per route."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from deniable.collector.admission import Admission, Admitted
from deniable.collector.auth import AnalystGuard, measuring_problem
from deniable.collector.bodies import Bodies
from deniable.collector.group_commit import GroupCommit
from deniable.collector.health import Health, Stores
from deniable.collector.intake import SHORT_BODY, Intake, json_response
from deniable.collector.lanes import Turn
from deniable.collector.limits import read_body
from deniable.collector.load import REPORTS, Load
from deniable.collector.metrics import Metrics
from deniable.collector.metrics_page import MEDIA_TYPE as METRICS_TYPE
from deniable.collector.metrics_page import MetricsPage
from deniable.collector.openapi import openapi_bytes
from deniable.collector.plain import PlainReports
from deniable.collector.problems import ProblemAnswers, WrongMethod
from deniable.collector.refusals import Refusals
from deniable.collector.retention import KeepCounts, cannot_keep
from deniable.collector.settings import Settings
from deniable.collector.upkeep import Rules, keep_closing
from deniable.protocol import Survey
from deniable.protocol.retention import keeping_of
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store import Store

_SURVEY_SECONDS = 300
"""The time for which a client may use the survey without asking again."""


class Collector:
    """The state that the routes share: one survey, one store, one queue before it."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        survey_bytes: bytes,
        today: Callable[[], int],
        keep_counts: KeepCounts | None = None,
    ) -> None:
        self.settings = settings
        self.refusals = Refusals()
        self.answers = ProblemAnswers(self.refusals)
        self.store = store
        self._today = today
        self.metrics = Metrics(store)
        self.commits = GroupCommit(
            store,
            self.refusals,
            window_ms=settings.commit_window_ms,
            max_group=settings.commit_reports,
            max_waiting=settings.waiting_reports,
            observe=self.metrics.committed,
        )
        self._intake = Intake(settings, self.commits, self.refusals, today)
        self.take(survey_bytes, keep_counts)
        self.plain = PlainReports(self._intake, self.answers)
        self._bodies = Bodies()
        self._turn = Turn()
        self._health = Health(self.commits, self.refusals, local_only=not settings.public)

    def take(self, survey_bytes: bytes, keep_counts: KeepCounts | None = None) -> None:
        """Ask another survey from now on, in the same store.

        Requests that are being read are admitted by whichever is there when their body is; none
        is refused or lost because of the change.

        Raises:
            InvalidSurvey: if it cannot be read; the one that was there stays.
        """
        survey = Survey.from_published(survey_bytes)
        days = self.settings.accept_past_days, self.settings.accept_future_days
        self._intake.admission = Admission(survey, *days)
        self.survey = survey
        self._keep_counts = keep_counts or cannot_keep
        self._survey_bytes = survey_bytes
        self.survey_sha256 = hashlib.sha256(survey_bytes).hexdigest()
        self._etag = f'"{self.survey_sha256}"'

    def _rules(self) -> Rules:
        """Return what the survey says about closing and deleting."""
        return Rules(
            self._intake.admission.epoch_days,
            self.survey.floor or DEFAULT_FLOOR,
            {(q.id, q.version): keeping_of(self.survey, q) for q in self.survey.known},
            self._keep_counts,
        )

    def routes(self, *more: Route) -> list[BaseRoute]:
        """Return the collector's own routes, and more of the address that it has for itself."""
        guard = [Middleware(AnalystGuard, settings=self.settings)]
        own = [
            Route("/v1/reports", self.post_reports, methods=["POST"]),
            Route("/v1/survey", self.get_survey, methods=["GET"]),
            Route("/v1/counters", self.get_counters, methods=["GET"], middleware=guard),
            *health_routes(self.commits),
            *more,
        ]
        return with_other_methods(own)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[Mapping[str, Any]]:
        """Run the queue and the housekeeping; at the end, write what is waiting.

        The HTTP server learns from the lifespan's state what is in flight.
        """
        upkeep = asyncio.create_task(
            keep_closing(
                self.store,
                self._rules,
                self.settings.accept_past_days,
                self._today,
                closed=self.metrics.closed,
            )
        )
        load = Load(
            self.refusals,
            self.settings.body_seconds,
            self.settings.open_to_pages,
            self._health,
            {REPORTS.encode(): self.plain},
        )
        try:
            async with self.commits:
                yield {"load": load}
        finally:
            upkeep.cancel()
            with suppress(asyncio.CancelledError):
                await upkeep

    async def post_reports(self, request: Request) -> Response:
        """Take a batch; answer when what was admitted of it is durable."""
        compact, size = self._intake.open(request.headers)
        limit = self.settings.max_body
        async with self._bodies.share(size) as share:
            body = await read_body(request, limit, self.settings.body_seconds, share)
            admitted = await self._admit(body, compact)
        done = await self.commits.append(admitted.reports)
        return self._intake.receipt(admitted, done)

    async def _admit(self, body: bytes, compact: bool) -> Admitted:
        """Parse a batch and sort its reports: a short one at once, a long one in its turn."""
        if len(body) <= SHORT_BODY:
            return self._intake.admit(body, compact)
        async with self._turn:
            return await self._intake.admit_in_turn(body, compact)

    async def get_survey(self, request: Request) -> Response:
        """Serve the survey, or say that the client has it."""
        headers = {"etag": self._etag, "cache-control": f"public, max-age={_SURVEY_SECONDS}"}
        known = request.headers.get("if-none-match", "")
        tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
        if tags & {self._etag, "*"}:
            return Response(status_code=304, headers=headers)
        return Response(self._survey_bytes, headers=headers, media_type="application/json")

    async def get_counters(self, request: Request) -> Response:
        """Show what was accepted and refused, written or about to be."""
        stored = await asyncio.to_thread(self.store.counters)
        counts = Counter(stored) + Counter(self.refusals.waiting())
        totals: Counter[str] = Counter()
        for (_, reason), count in counts.items():
            totals[reason] += count
        rows = [
            {"question": question, "reason": reason, "count": count}
            for (question, reason), count in sorted(counts.items())
        ]
        return json_response({"counters": rows, "totals": dict(sorted(totals.items()))})


def health_routes(stores: Stores) -> list[Route]:
    """Return the routes about the process itself."""

    async def get_health(request: Request) -> Response:
        return json_response({"status": "ok"})

    async def get_readiness(request: Request) -> Response:
        await stores.probe()  # the survey is loaded, and the last write succeeded
        return json_response({"status": "ready"})

    async def get_openapi(request: Request) -> Response:
        return Response(openapi_bytes(), media_type="application/json")

    answers = {"/healthz": get_health, "/readyz": get_readiness, "/openapi.json": get_openapi}
    return [Route(path, answer, methods=["GET"]) for path, answer in answers.items()]


def metrics_route(page: MetricsPage, settings: Settings) -> Route:
    """Return the route of the metrics, for monitors and analysts."""

    async def get_metrics(request: Request) -> Response:
        return Response(await page.text(), headers={"content-type": METRICS_TYPE})

    guard = Middleware(AnalystGuard, settings=settings, check=measuring_problem)
    return Route("/metrics", get_metrics, methods=["GET"], middleware=[guard])


def with_other_methods(routes: Sequence[Route]) -> list[BaseRoute]:
    """Return routes that also refuse every other method of their paths.

    Whatever stands beside them may take every path.
    """
    return [*routes, *(Route(route.path, WrongMethod(route.methods or ())) for route in routes)]
