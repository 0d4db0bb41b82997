"""The addresses of the dashboard, to be mounted beside the collector's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from deniable.collector.reasons import Reason
from deniable.dashboard.budget import WINDOWS, BudgetPage
from deniable.dashboard.cache import Cache
from deniable.dashboard.findings import Findings
from deniable.dashboard.glances import Glances
from deniable.dashboard.listing import SORTS, Asked, listing, listing_json
from deniable.dashboard.overview import overview
from deniable.dashboard.pages import (
    ASSETS,
    HEADERS,
    SCRIPT,
    as_json,
    asset,
    message,
    packed,
    page,
    wants_json,
)
from deniable.dashboard.queries import BadQuery, NoSuchPage
from deniable.dashboard.question_json import overview_json
from deniable.dashboard.questions import QuestionPages
from deniable.dashboard.trying import SCRIPTS, try_page
from deniable.errors import StoreError
from deniable.protocol import Survey
from deniable.protocol.epochs import day_number
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store import Store

_THREADS = 4
"""Threads for the pages: the most estimates that run at once, and so the most processors that they
take from collecting."""

Answer = Callable[[Request], Response]


def dashboard_routes(
    store: Store, survey: Survey, *, survey_folder: Path, trying: bool = False
) -> list[BaseRoute]:
    """Return the pages for a store and a survey.

    The last route answers every other address with a friendly 404, so the collector's routes
    must come before these. Who may read is decided by whoever mounts them.

    Guarantees: no page but the list and /try runs a script, the list works without it, and none
    refers to another host; reading and estimating happen in threads, so that collecting goes on.

    Args:
        store: where the reports are.
        survey: the published survey.
        survey_folder: where the candidate files of its fields are.
        trying: whether there is a page /try, on which a person answers; for trials only.
    """
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="deniable-dashboard")
    findings = Findings(store, survey_folder, survey.floor or DEFAULT_FLOOR)
    questions = QuestionPages(store, survey, findings)

    glances = Glances(store, survey_folder, survey.floor or DEFAULT_FLOOR)

    def index(request: Request) -> Response:
        asked, found = Asked.of(request.query_params), overview(store, survey)
        listed = listing(found, glances.look(found.questions), asked)
        if wants_json(request):
            return as_json(request, listing_json(found, listed))
        told: dict[str, Any] = {"overview": found, "listing": listed, "asked": asked}
        return page(request, "index.html", scripted=True, sorts=SORTS, **told)

    def health(request: Request) -> Response:
        found = overview(store, survey)
        if wants_json(request):
            return as_json(request, overview_json(found))
        return page(request, "health.html", overview=found)

    budgets: Cache[int, BudgetPage] = Cache(1)

    def budget(request: Request) -> Response:
        shown = budgets.get(day_number(), lambda: BudgetPage.of(survey))
        if wants_json(request):
            return as_json(request, shown.as_json())
        windows = list(zip(WINDOWS.values(), shown.windows, strict=True))
        return page(request, "budget.html", shown=shown, windows=windows)

    answers: dict[str, Answer] = {
        "/": index,
        "/health": health,
        "/budget": budget,
        "/questions/{id}": questions.page,
        "/questions/{id}/chart.svg": questions.chart,
        "/questions/{id}/attributes.svg": questions.attributes,
        "/questions/{id}/tree.svg": questions.tree,
        "/questions/{id}/result.{format}": questions.result,
        "/questions/{id}/view.svg": questions.view,
        "/questions/{id}/view.{format}": questions.viewed,
        "/questions/{id}/beside.{format}": questions.beside,
        "/questions/{id}/heat-map.svg": questions.heat_map,
        "/questions/{id}/association.{format}": questions.association,
    }
    served = dict(ASSETS)
    if trying:
        answers["/try"] = try_page(survey, survey_folder)
        served |= dict.fromkeys(SCRIPTS, SCRIPT)
    return [
        *(Route(path, _in_thread(answer, threads)) for path, answer in answers.items()),
        Route("/assets/{name}", _at_once(_asset_of(served))),
        Route("/{path:path}", _at_once(_not_found)),
    ]


def _at_once(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers on the event loop, where a thread would cost more."""

    async def endpoint(request: Request) -> Response:
        return _answered(answer, request)

    return endpoint


def _in_thread(
    answer: Answer, threads: ThreadPoolExecutor
) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers in a thread: the event loop belongs to the collector."""

    async def endpoint(request: Request) -> Response:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, _answered, answer, request)

    return endpoint


def _answered(answer: Answer, request: Request) -> Response:
    """Return the answer, or a page that says why there is none."""
    try:
        return answer(request)
    except NoSuchPage as error:
        return message(request, Reason.NOT_FOUND, "There is no such page", str(error))
    except BadQuery as error:
        return message(request, Reason.QUERY, "This cannot be asked", str(error))
    except StoreError as error:
        return message(request, Reason.STORE, "The store cannot be read", str(error))


def _asset_of(served: Mapping[str, str]) -> Answer:
    """Return what answers with the files of these names and types."""

    def answer(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in served:
            return _not_found(request)
        headers = {**HEADERS, "Cache-Control": "public, max-age=86400"}
        return packed(request, Response(asset(name), media_type=served[name], headers=headers))

    return answer


def _not_found(request: Request) -> Response:
    raise NoSuchPage("Nothing lives at this address. The list of questions is a good place to go.")
