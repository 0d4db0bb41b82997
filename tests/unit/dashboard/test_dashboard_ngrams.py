"""The page of strings put together from n-grams: the list and its notes, without a tree."""

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
    asked("word", unlisted("<>abcdefgh"), "ngrams", "epsilon = 6.0, m = 16", "Which word?")
)
WORDS = ["abba", "abbaca", "<b>"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("joined")
    (folder / "survey.toml").write_text(SURVEY)
    survey = read_authored(folder / "survey.toml").require()
    (question,) = survey.questions
    store, rng = WatchedStore(folder / "reports.sqlite3"), np.random.default_rng(2)
    codes = rng.choice(3, size=20_000, p=[0.5, 0.3, 0.2])
    records = mechanism_for(question.fields[0].parameters).simulate(codes, rng, WORDS).tobytes()
    store.append_records(Batch("word", 1, question.digest, EPOCH), records, question.record_size)
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=folder))
    return Site(folder, survey, store, app)


def test_the_page_lists_what_was_found(site: Site) -> None:
    page = site.page("/questions/word")
    assert [row[0] for row in page.rows if row and row[0] in WORDS] == WORDS
    assert not any(values.get("class") == "tree" for _, values in page.elements)
    html = site.get("/questions/word").text
    assert "<script" not in html
    assert any("Common n-grams per place" in word for word in page.words)


def test_there_is_no_tree(site: Site) -> None:
    assert site.get("/questions/word/tree.svg").status == 404
