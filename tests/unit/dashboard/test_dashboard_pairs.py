"""Two fields together on a question's page: picture, words, table, files, and what cannot be."""

from __future__ import annotations

import json

import numpy as np
import pytest
from starlette.applications import Starlette

from deniable.authoring import read_authored
from deniable.dashboard import dashboard_routes, questions
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Question, Survey
from deniable.store import Batch
from material.dashboards import EPOCH, HOSTILE, Page, Site, WatchedStore
from material.surveys import BOOLEAN, asked, categories, listed, several, survey

NAMES = (HOSTILE, "owl \x07", "elk")
SURVEY = survey(
    several(
        "device",
        ("dark", BOOLEAN, "krr", "epsilon = 3.0"),
        ("animal", listed("names.txt"), "rappor", "epsilon = 5.0, k = 64, h = 2, m = 4"),
        ("colour", categories("red", "green", "blue"), "oue", "epsilon = 3.0"),
        description="What goes together?",
    ),
    asked("plain", description="One thing?"),
)


def fill(store: WatchedStore, asked: Question, people: int, epoch: int = EPOCH) -> None:
    """Add reports of people of whom those with dark mode hold the first name far more often."""
    rng = np.random.default_rng(people)
    dark = rng.integers(0, 2, people)
    animal = np.where((dark == 1) & (rng.random(people) < 0.8), 0, rng.integers(0, 3, people))
    codes = {"dark": dark, "animal": animal, "colour": rng.integers(0, 3, people)}
    reports = {
        field.name: mechanism_for(field.parameters).simulate(
            codes[field.name], rng, list(NAMES) if field.domain.size is None else None
        )
        for field in asked.fields
    }
    batch = Batch(asked.id, asked.version, asked.digest, epoch)
    store.append_records(batch, join_records(asked, reports), asked.record_size)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "names.txt").write_text("\n".join(NAMES) + "\n", encoding="utf-8")
    (folder / "survey.toml").write_text(SURVEY, encoding="utf-8")
    survey = Survey.from_published(read_authored(folder / "survey.toml").require().published())
    store = WatchedStore(folder / "reports.sqlite3")
    fill(store, survey.questions[0], 4_000)
    fill(store, survey.questions[0], 500, EPOCH + 1)
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=folder))
    return Site(folder, survey, store, app)


def test_the_first_two_fields_are_shown_together(site: Site) -> None:
    page = site.page("/questions/device")
    assert "dark and animal together" in page.text
    assert "dark and animal depend on each other" in page.text
    assert "Going together is not causing" in page.text
    headers = [row for row in page.rows if row and row[0] == "dark"]
    assert headers == [
        [
            *("dark", "animal", "share", "std. error", "95% interval"),
            *("P(animal | dark)", "95% interval"),
        ]
    ]
    read = json.loads(site.get("/questions/device/association.json?a=dark&b=animal").body)
    start = page.rows.index(headers[0]) + 1
    shown = page.rows[start : start + len(read["rows"])]
    assert [row[0] for row in shown] == [row["dark"] for row in read["rows"]]


def test_two_other_fields_can_be_chosen(site: Site) -> None:
    page = site.page("/questions/device?a=colour&b=dark")
    assert "colour and dark together" in page.text
    assert "no evidence that colour and dark" in page.text
    chosen = [
        values["value"] for tag, values in page.elements if tag == "option" and "selected" in values
    ]
    assert chosen[:2] == ["colour", "dark"]
    epoch = json.loads(
        site.get(f"/questions/device/association.json?a=dark&b=colour&epoch={EPOCH + 1}").body
    )
    assert epoch["n"] == 500


def test_three_fields_have_a_heat_map_of_every_pair(site: Site) -> None:
    page = site.page("/questions/device?a=dark&b=animal&c=colour")
    assert "dark, animal and colour together" in page.text
    heats = [values for tag, values in page.elements if values.get("class") == "heat"]
    assert len(heats) == 3
    assert "The answers to dark and animal go together more than chance explains." in page.text
    assert "There is no evidence that the answers to dark and colour go together." in page.text
    cells = [
        values for tag, values in page.elements if tag == "td" and "h" in values.get("class", "")
    ]
    assert cells
    text = site.get("/questions/device?a=dark&b=animal&c=colour").text
    assert "↑</b>" in text
    read = json.loads(site.get("/questions/device/association.json?a=dark&b=animal&c=colour").body)
    assert {"dark", "animal", "colour"} <= set(read["rows"][0])
    assert site.get("/questions/device/heat-map.svg?a=dark&b=animal&c=colour").status == 200
    assert site.get("/questions/device?a=dark&b=animal&c=dark").status == 404


def test_hostile_names_are_text_in_page_and_picture(site: Site) -> None:
    answer = site.get("/questions/device")
    page = Page(answer.text)
    assert HOSTILE in page.text
    assert "<script" not in answer.text
    assert "\x07" not in answer.text
    picture = site.get("/questions/device/heat-map.svg?a=dark&b=animal&theme=dark&size=narrow")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert b"<script" not in picture.body


def test_every_picture_and_file_of_the_section_is_there_and_read_once(site: Site) -> None:
    page = site.page("/questions/device")
    reads = site.store.reads
    files = {a for a in page.addresses if "/association." in a}
    assert len(files) == 6
    for address in files | {"/questions/device/heat-map.svg?a=dark&b=animal"}:
        assert site.get(address).status == 200, address
    site.page("/questions/device")
    assert site.store.reads == reads
    name = site.get("/questions/device/association.csv?a=dark&b=animal").headers
    assert name["content-disposition"] == 'attachment; filename="device-dark-animal.csv"'


def test_the_page_stays_inert_and_accessible(site: Site) -> None:
    page = site.page("/questions/device?a=animal&b=colour")
    assert not page.tags() & {"script", "iframe", "object", "embed", "style", "base"}
    ids = [values["id"] for _, values in page.elements if "id" in values]
    assert len(ids) == len(set(ids))
    for tag, values in page.elements:
        if tag == "select":
            assert ("label", {"for": values["id"]}) in page.elements
        if values.get("class") == "heats":
            assert values["aria-label"].startswith("Heat map of the shares of")


def test_many_reports_are_fitted_only_when_somebody_chooses(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "AT_ONCE", 1_000)
    page = site.page("/questions/device")
    assert "choose fields, and their table is fitted" in page.text
    assert not any(values.get("class") == "heat" for _, values in page.elements)
    assert "depend on each other" in site.page("/questions/device?a=dark&b=animal").text


def test_a_missing_list_of_names_is_said(site: Site) -> None:
    (site.folder / "names.txt").rename(site.folder / "away.txt")
    try:
        page = site.page("/questions/device?a=animal&b=dark")
        assert "cannot be read" in page.text
        assert site.get("/questions/device/heat-map.svg?a=animal&b=dark").status == 404
    finally:
        (site.folder / "away.txt").rename(site.folder / "names.txt")


@pytest.mark.parametrize(
    "path",
    [
        "/questions/device?a=dark",
        "/questions/device?a=dark&b=dark",
        "/questions/device?a=dark&b=<script>",
        "/questions/device/heat-map.svg?a=dark&b=none",
        "/questions/device/heat-map.svg?a=dark&b=animal&theme=pink",
        "/questions/device/association.exe?a=dark&b=animal",
        "/questions/plain/association.csv",
        "/questions/plain/heat-map.svg",
    ],
)
def test_what_is_not_there_is_said_kindly(site: Site, path: str) -> None:
    answer = site.get(path)
    assert answer.status == 404
    assert "<script" not in answer.text
