"""The public site holds closed epochs and real reports, loads nothing, and works from a disk."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from deniable.ask import Options, estimate
from deniable.cli.app import make_app
from deniable.dashboard.public import MANIFEST, PEOPLE, public_site
from deniable.dashboard.public import Site as PublicSite
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Question
from deniable.store import Batch
from material.dashboards import EPOCH, Page, Site, add


def question(site: Site, name: str) -> Question:
    asked = site.survey.question(name)
    assert asked is not None
    return asked


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A store in which the first epoch of `site` is closed, `dark` is simulated, `pair` open."""
    found = Site.empty(tmp_path_factory.mktemp("public"))
    asked, dark = question(found, "site"), question(found, "dark")
    add(found.store, asked, 4_000)
    add(found.store, asked, 1_000, EPOCH + 1)
    add(found.store, question(found, "pair"), 300)
    rng = np.random.default_rng(4)
    reports = {"value": mechanism_for(dark.fields[0].parameters).simulate(np.ones(500, int), rng)}
    for batch in (
        Batch("dark", dark.version, dark.digest, EPOCH, simulated=True),
        Batch("site", asked.version, asked.digest, EPOCH, simulated=True),
    ):
        found.store.begin_simulation(batch, 1, 500, among_real=True)
    batch = Batch("dark", dark.version, dark.digest, EPOCH, simulated=True)
    found.store.append_records(batch, join_records(dark, reports), dark.record_size)
    add_simulated(found, asked)
    found.store.close_question("site", asked.version, EPOCH)
    found.store.close_question("dark", dark.version, EPOCH)
    return found


def add_simulated(site: Site, asked: Question) -> None:
    rng = np.random.default_rng(6)
    mechanism = mechanism_for(asked.fields[0].parameters)
    reports = {"value": mechanism.simulate(np.zeros(700, int), rng, ["never"])}
    batch = Batch(asked.id, asked.version, asked.digest, EPOCH, simulated=True)
    site.store.append_records(batch, join_records(asked, reports), asked.record_size)


@pytest.fixture(scope="module")
def public(site: Site) -> PublicSite:
    return public_site(site.store, site.survey, site.folder)


def test_only_real_reports_of_closed_epochs_are_there(site: Site, public: PublicSite) -> None:
    assert public.shown == ("site",)
    told = json.loads(public.files["questions/site.json"])
    assert (told["reports"], told["simulated"]) == (4_000, 0)
    assert told["epochs"] == {str(EPOCH): 4_000}
    assert "health" not in told
    # The same numbers as without the simulated and the open reports.
    alone = Site.empty(site.folder / "alone") if (site.folder / "alone").mkdir() is None else site
    asked = question(alone, "site")
    add(alone.store, asked, 4_000)
    (expected,) = estimate(alone.store, asked, Options(folder=alone.folder))
    table = told["sections"][0]["table"]
    assert [row["frequency"] for row in table["rows"]] == pytest.approx(
        [row.frequency for row in expected.rows]
    )
    html = public.files["questions/site.html"].decode()
    assert "4,000 reports" in html
    assert "simulated" not in html
    assert public.left_out == {
        "dark": "simulated reports only",
        "pair": "no epoch is closed yet",
        "nobody": "no reports",
        "over": "no reports",
    }


def test_pages_load_nothing_and_links_lead_somewhere(public: PublicSite, tmp_path: Path) -> None:
    public.write(tmp_path / "site")
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert [page.name for page in pages] == ["index.html", PEOPLE, "site.html"]
    for path in pages:
        text = path.read_text("utf-8")
        page = Page(text)
        assert not page.tags() & {"script", "iframe", "object", "embed", "base", "form"}
        (policy,) = (v["content"] for t, v in page.elements if v.get("http-equiv"))
        assert policy.startswith("default-src 'none'")
        for address in page.addresses:
            if address.startswith(("#", "data:image/svg+xml;base64,")):
                continue
            assert not re.match(r"[a-z]+:|/", address), address
            assert (path.parent / address).resolve().is_file(), address
        if path.name != PEOPLE:
            (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
            assert "unsafe" not in policy
            assert not any("style" in values for _, values in page.elements)
    csv = (tmp_path / "site/questions/site-field-value.csv").read_text("utf-8")
    assert csv.startswith("question,")


def test_strange_strings_stay_text(public: PublicSite) -> None:
    html = public.files["questions/site.html"].decode()
    assert "<script" not in html
    assert "&lt;script&gt;alert" in html
    assert "\x07" not in html


def test_written_again_it_takes_away_what_it_does_not_have(
    site: Site, public: PublicSite, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    public.write(folder)
    less = PublicSite({"index.html": b"new", MANIFEST: b"{}"}, (), {})
    less.write(folder)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        "index.html",
        MANIFEST,
    ]
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    with pytest.raises(InvalidParameter, match="holds no site of ours"):
        public.write(other)
    assert (other / "mine.txt").read_text() == "mine"
    # A manifest that names files elsewhere takes nothing away there.
    (tmp_path / "outside.txt").write_text("mine")
    told = {"deniable": 1, "files": ["../outside.txt", "/etc/none", "a/b/c.html"]}
    (folder / MANIFEST).write_text(json.dumps(told))
    public.write(folder)
    assert (tmp_path / "outside.txt").exists()


def test_what_cannot_be_published_is_said(site: Site, tmp_path: Path) -> None:
    for name, why in (
        ("dark", "simulated reports only"),
        ("pair", "no epoch is closed yet"),
        ("none", "no question 'none'"),
    ):
        with pytest.raises(InvalidParameter, match=why):
            public_site(site.store, site.survey, site.folder, [name])
    empty = Site.empty(tmp_path)
    with pytest.raises(InvalidParameter, match="nothing to publish"):
        public_site(empty.store, empty.survey, empty.folder)


def test_an_epoch_that_late_reports_opened_again_is_not_there(tmp_path: Path) -> None:
    site = Site.empty(tmp_path)
    asked = question(site, "dark")
    add(site.store, asked, 500)
    add(site.store, asked, 400, EPOCH + 1)
    site.store.close_question("dark", asked.version, EPOCH + 1)
    add(site.store, asked, 3, EPOCH)
    found = public_site(site.store, site.survey, site.folder)
    assert json.loads(found.files["questions/dark.json"])["epochs"] == {str(EPOCH + 1): 400}


def test_the_command_writes_it(site: Site, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    (site.folder / "survey.json").write_bytes(site.survey.published())
    data = site.folder / "data"
    data.mkdir(exist_ok=True)
    named = site.folder / "reports.sqlite3"
    if not (data / named.name).exists():
        for path in site.folder.glob("reports.sqlite3*"):
            (data / path.name).write_bytes(path.read_bytes())
    words = ["publish-results", str(tmp_path / "out"), "--question", "site", "--json"]
    words += ["--survey", str(site.folder / "survey.json"), "--data", str(data)]
    result = CliRunner().invoke(make_app(["publish-results"]), words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["questions"] == ["site"]
    assert (tmp_path / "out" / "index.html").is_file()
