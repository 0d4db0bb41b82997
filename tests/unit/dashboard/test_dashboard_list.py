"""The list answers: one number a question, found by words, from what was computed behind it."""

from __future__ import annotations

import gzip
import json
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.datastructures import QueryParams

from deniable.ask import Options
from deniable.authoring import read_authored
from deniable.dashboard import glances as glances_module
from deniable.dashboard.glances import Glances
from deniable.dashboard.listing import SORTS, Asked, Listing, age_text, listing
from deniable.dashboard.overview import overview
from deniable.dashboard.pages import rendered
from deniable.dashboard.small_charts import small_line
from deniable.errors import InvalidParameter
from deniable.protocol import Question, Survey
from deniable.results.glance import Glance, Point, rounded
from deniable.store import Scope, SqliteStore, Store
from material.dashboards import EPOCH, Page, Site, WatchedStore, add, publish, settled
from material.surveys import asked, categories, survey


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.filled(tmp_path_factory.mktemp("site"))


def answers(site: Site, query: str = "") -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(site.get(f"/{query}", accept="application/json").body)[
        "questions"
    ]
    return told


def test_the_number_of_the_list_is_that_of_the_question(site: Site) -> None:
    settled(site)
    rows = {row["id"]: row for row in answers(site)}
    for name, label in (("dark", "true"), ("site", "common")):
        told = json.loads(site.get(f"/questions/{name}/result.json").body)
        one = next(row for row in told["rows"] if row["value"] == label)
        answer = rows[name]["answer"]
        assert answer["label"] == label
        assert answer["value"] == pytest.approx(one["frequency"], abs=1e-12)
        assert [answer["low"], answer["high"]] == pytest.approx(one["interval"], abs=1e-12)
        value, low, high = rounded(answer["value"], answer["low"], answer["high"])
        text = site.page("/").text
        assert f"{value} {'yes' if name == 'dark' else label} {low} to {high}" in text
    assert len(rows["site"]["answer"]["trend"]) == 2  # of two epochs
    assert "2 epochs: from" in site.get("/").text
    assert rows["nobody"]["answer"] is None
    assert "no answers yet" in site.page("/").text


def test_a_page_waits_for_no_answer_and_says_so(tmp_path: Path) -> None:
    free = threading.Event()
    made: list[str] = []

    def make(_: Store, question: Question, __: Options) -> Glance:
        assert free.wait(30)
        made.append(question.id)
        return Glance("yes", "true", 0.25, 0.2, 0.3, n=1)

    published, store = publish(tmp_path), SqliteStore(tmp_path / "reports.sqlite3")
    for name in ("dark", "pair"):
        one = published.question(name)
        assert one is not None
        add(store, one, 30)
    service = Glances(store, tmp_path, 20, make)

    def look() -> Listing:
        found = overview(store, published)
        return listing(found, service.look(found.questions), Asked())

    for _ in range(3):
        assert look().pending == 2
    assert made == []
    free.set()
    deadline = time.monotonic() + 30
    while look().pending and time.monotonic() < deadline:
        time.sleep(0.01)
    assert look().pending == 0
    assert sorted(made) == ["dark", "pair"]  # once each, though four pages asked for them
    # Another process over the same store computes nothing.
    later = Glances(store, tmp_path, 20, make)
    found = overview(store, published)
    seen = later.look(found.questions)
    assert {kept.glance.value for kept in seen.values()} == {0.25}
    assert {kept.glance.made for kept in seen.values()} == {0.0}  # no moment lies in a store
    assert len(made) == 2
    # More reports: the old answer stands, with its age, until it is out of date.
    one = published.question("dark")
    assert one is not None
    add(store, one, 7)
    row = next(row for row in look().rows if row.summary.question.id == "dark")
    assert row.age.endswith("old, 7 reports ago")
    assert row.glance is not None
    # Deleted reports: nothing is shown that was made of them, here or after a start.
    free.clear()
    store.delete(Scope("dark"))
    add(store, one, 37)
    assert look().pending == 1
    third = Glances(store, tmp_path, 20, lambda *_: Glance(problem="new"))
    seen = third.look(overview(store, published).questions)
    assert one.digest not in seen
    free.set()
    store.close()


@pytest.mark.parametrize("epoch", [EPOCH, EPOCH + 1])
def test_an_answer_whose_reports_were_deleted_meanwhile_is_not_kept(
    epoch: int, tmp_path: Path
) -> None:
    published, store = publish(tmp_path), SqliteStore(tmp_path / "reports.sqlite3")
    one = published.question("dark")
    assert one is not None
    for each in (EPOCH, EPOCH + 1):
        add(store, one, 30, epoch=each)
    deleted = threading.Event()

    def make(_: Store, question: Question, __: Options) -> Glance:
        assert store.delete(Scope("dark", first_epoch=epoch, last_epoch=epoch)) == 30
        deleted.set()
        return Glance("yes", "true", 0.25, 0.2, 0.3, n=60)

    service = Glances(store, tmp_path, 20, make)
    service.look(overview(store, published).questions)
    assert deleted.wait(30)
    deadline = time.monotonic() + 30
    while service._busy and time.monotonic() < deadline:
        time.sleep(0.01)
    assert b"0.25" not in b"".join(data for data in kept_answers(tmp_path))
    store.close()


def kept_answers(folder: Path) -> list[bytes]:
    with closing(sqlite3.connect(folder / "reports.sqlite3")) as connection:
        return [bytes(data) for (data,) in connection.execute("SELECT data FROM counted")]


def test_an_answer_that_is_out_of_date_is_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glances_module, "FRESH", 0.0)
    site = Site.empty(tmp_path)
    one = site.survey.question("dark")
    assert one is not None
    add(site.store, one, 300)
    settled(site)
    add(site.store, one, 200)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        row = next(row for row in answers(site) if row["id"] == "dark")
        if row["whole"]:
            break
        time.sleep(0.05)
    assert row["answer"]["n"] == 500


def test_a_question_that_cannot_be_answered_says_why_and_stops_nobody(tmp_path: Path) -> None:
    def make(_: Store, question: Question, __: Options) -> Glance:
        if question.id == "dark":
            raise InvalidParameter("It needs a list.")
        raise ValueError("a fault of ours")

    published, store = publish(tmp_path), SqliteStore(tmp_path / "reports.sqlite3")
    for name in ("dark", "pair"):
        one = published.question(name)
        assert one is not None
        add(store, one, 30)
    service, told = Glances(store, tmp_path, 20, make), set[str]()
    deadline = time.monotonic() + 30
    while len(told) < 2 and time.monotonic() < deadline:
        found = service.look(overview(store, published).questions)
        told = {kept.glance.problem for kept in found.values()}
    assert told == {"It needs a list.", "This could not be computed; its page says more."}
    store.close()


def test_questions_are_found_filtered_and_sorted_without_a_script(site: Site) -> None:
    settled(site)

    def ids(query: str) -> list[str]:
        return [row["id"] for row in answers(site, query)]

    assert ids("?q=DARK+anew") == ["dark"]
    assert ids("?q=red") == ["pair"]  # its leading answer
    assert ids("?kind=boolean") == ["dark", "nobody", "over"]
    assert ids("?state=ended") == ["over"]
    assert ids("?state=refused+some") == ["site"]
    assert ids("?state=without+reports") == ["nobody", "over"]
    assert ids("?owner=nobody") == []
    assert ids("?sort=reports")[:3] == ["site", "pair", "dark"]
    assert ids("?sort=name") == ["dark", "nobody", "over", "pair", "site"]
    for sort in SORTS:
        assert len(ids(f"?sort={sort}")) == 5
    page = site.page("/?q=dark&kind=boolean")
    assert "1 of 5 questions." in page.text
    assert ("input", {"id": "q", "name": "q", "type": "search", "value": "dark"}.items()) in [
        (tag, {k: v for k, v in values.items() if k != "maxlength"}.items())
        for tag, values in page.elements
    ]
    assert "No question is like that." in site.page("/?q=%3Cscript%3E+zebra").text
    assert site.get("/?sort=colour").status == 404


def many(folder: Path, number: int) -> Survey:
    """Return a survey of many questions, in groups."""
    kinds = ('"boolean"', categories("red", "green", "blue"))
    blocks = [
        asked(
            f"area{i % 20:02}.question-{i:03}",
            kinds[i % 2],
            description=f"What do people say about subject {i * 7919 % 1000} of this product?",
        )
        for i in range(number)
    ]
    (folder / "survey.toml").write_text(survey(*blocks))
    return read_authored(folder / "survey.toml").require()


def test_five_hundred_questions_are_small_and_in_groups(tmp_path: Path) -> None:
    published, store = many(tmp_path, 500), WatchedStore(tmp_path / "reports.sqlite3")
    rng = np.random.default_rng(7)

    def trend() -> tuple[Point, ...]:
        shares = rng.random(12)
        return tuple(Point(EPOCH + i, s, s - 0.02, s + 0.03) for i, s in enumerate(shares))

    found = overview(store, published)
    found = replace(
        found,
        questions=tuple(
            replace(
                one, reports={EPOCH + i: int(n) for i, n in enumerate(rng.integers(1e6, size=12))}
            )
            for one in found.questions
        ),
    )
    kept = {
        one.question.digest: glances_module.Kept(
            Glance(
                "leading",
                f"answer {i}",
                *(float(s) for s in rng.random(3)),
                bars=tuple((f"answer {i} {k}", float(s)) for k, s in enumerate(rng.random(5))),
                trend=trend(),
                n=one.n,
            ),
            one.n,
            one.stamps,
        )
        for i, one in enumerate(found.questions)
    }
    shown = Asked.of(QueryParams(""))
    listed = listing(found, kept, shown)
    assert len(listed.groups) == 20
    assert [name for name, _ in listed.groups][:2] == ["area00", "area01"]
    assert all(len(rows) == 25 for _, rows in listed.groups)
    told = {"overview": found, "listing": listed, "asked": shown, "sorts": SORTS}
    html = rendered("index.html", "", **told)
    assert len(gzip.compress(html, 6)) <= 150_000
    page = Page(html.decode())
    assert sum(tag == "svg" for tag, _ in page.elements) == 1_000
    assert store.reads == 0
    store.close()


def test_a_page_is_packed_for_who_takes_it(site: Site) -> None:
    settled(site)
    plain = site.get("/")
    packed = site.get("/", encoding="br, gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert b"<h1>" in gzip.decompress(packed.body)
    assert int(packed.headers["content-length"]) == len(packed.body) < len(plain.body) / 2
    assert packed.headers["vary"] == "Accept, Accept-Encoding"


def test_numbers_have_the_digits_that_their_interval_leaves() -> None:
    assert rounded(0.333, 0.3261, 0.3399) == ("33%", "32.6%", "34.0%")
    assert rounded(0.33333, 0.3325, 0.3342) == ("33.3%", "33.25%", "33.42%")
    assert rounded(0.3, 0.0, 0.9) == ("30%", "0%", "90%")
    assert rounded(0.0, -0.0001, 0.0001) == ("0.00%", "-0.010%", "0.010%")
    assert rounded(float("nan"), 0.0, 1.0) == ("n/a", "n/a", "n/a")
    assert rounded(16.2, 8.0, float("inf"), share=False) == ("16", "8.0", "no bound")
    assert rounded(1234.5, 1200.0, 1300.0, share=False) == ("1,234", "1,200", "1,300")


def test_ages_and_small_lines() -> None:
    assert [age_text(s) for s in (0, 1, 59, 3_599, 3_600, 172_800)] == [
        "0 seconds",
        "1 second",
        "59 seconds",
        "59 minutes",
        "1 hour",
        "2 days",
    ]
    flat = Glance("yes", "true", 0.5, 0.5, 0.5, trend=(Point(1, 0.5, 0.5, 0.5),) * 1)
    assert small_line(flat) == ""
    open_end = Point(3, 4.0, 2.0, float("inf"))
    line = small_line(Glance("median", "median", 4.0, trend=(Point(1, 3.0, 2.0, 5.0), open_end)))
    assert "inf" not in line
    assert "nan" not in line


def test_a_glance_is_the_same_after_the_store() -> None:
    glance = Glance("yes", "true", 0.5, float("nan"), 1.0, bars=(("a", 0.1),), n=3, made=2.0)
    glance = replace(glance, trend=(Point(1, 0.1, 0.0, float("inf")),))
    told = json.loads(json.dumps(glance.as_json(), allow_nan=False))
    again = Glance.from_json(told)
    assert again.as_json() == glance.as_json()
    assert (again.bars, again.n, again.made) == (glance.bars, 3, 2.0)
