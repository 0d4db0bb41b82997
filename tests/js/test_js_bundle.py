"""The sizes of what a page loads, and the one file that has all of it."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from deniable.protocol import Survey
from material.js_reports import QUESTIONS, authored_survey
from material.web_pages import ROOT, chromium
from material.web_world import TALLY, World, opened

BUNDLE = ROOT / "js" / "deniable.bundle.js"
ENTRIES = ["/js/deniable.js", "/js/deniable.bundle.js"]


def bundling(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, root / "scripts" / "js_bundle", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_bundle_is_what_the_modules_make() -> None:
    done = bundling(ROOT, "--check")
    assert done.returncode == 0, done.stderr


def test_a_bundle_that_differs_is_noticed(tmp_path: Path) -> None:
    for name in ("js", "scripts", "src/deniable/dashboard/assets"):
        shutil.copytree(ROOT / name, tmp_path / name)
    assert bundling(tmp_path, "--check").returncode == 0
    refused = tmp_path / "js" / "src" / "refused.js"
    refused.write_text(refused.read_text().replace('"Refused"', '"Denied"'))
    done = bundling(tmp_path, "--check")
    assert done.returncode == 1
    assert "run ./scripts/js_bundle" in done.stderr
    assert bundling(tmp_path).returncode == 0
    assert bundling(tmp_path, "--check").returncode == 0


def test_the_entry_is_small() -> None:
    """The entry and all that it imports statically, without comments, by gzip -9."""
    sizes = json.loads(bundling(ROOT, "--sizes").stdout)
    assert sizes["entry"] < 6_000
    assert sizes["entry"] < sizes["krr_and_upload"] < 30_000
    assert sizes["bundle"] < 40_000


def command(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "deniable", "js", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def test_the_command_prints_the_tag_and_writes_the_file(tmp_path: Path) -> None:
    digest = base64.b64encode(hashlib.sha384(BUNDLE.read_bytes()).digest()).decode()
    tag = command("--sri", "--src", "/static/d.js").strip()
    assert tag == (
        f'<script type="module" src="/static/d.js" integrity="sha384-{digest}" '
        'crossorigin="anonymous"></script>'
    )
    told = json.loads(command("--sri", "--json", "--output", str(tmp_path / "d.js")))
    assert told["integrity"] == f"sha384-{digest}"
    assert told["bytes"] == BUNDLE.stat().st_size
    assert (tmp_path / "d.js").read_bytes() == BUNDLE.read_bytes()


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    """A question for every mechanism."""
    return authored_survey(tmp_path_factory.mktemp("every"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, survey: Survey) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(tmp_path_factory.mktemp("world"), stack, survey.published())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def context(browser: Browser, world: World) -> Iterator[BrowserContext]:
    world.stage.seen.clear()
    with browser.new_context() as made:
        yield made


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_page_reports_by_every_mechanism(
    context: BrowserContext, world: World, survey: Survey, entry: str
) -> None:
    page = opened(context, world, entry=entry)
    for name, (*_, value, _) in QUESTIONS.items():
        assert page.evaluate("([id, value]) => client.record(id, value)", [name, value]), name
    assert page.evaluate("() => client.flush()")
    assert page.evaluate(TALLY)["counters"] == {"uploaded": len(QUESTIONS)}
    asked = {question.digest.hex() for question in survey.questions}
    sent = [json.loads(body)["reports"] for _, body in world.stage.seen]
    assert {report["digest"] for (report,) in sent} == asked


def test_a_page_needs_no_network_after_it_has_opened(context: BrowserContext, world: World) -> None:
    page = opened(context, world)
    context.set_offline(True)
    for name, (*_, value, _) in QUESTIONS.items():
        assert page.evaluate("([id, value]) => client.record(id, value)", [name, value]), name
    assert page.evaluate(TALLY)["pending"] == len(QUESTIONS)


@pytest.mark.parametrize("right", [True, False])
def test_the_tag_lets_no_other_file_in(context: BrowserContext, world: World, right: bool) -> None:
    tag = command("--sri", "--src", "/js/deniable.bundle.js").strip()
    if not right:
        start = tag.index("sha384-") + len("sha384-")
        tag = f"{tag[:start]}AAAAAAAA{tag[start + 8 :]}"  # as long, and of another file
    world.site.pages["/tagged"] = f"<!doctype html><title>t</title>{tag}"
    page = context.new_page()
    page.goto(f"{world.origin}/tagged")
    kinds = page.evaluate("() => [typeof deniable, typeof globalThis.deniable?.Client]")
    assert kinds == (["object", "function"] if right else ["undefined", "undefined"])
