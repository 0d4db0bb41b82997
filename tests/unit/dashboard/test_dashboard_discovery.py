"""The page of strings that nobody listed: the list, and the tree as a picture."""

from __future__ import annotations

import numpy as np
import pytest
from starlette.applications import Starlette

from deniable.authoring import read_authored
from deniable.dashboard import dashboard_routes
from deniable.mechanisms import mechanism_for
from deniable.store import Batch
from material.dashboards import EPOCH, Site, WatchedStore
from material.surveys import asked, survey, unlisted

SURVEY = survey(
    asked(
        "word",
        unlisted("<>abcdefgh"),
        "prefixes",
        "epsilon = 5.0, cohorts = 4, lengths = [2, 4, 6]",
        "Which word?",
    ),
    head="people = 20000\n",
)
WORDS = ["abba", "abbaca", "<b>"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("grown")
    (folder / "survey.toml").write_text(SURVEY)
    survey = read_authored(folder / "survey.toml").require()
    (question,) = survey.questions
    store, rng = WatchedStore(folder / "reports.sqlite3"), np.random.default_rng(2)
    codes = rng.choice(3, size=20_000, p=[0.5, 0.3, 0.2])
    records = mechanism_for(question.fields[0].parameters).simulate(codes, rng, WORDS).tobytes()
    store.append_records(Batch("word", 1, question.digest, EPOCH), records, question.record_size)
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=folder))
    return Site(folder, survey, store, app)


def test_the_page_lists_what_was_found_and_shows_the_tree(site: Site) -> None:
    page = site.page("/questions/word")
    assert [row[0] for row in page.rows if row and row[0] in WORDS] == WORDS
    (tree,) = (values for tag, values in page.elements if values.get("class") == "tree")
    assert "lead to 3 strings. Most frequent: " in tree["aria-label"]
    html = site.get("/questions/word").text
    assert html.count("<b>") == html.count("</b>")  # the word <b> is text
    assert "&lt;b&gt;" in html
    assert "<script" not in html
    assert any("Detection limit" in word for word in page.words)


@pytest.mark.parametrize("query", ["", "?theme=dark&size=narrow", "?field=value&n=20000"])
def test_the_picture_of_the_tree(site: Site, query: str) -> None:
    answer = site.get(f"/questions/word/tree.svg{query}")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "abbaca" in answer.text
    assert "<b>" not in answer.text


@pytest.mark.parametrize("query", ["?theme=pink", "?size=huge", "?field=other", "?epoch=7"])
def test_no_such_picture(site: Site, query: str) -> None:
    assert site.get(f"/questions/word/tree.svg{query}").status == 404


@pytest.mark.parametrize("kind", ["csv", "json", "svg"])
def test_files(site: Site, kind: str) -> None:
    answer = site.get(f"/questions/word/result.{kind}")
    assert answer.status == 200
    assert "abbaca" in answer.text
