"""The pages say what the store holds, in every state, and nothing in them can act."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette

from deniable.dashboard import dashboard_routes
from deniable.results.glance import rounded
from deniable.results.labels import printable
from deniable.results.table.text import p_text, percent
from material.dashboards import CANDIDATES, EPOCH, HOSTILE, Page, Site

PAGES = (
    "/",
    "/health",
    "/questions/site",
    f"/questions/site?epoch={EPOCH}",
    "/questions/dark",
    "/questions/dark?version=1",
    "/questions/pair",
    "/questions/nobody",
    "/questions/over",
)
SCHEMAS = Path(__file__).parents[3] / "spec" / "schemas"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.filled(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.empty(tmp_path_factory.mktemp("empty"))


def test_the_list_has_every_question_with_its_numbers(site: Site) -> None:
    page = site.page("/")
    for text in (
        "Test & <b>survey</b>",
        "5,800 reports to 5 questions. Asked by us <i>.",
        "5,000 reports",
        "ε 3, us <i>",
        "2 refused",
        "2 too late",
        "4 schema",
        "ended 31 Jan 2020",
        "until 31 Dec 2030",
        "silent since then",
    ):
        assert text in page.text
    links = {address for address in page.addresses if address.startswith("/questions/")}
    assert links == {f"/questions/{q}" for q in ("site", "dark", "pair", "nobody", "over")}


def test_a_question_shows_the_numbers_of_its_result(site: Site) -> None:
    read = json.loads(site.get("/questions/site/result.json").body)
    # The table over time, which begins with its days, stands below.
    rows = site.page("/questions/site").rows[1 : len(CANDIDATES) + 1]
    assert len(rows) == len(read["rows"]) == len(CANDIDATES)
    errors = sorted(row["std_error"] for row in read["rows"])
    typical = errors[len(errors) // 2]
    for shown, row in zip(rows, read["rows"], strict=True):
        low, high = row["interval"]
        assert shown == [
            printable(row["value"]),
            percent(row["frequency"], typical),
            percent(row["std_error"], typical),
            f"{percent(low, typical)} to {percent(high, typical)}",
            p_text(row["p_value"]),
            "Holm" if row["holm"] else "Storey" if row["storey"] else "",
        ]


def test_a_question_says_what_its_numbers_mean_and_what_was_promised(site: Site) -> None:
    text = site.page("/questions/site").text
    answer = json.loads(site.get("/questions/site/result.json").body)["rows"][0]
    value, low, high = rounded(answer["frequency"], *answer["interval"])
    assert (
        f"{value} answer “common”, the most frequent answer: between {low} and {high} of people "
        "like those who take part."
    ) in text
    assert "stand out from zero" in text or "stands out from zero" in text
    assert "What it cannot say" in text
    assert "What people were promised" in text
    assert "One report has epsilon" in text
    assert "5,000 reports accepted, 3 duplicates, 2 refused. 2 too late" in text


def test_each_field_has_a_section_and_a_missing_list_is_said(site: Site) -> None:
    page = site.page("/questions/pair")
    sections = [values for tag, values in page.elements if tag == "section"]
    assert [s["aria-labelledby"] for s in sections][:2] == ["field-colour", "field-word"]
    assert "needs candidates to test for" in page.text
    assert "red" in page.text


def test_an_epoch_can_be_chosen(site: Site) -> None:
    everything, one = (
        json.loads(site.get(f"/questions/site/result.json{query}").body)
        for query in ("", f"?epoch={EPOCH + 1}")
    )
    assert (everything["n"], one["n"]) == (5_000, 1_000)
    page = site.page(f"/questions/site?epoch={EPOCH + 1}")
    options = [values for tag, values in page.elements if tag == "option"]
    assert [o["value"] for o in options] == ["", str(EPOCH + 1), str(EPOCH)]
    assert "selected" in options[1]
    assert any(f"epoch={EPOCH + 1}" in a for a in page.addresses if "result.csv" in a)
    assert "There are no reports of this epoch" in site.page("/questions/site?epoch=5").text


def test_versions_are_kept_apart(site: Site) -> None:
    newest = site.page("/questions/dark")
    assert "asked anew" in newest.text
    assert "version 2" in newest.text
    assert "/questions/dark?version=1" in newest.addresses
    older = site.page("/questions/dark?version=1")
    assert "No reports yet" in older.text


def later(site: Site, folder: Path, earlier: bool = True) -> Site:
    """The same store under a survey that raised `dark`, and withdrew `pair` and `nobody`."""
    dark = site.survey.question("dark")
    assert dark is not None
    gone = [q for q in site.survey.questions if q.id in ("dark", "pair", "nobody")]
    survey = replace(
        site.survey,
        questions=(replace(dark, version=3),),
        earlier=tuple(sorted(gone, key=lambda q: (q.id, q.version))) if earlier else (),
    )
    app = Starlette(routes=dashboard_routes(site.store, survey, survey_folder=site.folder))
    return Site(folder, survey, site.store, app)


def test_no_reports_of_the_newest_version_is_said_with_the_older_ones(
    site: Site, tmp_path: Path
) -> None:
    raised = later(site, tmp_path)
    page = raised.page("/questions/dark")
    assert "There are no reports of version 3, but of" in page.text
    assert "version 2, which has 300" in page.text
    assert "/questions/dark?version=2" in page.addresses
    older = raised.page("/questions/dark?version=2")
    assert "This is an earlier version" in older.text
    assert "No reports yet" not in older.text
    assert any("version=2" in address for address in older.addresses if "result.csv" in address)
    assert raised.get("/questions/dark/result.json?version=2").status == 200


def test_withdrawn_questions_stay_while_they_have_reports(site: Site, tmp_path: Path) -> None:
    raised = later(site, tmp_path)
    index = raised.page("/")
    assert "/questions/pair" in index.addresses
    assert "/questions/nobody" not in index.addresses  # withdrawn before anybody answered
    assert "/questions/dark?version=2" in index.addresses
    assert "no answers yet" in index.text
    assert "This question was withdrawn." in raised.page("/questions/pair").text


def test_reports_that_the_survey_cannot_read_are_named(site: Site, tmp_path: Path) -> None:
    bare = later(site, tmp_path, earlier=False)
    text = bare.page("/").text
    assert "reports that this survey cannot read" in text
    assert "of pair version 1" in text
    assert "cannot read" not in site.page("/").text
    assert bare.get("/questions/dark?version=2").status == 404


def test_health_names_reasons_and_their_meaning(site: Site) -> None:
    page = site.page("/health")
    assert "5,800" in page.text
    assert "no known question" in page.text
    rows = [row[:3] for row in page.rows]
    assert ["too late", "2", "The epoch is over for too long."] in rows
    site.store.count({("site", "of_another_version"): 1})
    assert "of another version" in site.page("/health").text


def test_empty_states_say_what_to_do_next(empty: Site) -> None:
    index = empty.page("/").text
    assert "No reports yet" in index
    assert "deniable simulate site" in index
    question = empty.page("/questions/pair").text
    assert 'client.record("pair", {"colour": ..., "word": ...})' in question
    assert "Raise its expires" in empty.page("/questions/over").text
    assert "Nothing was accepted yet" in empty.page("/health").text


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_inert_and_load_only_from_here(site: Site, path: str) -> None:
    answer = site.get(path)
    assert answer.status == 200
    page = Page(answer.text)
    assert not page.tags() & {"iframe", "object", "embed", "style", "base"}
    scripts = [values for tag, values in page.elements if tag == "script"]
    # The list has one file of ours, and works without it; no other page has any.
    assert [one["src"].partition("?")[0] for one in scripts] == (
        ["/assets/list.js"] if path == "/" else []
    )
    assert "<script>" not in answer.text
    assert all(a.startswith(("/", "#")) and not a.startswith("//") for a in page.addresses)
    for _, values in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in values)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self';")
    assert "unsafe" not in policy
    assert ("script-src 'self'" in policy) == (path == "/")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible(site: Site, path: str) -> None:
    page = site.page(path)
    ids = [values["id"] for _, values in page.elements if "id" in values]
    assert len(ids) == len(set(ids))
    assert sum(tag == "h1" for tag, _ in page.elements) == 1
    for tag, values in page.elements:
        if tag == "img":
            assert "alt" in values
        if tag == "th":
            assert values["scope"] in ("row", "col")
        if tag in ("select", "input") and values.get("type") != "hidden":
            assert ("label", {"for": values["id"]}) in page.elements
        if "aria-labelledby" in values:
            assert values["aria-labelledby"] in ids
    assert ("html", {"lang": "en"}) in page.elements


def test_hostile_strings_are_shown_as_text(site: Site) -> None:
    answer = site.get("/questions/site")
    page = Page(answer.text)
    assert HOSTILE in page.text
    assert r"bell \x07 \u202e" in page.text
    assert "Hostile <script>alert('d')</script> \\x07 description" in page.text
    assert "\x07" not in answer.text
    assert "\u202e" not in answer.text


def test_every_picture_and_file_of_a_page_is_there(site: Site) -> None:
    page = site.page("/questions/pair")
    files = {a for a in page.addresses if "/result." in a}
    assert len(files) == 6  # of one field: the other has no candidates
    permanent = {f"/questions/pair/chart.svg?field=colour&theme={t}" for t in ("light", "dark")}
    for address in files | permanent:
        assert site.get(address).status == 200, address
    for address in (a for a in page.addresses if "/assets/" in a):
        assert site.get(address).status == 200, address


@pytest.mark.parametrize(
    ("name", "kind", "start"),
    [
        ("csv", "text/csv; charset=utf-8", b"question,"),
        ("json", "application/json", b"{"),
        ("parquet", "application/vnd.apache.parquet", b"PAR1"),
        ("png", "image/png", b"\x89PNG"),
        ("svg", "image/svg+xml", b"<svg"),
        ("html", "text/html; charset=utf-8", b"<!DOCTYPE html>"),
    ],
)
def test_results_can_be_downloaded(site: Site, name: str, kind: str, start: bytes) -> None:
    answer = site.get(f"/questions/dark/result.{name}", accept="*/*")
    assert answer.status == 200
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"] == f'attachment; filename="dark.{name}"'
    assert answer.body.startswith(start)
    pair = site.get(f"/questions/pair/result.{name}?field=colour")
    assert pair.headers["content-disposition"] == f'attachment; filename="pair-colour.{name}"'


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/questions",
        "/questions/none",
        "/questions/none/result.csv",
        "/questions/dark?version=9",
        "/questions/dark?version=x",
        "/questions/dark?epoch=-1",
        "/questions/dark?epoch=99999999999999999999",
        "/questions/dark/result.exe",
        "/questions/dark/result.json?field=none",
        "/questions/pair/result.json",
        "/questions/pair/result.json?field=word",
        "/questions/dark/chart.svg?theme=pink",
        "/questions/dark/chart.svg?size=huge",
        "/assets/none.css",
        "/assets/..%2Fpages.py",
        "/<script>alert(1)</script>",
    ],
)
def test_what_is_not_there_is_said_kindly(site: Site, path: str) -> None:
    page = site.get(path)
    assert page.status == 404
    assert "All questions" in Page(page.text).text
    assert "<script" not in page.text
    problem = site.get(path, accept="*/*")
    assert (problem.status, problem.headers["content-type"]) == (404, "application/problem+json")
    schema = json.loads((SCHEMAS / "problem.json").read_text())
    Draft202012Validator(schema).validate(json.loads(problem.body))


def test_a_store_that_cannot_be_read_is_a_page_and_not_a_crash(tmp_path: Path) -> None:
    site = Site.empty(tmp_path)
    site.store.close()
    for path in tmp_path.glob("reports.sqlite3*"):
        path.unlink()
    answer = site.get("/")
    assert answer.status == 503
    assert "The store cannot be read" in Page(answer.text).text


def test_links_follow_the_prefix_under_which_pages_are_mounted(site: Site) -> None:
    answer = site.get("/questions/site", root_path="/stats")
    assert answer.status == 200
    addresses = [a for a in Page(answer.text).addresses if not a.startswith("#")]
    assert all(address.startswith("/stats/") for address in addresses)


def test_the_style_sheet_may_be_kept_and_pages_ask_for_a_changed_one(site: Site) -> None:
    answer = site.get("/assets/dashboard.css")
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert "max-age" in answer.headers["cache-control"]
    assert re.search(r'href="/assets/dashboard\.css\?[0-9a-f]{12}"', site.get("/").text)
    assert "@import" not in answer.text
    assert "url(" not in answer.text
