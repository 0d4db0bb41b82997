"""A survey that is served: its store, its collector, its pages; and all of it taken again."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from deniable.cli.kept_counts import CountsKeeper, counts_folder
from deniable.cli.values import load_survey
from deniable.collector import AnalystGuard, Settings, create_app
from deniable.collector.endpoints import Collector
from deniable.collector.surveys import Surveys
from deniable.errors import DeniableError, InvalidParameter
from deniable.protocol import Survey
from deniable.store import Store
from deniable.store.place import place_of

SURVEY_FILE = "survey.json"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")
_log = logging.getLogger("deniable.collector")

MakePages = Callable[[Store, Survey, Path], ASGIApp]
"""Makes the dashboard of a store and a survey, whose candidate files are in the folder."""


class Served:
    """One survey, as it is served now.

    Args:
        settings: its own.
        store: its own; whoever opened it closes it.
        make_pages: makes its dashboard, at first and for each survey that is taken.

    Raises:
        InvalidSurvey: if the published survey cannot be read.
    """

    def __init__(self, settings: Settings, store: Store, make_pages: MakePages) -> None:
        self.settings = settings
        self._store = store
        self._make_pages = make_pages
        survey = load_survey(settings.survey_path)
        self._pages = self._pages_of(survey)
        self.app: Starlette = create_app(
            settings,
            store,
            survey.published(),
            routes=[Mount("/", AnalystGuard(self._show, settings))],
            keep_counts=self._keeper(survey),
        )

    @property
    def collector(self) -> Collector:
        """The collector's state."""
        found: Collector = self.app.state.collector
        return found

    async def take_again(self) -> bool:
        """Read the published survey, and serve it from now on; False if it is the same.

        Raises:
            DeniableError: if it cannot be read; the one that was there stays.
        """
        survey = await asyncio.to_thread(load_survey, self.settings.survey_path)
        if survey.published() == self.collector.survey.published():
            return False
        pages = await asyncio.to_thread(self._pages_of, survey)
        self.collector.take(survey.published(), self._keeper(survey))
        self._pages = pages
        return True

    async def _show(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._pages(scope, receive, send)

    def _pages_of(self, survey: Survey) -> ASGIApp:
        return self._make_pages(self._store, survey, self.settings.survey_path.parent)

    def _keeper(self, survey: Survey) -> CountsKeeper:
        folder = counts_folder(str(self.settings.data), self.settings.survey_path)
        return CountsKeeper(self._store, survey, folder)


def find_surveys(settings: Settings, folder: Path) -> Iterator[Settings]:
    """Yield the settings of each survey of a folder: FOLDER/NAME/survey.json.

    Raises:
        InvalidParameter: if a name cannot be part of an address, after all others.
    """
    wrong = []
    for path in sorted(folder.glob(f"*/{SURVEY_FILE}")):
        name = path.parent.name
        if not _NAME.fullmatch(name):
            wrong.append(name)
            continue
        yield replace(
            settings, data=place_of(str(settings.data), name), survey_path=path, name=name
        )
    if wrong:
        raise InvalidParameter(
            f"The folder of a survey must have at most 30 lower-case letters, digits and "
            f"dashes in its name, and begin with a letter. Got {wrong[0]!r:.60}."
        )


class Reloading:
    """Takes keys and surveys again whenever it is asked to, one time after the other.

    Guarantees: what cannot be read is named in the log, and leaves what was there as it is.

    Args:
        settings: whose keys are read again.
        served: the surveys that are served, by name; new ones are put into it.
        surveys: with which new ones are served; None if the collector serves a single one.
        find: finds the settings of all surveys.
        start: opens a new survey.
        told: called with the names of surveys that were taken.
    """

    def __init__(
        self,
        settings: Settings,
        served: dict[str, Served],
        surveys: Surveys | None,
        find: Callable[[], Iterable[Settings]],
        start: Callable[[Settings], Served],
        told: Callable[[list[str]], object],
    ) -> None:
        self._settings, self._served, self._surveys = settings, served, surveys
        self._find, self._start, self._told = find, start, told
        self._wanted = False
        self._task: asyncio.Task[None] | None = None

    def __call__(self) -> None:
        """Begin, or begin again after what is being done; on the event loop."""
        self._wanted = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="deniable-reload")

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            try:
                self._settings.ring.reload()
            except DeniableError as error:
                _log.warning("The keys stay as they were. %s", error)
            self._told([name for name in list(self._served) if await self._again(name)])
            if self._surveys is not None:
                await self._find_new(self._surveys)

    async def _again(self, name: str) -> bool:
        try:
            return await self._served[name].take_again()
        except (DeniableError, OSError) as error:
            _log.warning("The survey %s stays as it was. %s", name, error)
            return False

    async def _find_new(self, surveys: Surveys) -> None:
        """Serve the surveys that are new; one that cannot be served keeps out no other."""
        try:
            for settings in self._find():
                if settings.name not in self._served:
                    await self._add(settings, surveys)
        except (DeniableError, OSError) as error:
            _log.warning("A new survey is not served. %s", error)

    async def _add(self, settings: Settings, surveys: Surveys) -> None:
        try:
            started = await asyncio.to_thread(self._start, settings)
            await surveys.add(started.app)
        except (DeniableError, OSError) as error:
            _log.warning("The new survey %s is not served. %s", settings.name, error)
            return
        self._served[settings.name] = started
        self._told([settings.name])
