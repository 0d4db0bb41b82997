"""Levels are shown together and each by itself; reports with segments are shown together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from starlette.applications import Starlette

from deniable.dashboard import dashboard_routes
from deniable.store import Batch
from material.dashboards import EPOCH, Page, Site, WatchedStore, add
from material.segmented import SURVEY, published


def test_levels_and_segments_on_the_pages(tmp_path: Path) -> None:
    survey, store = published(tmp_path), WatchedStore(tmp_path / "reports.sqlite3")
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=tmp_path))
    site = Site(tmp_path, survey, store, app)
    for level, people in (("strict", 300), ("open", 700)):
        asked = survey.question("colour", level=level)
        assert asked is not None
        add(store, asked, people)
    dark = survey.question("dark")
    assert dark is not None
    for number, segments in enumerate(dark.combinations):
        batch = Batch(dark.id, dark.version, dark.digest, EPOCH, segments=segments)
        store.append_records(batch, bytes(4) * (10 + number), dark.record_size)
    page = site.page("/")
    assert "colour (strict)" in page.text
    assert "colour (open)" in page.text
    assert "108 reports" in site.page("/questions/dark").text
    _has(site.page("/questions/colour?level=open"), "700", "colour (open)")
    _has(site.page("/questions/colour?level=strict"), "300", "colour (strict)")
    _has(site.page("/questions/colour"), "1,000 reports", "colour (all levels)", "they agree (p")
    told = json.loads(site.get("/questions/colour", accept="application/json").body)
    assert (told["reports"], told["level"]) == (1_000, "")
    assert site.get("/questions/colour?level=none").status == 404
    chart = site.get("/questions/colour/chart.svg?level=open&theme=light&size=wide")
    assert chart.status == 200


def _has(page: Page, *texts: str) -> None:
    for text in texts:
        assert text in page.text


def test_all_versions_are_shown_together(tmp_path: Path) -> None:
    old = published(tmp_path)
    first = old.question("colour", level="open")
    newer = SURVEY.replace('id = "colour"', 'id = "colour"\nversion = 2')
    survey = replace(published(tmp_path, newer), earlier=old.questions)
    second = survey.question("colour", level="open")
    assert first is not None
    assert second is not None
    with WatchedStore(tmp_path / "reports.sqlite3") as store:
        app = Starlette(routes=dashboard_routes(store, survey, survey_folder=tmp_path))
        site = Site(tmp_path, survey, store, app)
        add(store, first, 400, EPOCH)
        add(store, second, 500, EPOCH + 1)
        _has(site.page("/questions/colour?version=all&level=open"), "900 reports", "all versions")
        _has(site.page("/questions/colour?version=all"), "versions (1, 2) are pooled")
        _has(site.page("/questions/colour"), "500 reports", "all together")
        chart = site.get("/questions/colour/view.svg?version=all&by=epoch&theme=light&size=wide")
        assert chart.status == 200, chart.text
