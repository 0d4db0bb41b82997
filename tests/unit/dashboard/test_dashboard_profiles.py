"""The page of a profile question: heat map, tree, pairs and their tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.applications import Starlette

from deniable.authoring import read_authored
from deniable.dashboard import dashboard_routes
from deniable.mechanisms import mechanism_of
from deniable.mechanisms.records import join_records
from deniable.protocol import Question, Survey
from deniable.store import Batch
from material.dashboards import EPOCH, Site, WatchedStore
from material.surveys import TRIPS, asked, categories, profile, survey

SURVEY = survey(
    profile(
        "trips",
        "auto",
        "epsilon = 3.0, order = 2",
        *TRIPS,
        ("zone", categories("<b>inner</b>", "outer", "bell \\u0007")),
        description="How was it?",
    ),
    profile(
        "single",
        "coefficients",
        "epsilon = 3.0, order = 1",
        *TRIPS,
        description="Only single attributes",
    ),
    asked("plain"),
)


def fill(store: WatchedStore, asked: Question, people: int) -> None:
    rng = np.random.default_rng(1)
    (field,) = asked.fields
    card = rng.random(people) < 0.6
    tip = card & (rng.random(people) < 0.7)
    codes = np.column_stack([card, tip, rng.integers(0, 3, people)]).astype(np.int64)
    mechanism = mechanism_of(field, absent=False)
    columns = len(getattr(field.domain, "names", ()))
    reports = mechanism.simulate(codes[:, :columns], rng)
    batch = Batch(asked.id, asked.version, asked.digest, EPOCH)
    store.append_records(batch, join_records(asked, {field.name: reports}), asked.record_size)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("records")
    (folder / "survey.toml").write_text(SURVEY, encoding="utf-8")
    survey = Survey.from_published(read_authored(folder / "survey.toml").require().published())
    store = WatchedStore(folder / "reports.sqlite3")
    for question_id in ("trips", "single"):
        asked = survey.question(question_id)
        assert asked is not None
        fill(store, asked, 20_000)
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=folder))
    return Site(folder, survey, store, app)


def test_the_page_shows_attributes_alone_and_together(site: Site) -> None:
    page = site.page("/questions/trips")
    assert "card=true" in page.text
    assert "Attributes together" in page.text
    rows = [row for row in page.rows if "raw" not in row]
    (row,) = [row for row in rows if row[:2] == ["card", "tip"]]
    assert float(row[2]) > 0.5  # raw
    assert float(row[4]) > 0.5  # smoothed
    assert row[-1] == "Holm"
    (other,) = [row for row in rows if row[:2] == ["card", "zone"]]
    assert other[-1] == ""
    assert ["card", "tip", "raw", "std. error", "95% interval", "smoothed"] in page.rows


def test_strange_labels_stay_text(site: Site) -> None:
    answer = site.get("/questions/trips")
    assert "<b>inner" not in answer.text
    assert "&lt;b&gt;inner" in answer.text
    assert "\x07" not in answer.text


def test_every_picture_of_the_page_is_there(site: Site) -> None:
    page = site.page("/questions/trips")
    figures = {v["class"]: v["aria-label"] for _, v in page.elements if v.get("role") == "group"}
    assert "Strongest: card with tip +0." in figures["heats"]
    assert "most is shared by card and tip" in figures["tree"]
    for address in (
        "/questions/trips/attributes.svg",
        "/questions/trips/attributes.svg?kind=tree&theme=dark&size=narrow",
    ):
        answer = site.get(address)
        assert answer.status == 200
        assert answer.headers["content-type"] == "image/svg+xml"
        assert answer.body.startswith(b"<svg")


def test_a_second_look_reads_nothing(site: Site) -> None:
    site.page("/questions/trips")
    before = site.store.reads
    site.page("/questions/trips")
    assert site.store.reads == before


def test_single_attributes_have_no_pairs_and_say_so(site: Site) -> None:
    page = site.page("/questions/single")
    assert "hold tables of 1 to 1 of its 2 attributes" in page.text
    assert not any(values.get("class") == "heats" for _, values in page.elements)


@pytest.mark.parametrize(
    "address",
    [
        "/questions/plain/attributes.svg",
        "/questions/single/attributes.svg",
        "/questions/trips/attributes.svg?kind=moon",
        "/questions/trips/attributes.svg?theme=pink",
        "/questions/trips/attributes.svg?epoch=1",
    ],
)
def test_other_pictures_are_not_found(site: Site, address: str) -> None:
    assert site.get(address).status == 404


def test_without_reports_the_page_shows_how_to_record(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    survey = Survey.from_published(read_authored(tmp_path / "survey.toml").require().published())
    store = WatchedStore(tmp_path / "reports.sqlite3")
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=tmp_path))
    page = Site(tmp_path, survey, store, app).page("/questions/trips")
    assert '"card": ..., "tip": ..., "zone": ...' in page.text
