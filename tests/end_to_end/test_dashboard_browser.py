"""A real browser walks through the dashboard of a real server process."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright

from deniable.authoring import read_authored
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Profile, Survey
from deniable.protocol.epochs import day_number
from deniable.results.table.text import p_text, percent
from deniable.store import Batch, open_store
from material.surveys import (
    BOOLEAN,
    EPSILON,
    TRIPS,
    asked,
    categories,
    listed,
    profile,
    several,
    survey,
    unlisted,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "No Chromium was found. Install it with: sudo apt-get install --yes chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
CANDIDATES = [
    "news.example",
    "mail.example",
    "<script>alert('candidate')</script>",
    '"><img src=x onerror=alert(1)>',
    "[bold]=1+1 \x07",
    *(f"site{i}.example" for i in range(40)),
]
WORDS = ["abba", "abbaca", "<b>"]
SURVEY = survey(
    asked(
        "homepage",
        listed("list.txt"),
        "rappor",
        "epsilon = 3.0, epsilon_forever = 6.0, m = 16",
        "Which page opens first? <script>alert('description')</script>",
    ),
    several(
        "session",
        ("minutes", '{ type = "numbers", edges = [1, 5, 15, 60] }', "krr", EPSILON),
        ("crashed", BOOLEAN, "krr", EPSILON),
        description="How was the session?",
    ),
    profile(
        "trips",
        "auto",
        "epsilon = 3.0, order = 2",
        *TRIPS,
        ("zone", categories("inner", "outer", "<script>alert('zone')</script>")),
        ("always", BOOLEAN),
        description="How was the trip?",
    ),
    asked(
        "word",
        unlisted("<>abcdefgh"),
        "prefixes",
        "epsilon = 5.0, cohorts = 4, lengths = [2, 4, 6]",
        "Which word?",
    ),
    asked("quiet", description="Did nobody answer?"),
).replace('"Test"', "\"Browser test <script>alert('name')</script>\"", 1)


def publish(folder: Path) -> Survey:
    (folder / "list.txt").write_text("\n".join(CANDIDATES), encoding="utf-8")
    (folder / "survey.toml").write_text(SURVEY, encoding="utf-8")
    survey = read_authored(folder / "survey.toml").require()
    (folder / "survey.json").write_bytes(survey.published())
    return survey


def trips(people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return trips: only cards tip, zones go with nothing, and one attribute is constant."""
    card = rng.random(people) < 0.6
    tip = card & (rng.random(people) < 0.7)
    zone, always = rng.integers(0, 3, people), np.ones(people)
    return np.column_stack([card, tip, zone, always]).astype(np.int64)


def fill(survey: Survey, data: Path, people: int) -> None:
    """Write simulated reports to all questions but the last."""
    rng = np.random.default_rng(5)
    with open_store(data) as store:
        for question in survey.questions[:-1]:
            reports = {}
            for part in question.fields:
                if isinstance(part.domain, Profile):
                    reports[part.name] = mechanism_for(part.parameters).simulate(
                        trips(people, rng), rng
                    )
                    continue
                listed = WORDS if question.id == "word" else CANDIDATES
                size = part.domain.size or len(listed)
                codes = np.minimum(rng.geometric(0.3, people) - 1, size - 1)
                strings = listed if part.domain.size is None else None
                reports[part.name] = mechanism_for(part.parameters).simulate(codes, rng, strings)
            batch = Batch(question.id, question.version, question.digest, day_number())
            store.append_records(batch, join_records(question, reports), question.record_size)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the collector with its dashboard in a process of its own; return where it listens."""
    folder = tmp_path_factory.mktemp("dashboard")
    fill(publish(folder), folder / "data", 20_000)
    command = [sys.executable, "-m", "deniable", "serve", "--port", "0", "--json"]
    command += ["--survey", str(folder / "survey.json"), "--data", str(folder / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["address"]
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail(INSTALL)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Watch:
    """Everything that should not happen while a page is open, and what it loads."""

    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    pictures: list[str] = field(default_factory=list)

    def over(self, page: Page) -> Page:
        page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self._request(request.url))
        page.on("requestfailed", lambda request: self._failed(request.url, request.failure))
        page.on("response", lambda r: self.errors.append(r.url) if r.status >= 400 else None)
        return page

    def _dialog(self, dialog: Dialog) -> None:
        self.errors.append(f"a script ran: {dialog.message}")
        dialog.dismiss()

    def _failed(self, url: str, why: str | None) -> None:
        if why != "net::ERR_ABORTED":  # which is what a click to the next page does to an icon
            self.errors.append(f"{why}: {url}")

    def _request(self, url: str) -> None:
        self.hosts.add(urlsplit(url).netloc)
        if "chart.svg" in url or "attributes.svg" in url:
            self.pictures.append(url)


@pytest.fixture
def watch(address: str) -> Iterator[Watch]:
    """Whatever a test opens: no error, no script, no request to another host."""
    watch = Watch()
    yield watch
    assert watch.errors == []
    assert watch.hosts <= {urlsplit(address).netloc}


def open_page(browser: Browser, watch: Watch, **options: Any) -> tuple[BrowserContext, Page]:
    context = browser.new_context(**options)
    return context, watch.over(context.new_page())


def rows_of(page: Page, path: str) -> list[dict[str, Any]]:
    """Return the rows of a result.json, asked for beside the page."""
    answer = page.request.get(path)
    assert answer.ok
    rows: list[dict[str, Any]] = answer.json()["rows"]
    return rows


def shown_numbers(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the numbers of result.json as the table must show them."""
    error = float(np.median([row["std_error"] for row in rows]))
    return [
        [
            percent(row["frequency"], error),
            percent(row["std_error"], error),
            " to ".join(percent(end, error) for end in row["interval"]),
            p_text(row["p_value"]),
            "Holm" if row["holm"] else "Storey" if row["storey"] else "",
        ]
        for row in rows
    ]


def test_from_the_list_to_a_question_and_its_files(
    address: str, browser: Browser, watch: Watch
) -> None:
    context, page = open_page(browser, watch, accept_downloads=True)
    page.goto(f"{address}/")
    assert "Browser test <script>alert('name')</script>" in page.inner_text("h1")
    assert "20,000" in page.inner_text("li:has-text('homepage')")
    page.click("text=homepage")
    page.wait_for_url("**/questions/homepage")
    rows = rows_of(page, f"{address}/questions/homepage/result.json")
    table = [
        [cell.inner_text() for cell in row.query_selector_all("td")]
        for row in page.query_selector_all("tbody tr")
    ]
    assert table == shown_numbers(rows)
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    with page.expect_download() as download:
        page.click("text=CSV")
    assert download.value.suggested_filename == "homepage.csv"
    with download.value.path().open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    assert [float(cell["frequency"]) for cell in cells] == [row["frequency"] for row in rows]
    page.click("nav >> text=Health")
    assert "80,000" in page.inner_text("dl")
    context.close()


def test_hostile_strings_are_inert_and_readable(
    address: str, browser: Browser, watch: Watch
) -> None:
    context, page = open_page(browser, watch)
    page.goto(f"{address}/questions/homepage")
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.querySelectorAll('main img').length") == 1
    text = page.inner_text("main")
    assert "<script>alert('candidate')</script>" in text
    assert "<script>alert('description')</script>" in text
    assert r"[bold]=1+1 \x07" in text
    context.close()


def test_several_fields_have_a_section_each(address: str, browser: Browser, watch: Watch) -> None:
    context, page = open_page(browser, watch)
    page.goto(f"{address}/questions/session")
    assert page.locator("section[aria-labelledby^=field-]").count() == 2
    together = page.locator("section[aria-labelledby=together]")
    assert together.locator("img, picture").first.is_visible()
    for name in ("minutes", "crashed"):
        rows = rows_of(page, f"{address}/questions/session/result.json?field={name}")
        section = page.locator(f"section[aria-labelledby=field-{name}]")
        cells = section.locator("tbody td").all_inner_texts()
        assert cells == [cell for row in shown_numbers(rows) for cell in row]
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1_280])
def test_a_record_shows_heat_map_tree_and_pair_tables(
    scheme: Literal["light", "dark"], width: int, address: str, browser: Browser, watch: Watch
) -> None:
    size = {"width": width, "height": 900}
    context, page = open_page(browser, watch, viewport=size, color_scheme=scheme)
    page.goto(f"{address}/questions/trips")
    section = page.locator("section[aria-labelledby=pairs]")
    pictures = section.locator("img")
    assert pictures.count() == 2
    for number, kind in enumerate(("heat", "tree")):
        picture = pictures.nth(number)
        picture.scroll_into_view_if_needed()
        assert picture.is_visible()
        assert picture.evaluate("i => i.decode().then(() => i.naturalWidth)") > 200
        shown = str(picture.evaluate("i => i.currentSrc"))
        assert f"kind={kind}" in shown
        assert ("theme=dark" in shown) == (scheme == "dark")
    surest = section.locator("tbody tr").first
    assert surest.locator("th, td").all_inner_texts()[:2] == ["card", "tip"]
    assert surest.locator("td").last.inner_text() == "Holm"
    tables = section.locator(".words table")
    assert tables.count() == 3  # an edge of the tree each
    assert tables.first.locator("caption").inner_text() == "card and tip"
    assert tables.first.locator("tbody tr").count() == 4
    assert "<script>alert('zone')</script>" in page.inner_text("main")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1_280])
def test_strings_that_nobody_listed_have_a_list_and_a_tree(
    scheme: Literal["light", "dark"], width: int, address: str, browser: Browser, watch: Watch
) -> None:
    size = {"width": width, "height": 900}
    context, page = open_page(browser, watch, viewport=size, color_scheme=scheme)
    page.goto(f"{address}/questions/word")
    rows = rows_of(page, f"{address}/questions/word/result.json")
    assert {row["value"] for row in rows if row["holm"]} == set(WORDS)
    assert page.locator("tbody th").all_inner_texts() == [row["value"] for row in rows]
    cells = page.locator("tbody td").all_inner_texts()
    assert cells == [cell for row in shown_numbers(rows) for cell in row]
    tree = page.locator("img[src*='tree.svg']")
    tree.scroll_into_view_if_needed()
    assert tree.is_visible()
    assert tree.evaluate("i => i.decode().then(() => i.naturalWidth)") > 200
    assert ("theme=dark" in str(tree.evaluate("i => i.currentSrc"))) == (scheme == "dark")
    assert str(tree.get_attribute("alt")).endswith("lead to 3 strings.")
    picture = page.request.get(str(tree.evaluate("i => i.currentSrc"))).text()
    assert "abbaca" in picture
    assert "&lt;b&gt;" in picture
    assert "Detection limit" in page.inner_text("main")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_a_telephone_at_night_gets_its_own_picture(
    address: str, browser: Browser, watch: Watch
) -> None:
    size = {"width": 390, "height": 800}
    context, page = open_page(browser, watch, viewport=size, color_scheme="dark")
    for path in ("/", "/health", "/questions/homepage", "/questions/session"):
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    assert len(watch.pictures) == 3
    assert all("theme=dark" in url and "size=narrow" in url for url in watch.pictures)
    context.close()


def test_an_empty_question_and_a_wrong_address_are_friendly(
    address: str, browser: Browser, watch: Watch
) -> None:
    context, page = open_page(browser, watch)
    page.goto(f"{address}/questions/quiet")
    assert "No reports yet" in page.inner_text("main")
    answer = page.goto(f"{address}/questions/nothing")
    assert answer is not None
    assert answer.status == 404
    assert len(watch.errors) == 2  # the 404, once as an answer and once in the console
    watch.errors.clear()
    page.click("text=All questions")
    assert page.url == f"{address}/"
    context.close()


def test_the_page_of_a_chart_works_from_a_disk_without_a_network(
    address: str, browser: Browser, tmp_path: Path
) -> None:
    path, watch = tmp_path / "chart.html", Watch()
    context, page = open_page(browser, watch)
    path.write_bytes(page.request.get(f"{address}/questions/homepage/result.html").body())
    context.set_offline(True)
    page.goto(path.as_uri())
    page.wait_for_selector("#chart svg")
    assert "<script>alert('candid…')</script>" in page.inner_text("#chart")
    assert watch.errors == []
    assert watch.hosts == {""}
    context.close()
