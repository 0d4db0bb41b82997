"""Every page has its result as JSON at the same address, as the description says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette

from deniable.authoring import read_authored
from deniable.cli.serve import guarded_dashboard
from deniable.collector import Settings, hash_token, new_token
from deniable.collector.openapi import openapi_bytes
from deniable.collector.reasons import Reason
from deniable.dashboard.budget import WINDOWS, BudgetPage
from deniable.dashboard.remedies import REMEDIES, remedy
from deniable.protocol.budget import budget_of
from deniable.protocol.composition import survey_cost
from deniable.protocol.epochs import day_number
from material.dashboards import EPOCH, Site, get, settled
from material.openapi_pages import PAGES
from material.surveys import asked, survey

TABLE = json.loads((Path(__file__).parents[3] / "spec/schemas/table.json").read_text())
ADDRESSES = {
    "/": "/",
    "/health": "/health",
    "/budget": "/budget",
    "/questions/site": "/questions/{id}",
    f"/questions/site?epoch={EPOCH}": "/questions/{id}",
    f"/questions/site?by=epoch&one={EPOCH}&other={EPOCH + 1}": "/questions/{id}",
    "/questions/pair": "/questions/{id}",
    "/questions/nobody": "/questions/{id}",
    "/questions/dark?version=1": "/questions/{id}",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    found = Site.filled(tmp_path_factory.mktemp("site"))
    settled(found)
    return found


def read(site: Site, address: str) -> dict[str, Any]:
    answer = site.get(address, accept="application/json")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    told: dict[str, Any] = json.loads(answer.body)
    return told


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_page_is_json_as_described(site: Site, address: str) -> None:
    told, described = read(site, address), json.loads(openapi_bytes())
    found = described["paths"][ADDRESSES[address]]["get"]["responses"]["200"]
    schema = found["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": described["components"]}).validate(told)
    for section in told.get("sections", ()):
        if section["table"] is not None:
            Draft202012Validator(TABLE).validate(section["table"])
    page = site.get(address)
    assert page.headers["content-type"] == "text/html; charset=utf-8"


def test_all_pages_are_described() -> None:
    assert set(ADDRESSES.values()) == set(PAGES)


def test_the_page_of_a_question_holds_its_tables(site: Site) -> None:
    told = read(site, "/questions/site")
    assert [section["name"] for section in told["sections"]] == [
        "field-value",
        "view-value-epoch",
    ]
    assert told["sections"][0]["table"] == json.loads(site.get("/questions/site/result.json").body)
    assert told["sections"][0]["sentences"][0].endswith("of people like those who take part.")
    assert told["epochs"] == {str(EPOCH): 4_000, str(EPOCH + 1): 1_000}
    pair = read(site, "/questions/pair")
    assert [one["problem"] != "" for one in pair["sections"]] == [False, True, True]


def test_a_problem_is_json_too(site: Site) -> None:
    answer = site.get("/questions/none", accept="application/json")
    assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")


def test_programs_need_the_token_where_people_do(site: Site, tmp_path: Path) -> None:
    token = new_token()
    (tmp_path / "survey.json").write_bytes(site.survey.published())
    settings = Settings(
        data=str(tmp_path),
        survey_path=tmp_path / "survey.json",
        analyst_token_hash=hash_token(token),
    )
    app = Starlette(routes=[guarded_dashboard(settings, site.store, site.survey)])
    for address in ADDRESSES:
        refused = asyncio.run(get(app, address, "application/json"))
        assert refused.status == 401
        assert "questions" not in json.loads(refused.body)
        allowed = asyncio.run(get(app, address, "application/json", token=token))
        assert allowed.status == 200


def test_every_reason_has_a_remedy() -> None:
    assert set(REMEDIES) == set(Reason)
    assert remedy("of_another_version") == "Ask the version that wrote it."
    assert remedy("too_late").endswith("reach this address.")


def test_health_says_what_to_do_and_which_versions_report(site: Site) -> None:
    page = site.page("/health")
    for name in ("too_late", "schema"):
        assert remedy(name) in page.text
    assert "version 2: 300 reports (100%)" in page.text
    row = next(row for row in page.rows if row[0] == "site" and row[1] == "2")
    assert row[3].startswith("5 Oct 2024")


def test_the_budget_says_what_does_not_fit_for_whom(tmp_path: Path) -> None:
    questions = [
        asked(f"q{i}", parameters=f"epsilon = {epsilon}", more=more)
        for i, (epsilon, more) in enumerate(
            [(6.0, ""), (6.0, ""), (6.0, ""), (1.0, 'repeat = "epoch"\n')]
        )
    ]
    (tmp_path / "survey.toml").write_text(survey(*questions))
    published = read_authored(tmp_path / "survey.toml").require()
    shown = BudgetPage.of(published)
    # Three of 6 and one of 1 against 16: two of the three fit, whatever the order.
    assert [one.line.left_out for one in shown.lines] == pytest.approx([1 / 3] * 3 + [0.0])
    assert [one.line.question for one in shown.left_out] == ["q0", "q1", "q2"]
    for days, told in zip(WINDOWS, shown.windows, strict=True):
        assert told == pytest.approx(survey_cost(published.asked, days) / 1e6)
    assert shown.windows[-1] == pytest.approx(18 + 365)
    told = shown.as_json()
    assert told["fits"] is False
    assert told["questions"] == budget_of(published, day_number()).as_json()["questions"]


def test_the_budget_page_is_computed_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    text = site.page("/budget").text
    assert "epsilon" in text
    monkeypatch.setattr("deniable.dashboard.budget.budget_of", lambda *_: pytest.fail("again"))
    assert site.page("/budget").text == text
    row = next(row for row in site.page("/budget").rows if row and row[0] == "site")
    assert row[1] == "6"  # for ever: paid once
