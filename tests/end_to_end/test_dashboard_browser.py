"""A real browser walks through the dashboard of a real server process."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page

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
from material.web_pages import chromium

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
    several(
        "tour",
        *((name, BOOLEAN, "krr", EPSILON) for name in ("began", "ended", "liked")),
        description="How was the tour?",
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
    """Write simulated reports to all questions but the last; those of the tour are of closed days.

    They are as many for each question.
    """
    rng, today = np.random.default_rng(5), day_number()
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
            days = range(today - 4, today) if question.id == "tour" else (today,)
            records = join_records(question, reports)
            each = len(records) // len(days)
            for i, day in enumerate(days):
                batch = Batch(question.id, question.version, question.digest, day)
                part = records[i * each : (i + 1) * each]
                store.append_records(batch, part, question.record_size)
        store.close_question("tour", 1, today - 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a published survey and its store."""
    folder = tmp_path_factory.mktemp("dashboard")
    fill(publish(folder), folder / "data", 20_000)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Start the collector with its dashboard in a process of its own; return where it listens."""
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
    with chromium() as started:
        yield started


@dataclass
class Watch:
    """Everything that should not happen while a page is open, and what it loads."""

    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

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
        [cell.text_content() for cell in row.query_selector_all("td")]
        for row in page.query_selector_all("details tbody tr")
    ]
    assert table == shown_numbers(rows)
    assert not page.locator("details table").first.is_visible()  # statistics are one level down
    page.click("summary")
    assert page.locator("details table").first.is_visible()
    with page.expect_download() as download:
        page.click("text=CSV")
    assert download.value.suggested_filename == "homepage.csv"
    with download.value.path().open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    assert [float(cell["frequency"]) for cell in cells] == [row["frequency"] for row in rows]
    page.click("nav >> text=Health")
    assert "100,000" in page.inner_text("dl")
    context.close()


def test_hostile_strings_are_inert_and_readable(
    address: str, browser: Browser, watch: Watch
) -> None:
    context, page = open_page(browser, watch)
    page.goto(f"{address}/questions/homepage")
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.querySelectorAll('main img').length") == 0
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
    assert together.locator("table.heat").first.is_visible()
    for name in ("minutes", "crashed"):
        rows = rows_of(page, f"{address}/questions/session/result.json?field={name}")
        section = page.locator(f"section[aria-labelledby=field-{name}]")
        cells = section.locator("details tbody td").all_text_contents()
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
    heat, tree = section.locator("table.heat"), section.locator(".tree")
    assert heat.is_visible()
    assert tree.is_visible()
    number = heat.locator("tbody tr").nth(0).locator("td").nth(1)
    assert float(number.inner_text().rstrip(" •")) > 0.5  # the number stands at every width
    assert number.locator("b").bounding_box() is not None
    assert apart(tree.locator("strong").all())
    section.locator("summary").click()
    surest = section.locator("details tbody tr").first
    assert surest.locator("th, td").all_inner_texts()[:2] == ["card", "tip"]
    assert surest.locator("td").last.text_content() == "Holm"
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
    assert page.locator("tbody th").all_text_contents() == [row["value"] for row in rows]
    cells = page.locator("tbody td").all_text_contents()
    assert cells == [cell for row in shown_numbers(rows) for cell in row]
    tree = page.locator(".tree")
    assert "lead to 3 strings. Most frequent: <b> " in str(tree.get_attribute("aria-label"))
    labels = tree.locator("strong")
    assert set(labels.all_inner_texts()) == set(WORDS)
    assert apart(labels.all())
    assert "Detection limit" in page.inner_text("main")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def apart(labels: list[Locator]) -> bool:
    """Tell whether no label lies on another."""
    boxes = [box for one in labels if (box := one.bounding_box()) is not None]
    assert len(boxes) == len(labels)
    return not any(
        a["x"] < b["x"] + b["width"]
        and b["x"] < a["x"] + a["width"]
        and a["y"] < b["y"] + b["height"]
        and b["y"] < a["y"] + a["height"]
        for i, a in enumerate(boxes)
        for b in boxes[:i]
    )


PATHS = (
    "/",
    "/?q=nothing-like-it",
    "/health",
    "/budget",
    "/questions/homepage",
    "/questions/session",
    "/questions/session?a=crashed&b=minutes",
    "/questions/trips",
    "/questions/word",
    "/questions/quiet",
    "/questions/tour?a=began&b=ended&c=liked",
    f"/questions/tour?by=epoch&one={day_number() - 4}-{day_number() - 3}&other={day_number() - 1}",
    "/questions/nothing",
    "/questions/tour?by=epoch&one=2-1&other=3",
)
REFUSED = {"/questions/nothing": 404, "/questions/tour?by=epoch&one=2-1&other=3": 400}
"""The statuses of those that are refused, with a page that says why."""
AXE = files("axe_playwright_python").joinpath("axe.min.js")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1_300])
def test_no_page_breaks_a_rule_of_accessibility(
    scheme: Literal["light", "dark"], width: int, address: str, browser: Browser, watch: Watch
) -> None:
    size = {"width": width, "height": 900}
    context, page = open_page(browser, watch, viewport=size, color_scheme=scheme)
    for path in PATHS:
        answer = page.goto(address + path)
        assert answer is not None
        assert answer.status == REFUSED.get(path, 200)
        if path in REFUSED:
            assert len(watch.errors) == 2  # once as an answer and once in the console
            watch.errors.clear()
        assert broken_rules(page) == [], (path, scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


def broken_rules(page: Page) -> list[list[str]]:
    """Return the rules that a page breaks with all of its details open, and where."""
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.evaluate(AXE.read_text("utf-8"))
    found: list[list[str]] = page.evaluate(
        "rules => axe.run(document, { runOnly: rules }).then(r => r.violations.flatMap("
        "v => v.nodes.map(n => [v.id, n.target.join(' '), n.failureSummary])))",
        RULES,
    )
    return found


@pytest.fixture(scope="module")
def public(folder: Path) -> Path:
    """Return the folder of the public site."""
    command = [sys.executable, "-m", "deniable", "publish-results", str(folder / "site")]
    command += ["--survey", str(folder / "survey.json"), "--data", str(folder / "data")]
    subprocess.run(command, check=True, timeout=120, stdout=subprocess.DEVNULL)
    return folder / "site"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1_300])
def test_no_page_of_the_public_site_breaks_a_rule_of_accessibility(
    scheme: Literal["light", "dark"], width: int, public: Path, browser: Browser
) -> None:
    watch, size = Watch(), {"width": width, "height": 900}
    context, page = open_page(browser, watch, viewport=size, color_scheme=scheme)
    pages = sorted(public.rglob("*.html"))
    assert {"index.html", "people.html", "tour.html"} <= {path.name for path in pages}
    for path in pages:
        page.goto(path.as_uri())
        assert broken_rules(page) == [], (path.name, scheme, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
    context.close()
    assert watch.errors == []
    assert watch.hosts == {""}


def test_the_rules_of_accessibility_are_checked(
    address: str, browser: Browser, watch: Watch
) -> None:
    context, page = open_page(browser, watch)
    page.goto(f"{address}/health")
    page.evaluate("document.querySelector('h1').style.color = '#dddddd'")
    assert [rule for rule, *_ in broken_rules(page)] == ["color-contrast"]
    context.close()


def test_the_list_finds_while_one_types_and_shows_what_was_computed(
    address: str, browser: Browser, watch: Watch
) -> None:
    context, page = open_page(browser, watch)
    page.goto(f"{address}/")
    page.wait_for_selector("#list[data-pending='0']", timeout=60_000)
    rows = page.locator(".rows > li:visible")
    assert rows.count() == 6
    assert page.locator("li:has-text('crashed'), li:has-text('session') .answer b").count() >= 1
    page.fill("#q", "session")
    assert rows.count() == 1
    page.fill("#q", "")
    page.select_option("#by-kind", "profile")
    page.wait_for_url("**kind=profile**")
    assert rows.count() == 1
    context.close()
    context, page = open_page(browser, watch, java_script_enabled=False)
    page.goto(f"{address}/")
    page.fill("#q", "Which word")
    page.click("text=Show")
    assert page.locator(".rows > li").count() == 1
    context.close()


def test_marks_say_their_values_under_the_keyboard(
    address: str, browser: Browser, watch: Watch
) -> None:
    context, page = open_page(browser, watch)
    page.goto(f"{address}/questions/session")
    mark = page.locator("g.mark").first
    mark.focus()
    told = str(mark.get_attribute("aria-label"))
    assert "%" in told
    assert mark.locator("title").text_content() == told
    stroke = mark.locator(".fill").evaluate("r => getComputedStyle(r).strokeWidth")
    assert stroke == "2px"
    curve = page.locator(".plot g.mark").first
    curve.focus()
    assert curve.locator(".tip").is_visible()
    assert "below" in curve.locator(".tip").inner_html()
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
