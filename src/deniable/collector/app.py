"""The collector as an ASGI application: its routes, and what stands around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from deniable.collector.auth import HostGuard
from deniable.collector.endpoints import Collector, metrics_route
from deniable.collector.headers import SecurityHeaders
from deniable.collector.metrics_page import MetricsPage
from deniable.collector.retention import KeepCounts
from deniable.collector.settings import Settings
from deniable.collector.web_pages import WebPages
from deniable.errors import StoreError
from deniable.protocol.epochs import day_number
from deniable.store import Store


def create_app(
    settings: Settings,
    store: Store,
    survey_bytes: bytes,
    *,
    routes: Sequence[BaseRoute] = (),
    today: Callable[[], int] = day_number,
    keep_counts: KeepCounts | None = None,
) -> Starlette:
    """Return the collector.

    Args:
        settings: the operator's choices.
        store: where reports go; whoever opened it closes it.
        survey_bytes: the published survey, served as it is.
        routes: more routes beside the collector's own, such as a dashboard; guard each of them
            with AnalystGuard.
        today: the number of the current UTC day.
        keep_counts: keeps the counts of reports whose retention is over, if the survey says that
            counts stay; without it such reports stay.

    Guarantees: an answer of 200 to a batch is sent after its reports are durable. Nothing about
    the sender is stored or logged.

    Edge cases: the application works only while its lifespan runs, as every ASGI server does it.

    Raises:
        InvalidSurvey: if the survey cannot be read.
    """
    collector = Collector(settings, store, survey_bytes, today, keep_counts)
    answers = collector.answers
    page = MetricsPage({settings.name: collector})
    own = collector.routes(*([] if settings.name else [metrics_route(page, settings)]))
    app = Starlette(
        routes=[*own, *routes],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(HostGuard, settings=settings),
            Middleware(WebPages, settings=settings),
        ],
        exception_handlers={
            HTTPException: answers.http,
            StoreError: answers.store,
            Exception: answers.internal,
        },
        lifespan=collector.lifespan,
    )
    app.state.settings, app.state.store = settings, store
    app.state.refusals, app.state.collector = collector.refusals, collector
    app.state.metrics = page.text
    return app
