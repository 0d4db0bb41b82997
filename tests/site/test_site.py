"""The site: built without a warning, four parts, a search, and no word to any other host."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import metadata
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Request

import deniable
from deniable.cli import docs as verb
from deniable.cli.app import VERBS
from material.commands import call, run
from material.web_pages import ROOT, chromium

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
SECONDS = 400


def release(folder: Path, **variables: str) -> Path:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/release", folder, "--as-it-is"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that scripts/release builds."""
    return release(tmp_path_factory.mktemp("release") / "first")


@pytest.fixture(scope="module")
def site(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as it lies in the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = released.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            if "/site/" in name:
                packed.extract(name, folder)
    return folder / "deniable/site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


class Loads(HTMLParser):
    """Collects what a page makes a browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        kinds = set((given.get("rel") or "").split())
        if tag == "link" and kinds <= {"next", "prev", "search", "index", "author", "canonical"}:
            return  # a browser does not load these
        self.found += filter(None, [given.get(LOADING.get(tag, "")), given.get("srcset")])


def loads(html: str) -> list[str]:
    parser = Loads()
    parser.feed(html)
    return parser.found


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        for target in loads(page.read_text("utf-8")):
            assert not re.match(r"\w+:|//", target) or target.startswith("data:"), (page, target)
            file = (page.parent / re.split(r"[?#]", target)[0]).resolve()
            assert target.startswith("data:") or file.is_file(), (page.name, target)


def test_a_page_that_does_is_noticed() -> None:
    assert loads('<script src="https://cdn.example/x.js"></script>') == ["https://cdn.example/x.js"]
    assert loads('<link rel="stylesheet" href="//fonts.example/a.css">') == [
        "//fonts.example/a.css"
    ]
    assert loads('<a href="https://example.org">elsewhere</a>') == []


def test_no_style_loads_anything_from_another_host(site: Path) -> None:
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        assert not re.search(r"@import|url\(\s*['\"]?(?:https?:)?//", text), style


def test_every_part_is_there_and_links_lead_somewhere(site: Path) -> None:
    first = (site / "index.html").read_text("utf-8")
    for part in ("tutorials", "how-to", "reference", "explanation"):
        assert f"{part}.html" in first
    for page in site.rglob("*.html"):
        for target in re.findall(r'<a [^>]*href="([^"#?:]+)[#"]', page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_reference_has_every_command_option_and_public_name(site: Path) -> None:
    commands = (site / "reference/cli.html").read_text("utf-8")
    for name in VERBS:
        assert f'href="#deniable-{name}"' in commands
    assert "--crafted" in commands
    python = (site / "reference/api-client.html").read_text("utf-8")
    for name in (*deniable.client.__all__, "opt_in", "explain"):
        assert f">{name}" in python
    assert "RecordRefused" in python
    http = (site / "reference/http.html").read_text("utf-8")
    for path in json.loads((ROOT / "spec/openapi.json").read_text())["paths"]:
        assert path.replace("{", "").split("/")[1] in http
    schemas = (site / "reference/schemas.html").read_text("utf-8")
    for path in (ROOT / "spec/schemas").glob("*.json"):
        assert path.name in schemas


def test_a_browser_asks_nobody_finds_pages_and_plays(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    complaints: list[object] = []
    page.on("pageerror", lambda error: complaints.append(error))
    page.goto((site / "index.html").as_uri())
    page.goto((site / "docs/epsilon.html").as_uri())
    assert page.locator("#dots i").count() == 100
    page.evaluate("find('epsilon').value = 2; find('epsilon').dispatchEvent(new Event('input'))")
    assert page.locator("#keep").inner_text() == "88.1%"
    assert page.locator("#belief").inner_text() == "88.1%"
    page.evaluate("find('people').value = 6; find('people').dispatchEvent(new Event('input'))")
    assert page.locator("#people-shown").inner_text() == "1,000,000"
    low, high = map(float, re.findall(r"([\d.]+)%", page.locator("#estimate").inner_text())[1:])
    # A million people at epsilon 2: 1.96 * sqrt(t (1 - t) / n) / (2 t - 1) on either side.
    assert high - low == pytest.approx(0.17, abs=0.11)
    page.goto((site / "search.html").as_uri() + "?q=ceiling")
    page.wait_for_selector("#search-results li", timeout=60_000)
    assert {request.url.split(":")[0] for request in asked} <= {"file", "data"}
    assert complaints == []
    page.close()


def test_the_verb_opens_a_page_from_the_disk(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(verb, "PACKAGE", site.parent)
    monkeypatch.setattr(verb.webbrowser, "open", lambda address: opened.append(address) or True)
    assert call("docs").strip().endswith("site/index.html")
    told = json.loads(call("docs", "client", "--json"))
    assert told["path"].endswith("docs/client.html")
    call("docs", "--no-browser")
    assert [address.split(":")[0] for address in opened] == ["file", "file"]
    wrong = run("docs", "clientt")
    assert "Did you mean client" in str(wrong.exception)


def test_without_a_site_the_verb_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "PACKAGE", tmp_path)
    monkeypatch.setattr(verb, "CHECKOUT", tmp_path)
    assert "Install a released wheel" in str(run("docs").exception)
    (tmp_path / "docs/site").mkdir(parents=True)
    (tmp_path / "docs/site/build.py").touch()
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    assert "pip install 'deniable[docs]'" in str(run("docs").exception)


def test_the_same_sources_make_the_same_bytes(released: Path, tmp_path: Path) -> None:
    """Another folder, another time of day, another time zone and another hash seed."""
    second = release(tmp_path / "second", TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    names = sorted(path.name for path in released.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    for name in names:
        assert (released / name).read_bytes() == (second / name).read_bytes(), name


def test_a_release_holds_what_it_should_and_names_it(released: Path) -> None:
    kinds = {"".join(path.suffixes[-2:]) for path in released.iterdir()}
    assert {".whl", ".gz", ".tgz", ".json"} <= {Path(f"x{kind}").suffix for kind in kinds}
    for line in (released / "SHA256SUMS").read_text().splitlines():
        told, name = line.split("  ")
        assert hashlib.sha256((released / name).read_bytes()).hexdigest() == told
    with tarfile.open(released / "deniable-0.1.0.tar.gz") as packed:
        names = {name.split("/", 1)[1] for name in packed.getnames() if "/" in name}
    assert {"CITATION.cff", "LICENSE", "src/deniable/site/index.html", "pyproject.toml"} <= names
    with tarfile.open(released / "deniable-0.1.0.tgz") as packed:
        assert "package/deniable.js" in packed.getnames()
    listed = json.loads((released / "components.cdx.json").read_text())
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.5")
    named = {each["name"]: each for each in listed["components"]}
    assert {"numpy", "starlette", "typer", "furo"} <= set(named)
    assert "pytest" not in named
    assert all(each["licenses"][0]["license"]["name"] for each in named.values())


def test_the_wheel_works_where_nothing_else_is(released: Path, tmp_path: Path) -> None:
    (wheel,) = released.glob("*.whl")
    program = "import deniable, sys; print(deniable.Client.__name__, deniable.__file__)"
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path = [{str(wheel)!r}, *sys.path]; {program}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(wheel) in done.stdout


def test_what_builds_is_pinned_to_the_version_that_is_tested() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    pins = (ROOT / "requirements/test.txt").read_text()
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", each) for each in told)
    assert all(f"\n{each} \\" in f"\n{pins}" for each in told)


def test_every_licence_is_listed() -> None:
    """A package that is new, gone, or under another licence than the list says is noticed."""
    command = [sys.executable, ROOT / "scripts/licences", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_licence_with_conditions_on_others_is_noticed() -> None:
    loader = SourceFileLoader("licences", str(ROOT / "scripts/licences"))
    spec = spec_from_loader("licences", loader)
    assert spec is not None
    script = module_from_spec(spec)
    loader.exec_module(script)
    assert script.problems({"x": "AGPL-3.0"}) == ["x: AGPL-3.0"]
    assert script.problems({"x": "MIT AND BSD-3-Clause"}) == []
    with pytest.raises(metadata.PackageNotFoundError):
        script.licence_of("no-such-package")


def test_the_citation_names_this_version() -> None:
    told = (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^version: {re.escape(deniable.__version__)}$", told, re.MULTILINE)
    assert told.startswith("cff-version: 1.2.0\n")
