"""Estimates are made once per number of reports, and never on the event loop."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from starlette.applications import Starlette

from deniable.dashboard import dashboard_routes
from deniable.dashboard.cache import Cache
from deniable.dashboard.overview import SPARK_EPOCHS, Health, Summary, overview
from deniable.store import Chunk, Scope
from material.dashboards import EPOCH, Page, Site, WatchedStore, add, get, publish, settled


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site.empty(tmp_path)
    asked = site.survey.question("site")
    assert asked is not None
    add(site.store, asked, 1_000)
    return site


def test_a_second_look_reads_no_report(site: Site) -> None:
    site.page("/questions/site")
    assert site.store.reads == 1
    site.page("/questions/site")
    for name in ("json", "csv", "svg"):
        assert site.get(f"/questions/site/result.{name}").status == 200
    assert site.get("/questions/site/chart.svg?theme=dark").status == 200
    site.page("/health")
    assert site.store.reads == 1
    settled(site)
    assert site.store.reads == 2  # behind the list, once
    for _ in range(3):
        site.page("/")
    assert site.store.reads == 2


def test_new_reports_are_seen(site: Site) -> None:
    asked = site.survey.question("site")
    assert asked is not None
    site.page("/questions/site")
    add(site.store, asked, 500)
    assert json.loads(site.get("/questions/site/result.json").body)["n"] == 1_500
    assert site.store.reads == 2


def test_deleted_reports_are_forgotten_though_as_many_come_back(site: Site) -> None:
    asked = site.survey.question("site")
    assert asked is not None
    before = site.get("/questions/site/result.json").body
    site.store.delete(Scope("site"))
    site.page("/questions/site")
    add(site.store, asked, 1_000)
    again = site.get("/questions/site/result.json").body
    assert json.loads(again)["n"] == json.loads(before)["n"] == 1_000
    assert site.store.reads == 2


def test_a_cache_forgets_what_is_unwanted() -> None:
    cache: Cache[tuple[str, int], str] = Cache(10)
    for key in (("a", 1), ("a", 2), ("b", 1)):
        cache.get(key, lambda: "made")
    cache.drop(lambda key: key[0] == "a" and key[1] != 2)
    assert [key in cache for key in (("a", 1), ("a", 2), ("b", 1))] == [False, True, True]


def test_a_changed_candidate_file_is_seen(site: Site) -> None:
    site.page("/questions/site")
    (site.folder / "list.txt").write_text("only one\n")
    read = json.loads(site.get("/questions/site/result.json").body)
    assert [row["value"] for row in read["rows"]] == ["only one"]


def test_a_bad_candidate_file_is_said_on_the_page(site: Site) -> None:
    (site.folder / "list.txt").write_bytes(b"\xff\n")
    assert "line 1 is not UTF-8" in site.page("/questions/site").text
    (site.folder / "list.txt").unlink()
    assert "cannot be read" in site.page("/questions/site").text


def test_the_pictures_of_a_page_are_about_the_reports_of_its_table(site: Site) -> None:
    asked = site.survey.question("site")
    assert asked is not None
    site.page("/questions/site")
    before = "/questions/site/chart.svg?n=1000"
    first = site.get(before)
    add(site.store, asked, 500)
    again = site.get(before)
    assert (again.status, again.body) == (200, first.body)
    assert site.store.reads == 1
    now = site.get("/questions/site/chart.svg?theme=dark&size=narrow")
    assert now.body != first.body


def test_a_picture_of_reports_that_are_not_kept_is_one_of_now(site: Site) -> None:
    answer = site.get("/questions/site/chart.svg?n=999999999")
    assert answer.status == 200
    assert answer.body == site.get("/questions/site/chart.svg").body


class SlowStore(WatchedStore):
    """A store with so many reports that reading takes a while."""

    def read(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> Iterator[Chunk]:
        time.sleep(0.5)
        return super().read(question, version, first_epoch, last_epoch)


def test_the_event_loop_goes_on_while_a_page_estimates(tmp_path: Path) -> None:
    survey, store = publish(tmp_path), SlowStore(tmp_path / "slow.sqlite3")
    asked = survey.question("dark")
    assert asked is not None
    add(store, asked, 100)
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=tmp_path))

    async def ticks() -> int:
        page = asyncio.ensure_future(get(app, "/questions/dark"))
        count = 0
        while not page.done():
            await asyncio.sleep(0.01)
            count += 1
        assert (await page).status == 200
        return count

    # Blocked, the loop would tick once or twice; free, about 50 times.
    assert asyncio.run(ticks()) >= 10


def test_the_overview_adds_up(site: Site) -> None:
    site.store.count({("site", "too_late"): 2, ("dark", "digest"): 3, ("", "schema"): 4})
    found = overview(site.store, site.survey)
    assert [s.question.id for s in found.questions] == ["site", "dark", "pair", "nobody", "over"]
    assert found.questions[1].question.version == 2
    assert found.questions[1].others == (1,)
    assert found.n == found.health.accepted == 1_000
    assert list(found.health.refused.items()) == [("schema", 4), ("digest", 3), ("too_late", 2)]
    assert found.health.refusals == 9
    assert found.unknown.refused == {"schema": 4}
    assert found.questions[-1].expired
    assert not found.questions[0].expired


def test_the_spark_shows_the_newest_epochs(site: Site) -> None:
    asked = site.survey.questions[0]
    health = Health(0, 0, {})
    few = Summary(asked, {EPOCH: 5}, health, date(2025, 1, 1))
    assert few.spark == []
    gap = Summary(asked, {EPOCH: 5, EPOCH + 2: 10}, health, date(2025, 1, 1))
    assert gap.spark == [0.5, 0.0, 1.0]
    many = {EPOCH + i: i + 1 for i in range(100)}
    assert len(Summary(asked, many, health, date(2025, 1, 1)).spark) == SPARK_EPOCHS


def test_a_page_with_many_epochs_draws_them(site: Site) -> None:
    asked = site.survey.question("site")
    assert asked is not None
    add(site.store, asked, 10, EPOCH + 1)
    page = Page(site.get("/health").text)
    assert sum(tag == "rect" for tag, _ in page.elements) == 2


def test_a_page_plans_no_rival_mechanism(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What people were promised needs no plan; `deniable explain` compares mechanisms."""
    from deniable.results import explain

    def planned(*_: object) -> None:
        pytest.fail("A page planned a mechanism anew.")

    monkeypatch.setattr(explain, "alternatives", planned)
    monkeypatch.setattr(explain, "why", planned)
    assert "One report has epsilon" in site.page("/questions/site").text
