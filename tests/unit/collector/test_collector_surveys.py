"""Several surveys behind one address, and a survey that is taken again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from deniable.collector import create_app, hash_token, new_token
from deniable.collector.headers import inner_path
from deniable.collector.load import Load
from deniable.collector.surveys import Surveys
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol import Survey
from deniable.store import SqliteStore
from deniable.store.place import place_of
from material.collector import (
    JSON,
    SURVEY,
    TODAY,
    InProcess,
    body,
    collector,
    question,
    report,
    settings,
    yes_no,
)

TOKEN = new_token()
OTHER = Survey("other", "team", (question("dark", yes_no()),))


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[dict[str, SqliteStore]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(SqliteStore(tmp_path / "data" / name / "s"))
            for name in ("shop", "game")
        }


def several(folder: Path, stores: dict[str, SqliteStore], **changes: Any) -> Surveys:
    shared = settings(folder, **changes)
    asked = {"shop": SURVEY, "game": OTHER}
    apps = [
        create_app(
            settings(folder, name=name, ring=shared.ring, **changes),
            store,
            asked[name].published(),
            today=lambda: TODAY,
        )
        for name, store in stores.items()
    ]
    return Surveys(shared, apps)


def test_each_survey_has_its_own_store_and_answers(
    tmp_path: Path, stores: dict[str, SqliteStore]
) -> None:
    with InProcess(several(tmp_path, stores).app) as app:
        sent = [body(report(1), report(2))]
        assert app.call("POST", "/s/shop/v1/reports", JSON, sent).json["accepted"] == 2
        refused = app.call("POST", "/s/game/v1/reports", JSON, sent).json
        assert [each["reason"] for each in refused["problems"]] == ["unknown_question"] * 2
        assert app.get("/s/shop/v1/survey").body == SURVEY.published()
        assert app.get("/s/game/v1/survey").body == OTHER.published()
        assert app.get("/s/shop/v1/counters").json["totals"] == {"accepted": 2}
        assert app.get("/s/game/v1/counters").json["totals"] == {"unknown_question": 2}
        for path in ("/readyz", "/healthz", "/s/shop/readyz", "/openapi.json"):
            assert app.get(path).status == 200
        assert app.call("POST", "/readyz", JSON).status == 405
        for path in ("/v1/survey", "/s/none/v1/survey", "/s/", "/s", "/s/shop", "/s//v1/survey"):
            assert app.get(path).json["reason"] == "not_found", path
        assert app.call("POST", "/v1/reports", JSON, sent).status == 404
        listed = app.get("/").body.decode()
        assert '<a href="s/shop/">shop</a>' in listed
        assert '<a href="s/game/">game</a>' in listed
    assert sum(tally.reports for tally in stores["shop"].tallies()) == 2
    assert stores["game"].tallies() == []


def test_reading_is_guarded_and_foreign_hosts_are_refused(
    tmp_path: Path, stores: dict[str, SqliteStore]
) -> None:
    made = several(tmp_path, stores, analyst_token_hash=hash_token(TOKEN))
    with InProcess(made.app) as app:
        for path in ("/", "/s/shop/v1/counters"):
            answer = app.get(path)
            assert (answer.status, answer.json["reason"]) == (401, "unauthorized")
            assert "Basic" in answer.headers["www-authenticate"]
            assert app.get(path, {"authorization": f"Bearer {TOKEN}"}).status == 200
            assert app.get(path, {"host": "evil.example"}).status == 421
    closed = several(tmp_path, stores, behind_proxy=True)
    with InProcess(closed.app) as app:
        assert app.get("/").status == 403
        assert app.get("/s/shop/v1/counters").status == 403


def test_web_pages_and_lanes_see_the_same_paths_below_a_survey(
    tmp_path: Path, stores: dict[str, SqliteStore]
) -> None:
    assert inner_path("/s/shop/v1/reports") == "/v1/reports"
    assert inner_path("/s/shop/") == "/"
    for path in ("/v1/reports", "/s", "/s/shop", "/shop/v1/reports", "/"):
        assert inner_path(path) == path
    load = Load(web_pages=True)
    for path in ("/v1/reports", "/v1/survey", "/questions/x", "/healthz"):
        assert load.lane(f"/s/shop{path}") is load.lane(path)
        assert load.open_to_pages(f"/s/shop{path}") is load.open_to_pages(path)
    with InProcess(several(tmp_path, stores, cors=True).app) as app:
        page = {**JSON, "origin": "https://www.example.org"}
        answer = app.call("OPTIONS", "/s/shop/v1/reports", page)
        assert (answer.status, answer.headers["access-control-allow-origin"]) == (204, "*")
        sent = app.call("POST", "/s/shop/v1/reports", page, [body(report(1))])
        assert sent.headers["access-control-allow-origin"] == "*"


def test_one_store_that_fails_makes_the_address_not_ready_and_the_others_work(
    tmp_path: Path, stores: dict[str, SqliteStore]
) -> None:
    with InProcess(several(tmp_path, stores).app) as app:
        stores["game"].close()
        answer = app.get("/readyz")
        assert (answer.status, answer.json["reason"]) == (503, "store")
        assert "Of the survey game" in answer.json["detail"]
        assert app.get("/s/shop/readyz").status == 200
        assert app.call("POST", "/s/shop/v1/reports", JSON, [body(report(1))]).status == 200


def test_a_survey_is_added_while_others_are_served(
    tmp_path: Path, stores: dict[str, SqliteStore]
) -> None:
    game = stores.pop("game")
    made = several(tmp_path, stores)
    late = create_app(settings(tmp_path, name="game"), game, OTHER.published())
    with pytest.raises(RuntimeError):
        asyncio.run(made.add(late))
    with InProcess(made.app) as app:
        assert app.get("/s/game/v1/survey").status == 404
        app._runner.run(made.add(late))
        assert app.get("/s/game/v1/survey").body == OTHER.published()
        assert app.get("/s/game/readyz").status == 200


def test_a_survey_is_taken_again_by_the_same_collector(
    tmp_path: Path, stores: dict[str, SqliteStore]
) -> None:
    with collector(tmp_path, stores["shop"]) as app:
        state = app.app.state.collector
        before = app.get("/v1/survey").headers["etag"]
        state.take(OTHER.published())
        assert app.get("/v1/survey").body == OTHER.published()
        assert app.get("/v1/survey").headers["etag"] != before
        assert app.post(body(report(1))).json["problems"][0]["reason"] == "unknown_question"
        assert dict(state._rules().epoch_days) == {("dark", 1): 1}
        with pytest.raises(InvalidSurvey):
            state.take(b"{}")
        assert app.get("/v1/survey").body == OTHER.published()
        state.take(SURVEY.published())
        assert app.post(body(report(1))).json["accepted"] == 1


def test_each_survey_has_a_folder_or_a_schema_of_its_own() -> None:
    assert place_of("data", "shop") == "data/shop"
    assert place_of("postgresql://u@h/db", "a-b") == "postgresql://u@h/db?schema=deniable_a_b"
    address = "postgresql://u@h:5/db?schema=x&sslmode=require"
    assert place_of(address, "shop") == "postgresql://u@h:5/db?sslmode=require&schema=x_shop"
    with pytest.raises(InvalidParameter):
        place_of("postgresql://u:secret@h/db", "shop")
