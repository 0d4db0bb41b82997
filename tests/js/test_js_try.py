"""The page /try of the demo, in real Chromium: from a click to the dashboard."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request

from material.web_pages import chromium, collecting, survey_bytes

PATIENCE = 120_000  # milliseconds; a delay of two seconds on average is longer once in 10^26 times
SIGNAL = "Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a small demo as people do; return the page's address that it prints."""
    command = [sys.executable, "-m", "deniable", "demo", "--clients", "2", "--people", "2000"]
    command += ["--output", str(tmp_path_factory.mktemp("demo"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = next(filter(None, (re.search(r"http\S+/try$", s) for s in process.stdout)))
            yield found[0]
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context() as made:
        yield made


@pytest.fixture
def page(context: BrowserContext, address: str) -> Iterator[Page]:
    """The page, opened; nothing on it may complain."""
    page, errors = context.new_page(), list[str]()
    page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    yield page
    assert errors == []
    assert page.locator("#problem:visible").count() == 0


def bits(page: Page, place: str) -> list[int]:
    """Return the bits of a row, as the page draws them."""
    kinds = page.locator(f"#{place} .bit").evaluate_all("all => all.map((b) => b.className)")
    return [int(" on" in kind) for kind in kinds]


def choose(page: Page, question: str, answer: str) -> None:
    page.click(f"fieldset[data-question={question}] >> button:text-is('{answer}')")


def reports(page: Page, question: str) -> int:
    told = page.request.get(f"{page.url.removesuffix('/try')}/questions/{question}/result.json")
    return int(told.json()["n"])


def test_an_answer_from_the_click_to_the_dashboard(page: Page) -> None:
    sent: list[Request] = []
    page.on("request", lambda r: sent.append(r) if r.method == "POST" else None)
    before = reports(page, "browser")
    assert 'storage: "best-effort"' in page.inner_text("#ask")
    assert page.locator("#questions").is_hidden(), "nothing is asked before consent"
    page.click("#yes")
    choose(page, "browser", "chrome")
    page.wait_for_selector("#arrived:visible", timeout=PATIENCE)

    (request,) = sent
    (report,) = json.loads(request.post_data or "")["reports"]
    record = base64.urlsafe_b64decode(report["record"])
    assert page.inner_text("#value") == "chrome"
    assert bits(page, "truth") == [0, 1, 0, 0, 0]
    assert len(bits(page, "permanent")) == 5
    assert bits(page, "report") == [record[2] >> i & 1 for i in range(5)]
    told = [page.inner_text(f"#{name}") for name in ("cost", "spent", "ceiling")]
    assert told == ["4", "4", "16"]
    assert "11 in 15" in page.inner_text("#learned")
    head, _, body = page.inner_text("#request").partition("\n\n")
    assert head.splitlines()[0] == "POST /v1/reports"
    assert json.loads(body) == json.loads(request.post_data or "")
    assert not {"cookie", "referer"} & request.all_headers().keys()

    assert f"with yours there are {before + 1:,}" in page.inner_text("#counted")
    images = "() => [...document.images].map((i) => i.decode().then(() => i.naturalWidth))"
    assert all(page.evaluate(f"async () => Promise.all(({images})())"))
    page.click("#open")
    page.wait_for_url("**/questions/browser")
    assert f"{before + 1:,}" in page.inner_text("section[aria-labelledby=arrivals] .tiles")


def test_the_same_person_is_asked_once_and_can_withdraw(page: Page, address: str) -> None:
    page.click("#yes")
    choose(page, "dark-mode", "yes")
    page.wait_for_selector("#arrived:visible", timeout=PATIENCE)
    assert page.locator("#kept").is_hidden(), "k-RR without a permanent stage"
    page.goto(address)
    choose(page, "dark-mode", "no")
    page.wait_for_selector("text=You have answered already.")
    page.click("#withdraw")
    page.wait_for_selector("text=You said no.")
    assert page.locator("#questions").is_hidden()


def test_a_no_leaves_nothing(page: Page) -> None:
    page.click("#no")
    page.wait_for_selector("text=You said no.")
    assert page.locator("#ask").is_hidden()


def test_a_browser_that_objects_is_heard(context: BrowserContext, address: str) -> None:
    context.add_init_script(SIGNAL)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#signal:visible")
    page.click("#yes")
    page.wait_for_selector("#questions:visible")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_telephone_shows_all_of_it(
    browser: Browser, address: str, scheme: Literal["light", "dark"]
) -> None:
    size = {"width": 360, "height": 740}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(address)
        page.click("#yes")
        choose(page, "homepage", "https://mail.example")
        page.wait_for_selector("#arrived:visible", timeout=PATIENCE)
        assert len(bits(page, "report")) == 128
        assert 1 <= sum(bits(page, "truth")) <= 2
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_other_collectors_have_no_such_page(browser: Browser, tmp_path: Path) -> None:
    with (
        collecting(tmp_path, survey_bytes(tmp_path), []) as collector,
        browser.new_context() as context,
    ):
        for path in ("try", "assets/try.js", "assets/deniable.bundle.js"):
            assert context.request.get(f"{collector}/{path}").status == 404


def test_the_page_is_for_trials() -> None:
    command = [sys.executable, "-m", "deniable", "serve", "--try", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "--try is for trials" in done.stderr
