"""The page of a question over time, by segment, and as a curve."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from starlette.applications import Starlette

from deniable.ask import Options, estimate
from deniable.authoring import read_authored
from deniable.dashboard import dashboard_routes
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.records import join_records
from deniable.protocol import Survey
from deniable.protocol.segments import combination_text
from deniable.results.table.text import percent
from deniable.store import Batch
from material.dashboards import EPOCH, Page, Site, WatchedStore

SCHEMA = Path(__file__).parents[3] / "spec/schemas/table.json"
SURVEY = """
name = "Views"
owner = "us"
people = 1000000
[[segments]]
name = "arm"
values = ["old", "new"]
[[questions]]
id = "size"
description = "How large?"
expires = 2030-12-31
repeat = "epoch"
segments = ["arm"]
domain = { type = "numbers", edges = [1, 2, 4] }
mechanism = "krr"
parameters = { epsilon = 2.0 }
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("views")
    (folder / "survey.toml").write_text(SURVEY)
    survey = Survey.from_published(read_authored(folder / "survey.toml").require().published())
    store, rng = WatchedStore(folder / "reports.sqlite3"), np.random.default_rng(2)
    asked = survey.questions[0]
    mechanism = mechanism_for(asked.fields[0].parameters)
    for epoch in range(3):
        for arm, people in (("old", 900), ("new", 700), ("(other)", 3)):
            codes = rng.choice(4, people, p=[0.7 - 0.2 * epoch, 0.1, 0.1, 0.1 + 0.2 * epoch])
            reports = join_records(asked, {"value": mechanism.simulate(codes, rng)})
            text = combination_text({"arm": arm})
            batch = Batch(asked.id, 1, asked.digest, EPOCH + epoch, False, text)
            store.append_records(batch, reports, asked.record_size)
    app = Starlette(routes=dashboard_routes(store, survey, survey_folder=folder))
    return Site(folder, survey, store, app)


def test_a_page_has_a_section_over_time_by_segment_and_a_curve(site: Site) -> None:
    text = site.get("/questions/size").text
    for title in ("Mean and quantiles", "Median over time", "Over time", "By arm", "Cumulative"):
        assert f">{title}</h2>" in text
    assert "The shares change over these epochs" in text
    assert isinstance(site.page("/questions/size"), Page)
    one = site.get(f"/questions/size?epoch={EPOCH}").text
    assert ">Over time</h2>" not in one


@pytest.mark.parametrize("by", ["epoch", "arm", "cumulative", "numbers-epoch"])
def test_every_view_is_a_picture_and_a_file(site: Site, by: str) -> None:
    for look in ("", "&theme=dark&size=narrow"):
        picture = site.get(f"/questions/size/view.svg?by={by}{look}")
        assert picture.status == 200
        assert picture.body.startswith(b"<svg")
    told = json.loads(site.get(f"/questions/size/view.json?by={by}").body)
    jsonschema.validate(told, json.loads(SCHEMA.read_text()))
    assert told["n"] == 3 * 1_603
    assert site.get(f"/questions/size/view.csv?by={by}").status == 200


def test_small_groups_have_no_name_on_a_page(site: Site) -> None:
    told = json.loads(site.get("/questions/size/view.json?by=arm").body)
    sizes = {group["arm"]: group["n"] for group in told["groups"]}
    # Three others are too few, and the next smallest joins them in every epoch.
    assert sizes == {"old": 2_700, "(small)": 2_109}


@pytest.mark.parametrize("wrong", ["by=country", "field=no&by=epoch", "by=epoch&theme=pink"])
def test_other_views_are_not_found(site: Site, wrong: str) -> None:
    assert site.get(f"/questions/size/view.svg?{wrong}").status == 404


def test_numbers_are_a_table_without_a_picture(site: Site) -> None:
    told = json.loads(site.get("/questions/size/view.json?by=numbers").body)
    assert [row["value"] for row in told["rows"]][:3] == ["mean", "lower quartile", "median"]
    assert site.get("/questions/size/view.svg?by=numbers").status == 404
    assert site.get("/questions/size/view.png?by=numbers").status == 404
    text = site.page("/questions/size").text
    assert "The median is " in text


def marks(page: Page) -> list[str]:
    return [v["aria-label"] for tag, v in page.elements if tag == "g" and v.get("tabindex") == "0"]


def test_every_mark_says_its_value_and_can_be_focused(site: Site) -> None:
    told = json.loads(site.get("/questions/size/view.json?by=epoch").body)
    found = marks(site.page("/questions/size"))
    first = told["rows"][0]
    errors = sorted(row["std_error"] for row in told["rows"])
    typical = (errors[5] + errors[6]) / 2
    low, high = (percent(end, typical) for end in first["interval"])
    words = f"{first['value']}, 4 Oct 2024: {percent(first['frequency'], typical)}, {low} to {high}"
    assert words in found
    # Bars of all bins, medians and means, shares of each epoch, two arms, the edges of the curve.
    assert len(found) >= 4 + 4 * 3 + 2 * 4 + 3


def test_two_periods_stand_side_by_side_with_a_test(site: Site) -> None:
    query = f"by=epoch&one={EPOCH}&other={EPOCH + 2}"
    page = site.page(f"/questions/size?{query}")
    assert "4 Oct 2024 beside 6 Oct 2024" in page.text
    told = json.loads(site.get(f"/questions/size/beside.json?{query}").body)
    jsonschema.validate(told, json.loads(SCHEMA.read_text()))
    assert {row["epoch"] for row in told["rows"]} == {EPOCH, EPOCH + 2}
    assert told["n"] == 2 * 1_603
    assert told["change"]["p_value"] < 0.01
    assert any(mark.startswith("< 1, 2024-10-04: ") for mark in marks(page))
    for wrong in ("by=epoch&one=1&other=2", "by=no&one=a"):
        assert site.get(f"/questions/size?{wrong}").status == 404


def test_two_ranges_of_epochs_stand_side_by_side(site: Site) -> None:
    asked = f"by=epoch&one={EPOCH}-{EPOCH + 1}&other={EPOCH + 2}"
    told = json.loads(site.get(f"/questions/size/beside.json?{asked}").body)
    jsonschema.validate(told, json.loads(SCHEMA.read_text()))
    assert told["n"] == 3 * 1_603
    assert told["beside"] == [f"{EPOCH}-{EPOCH + 1}", f"{EPOCH + 2}"]
    sizes = {group["period"]: group["n"] for group in told["groups"]}
    assert sizes == {"2024-10-04 to 2024-10-05": 2 * 1_603, "2024-10-06": 1_603}
    # The shares of a range are those of an estimate of its epochs, the whole of one epoch's those
    # of its page.
    options = Options(first_epoch=EPOCH, last_epoch=EPOCH + 1, threads=1)
    (whole,) = estimate(site.store, site.survey.questions[0], options)
    rows = [row for row in told["rows"] if row["period"] == "2024-10-04 to 2024-10-05"]
    assert [row["frequency"] for row in rows] == list(whole.column("frequency"))
    assert [row["interval"] for row in rows] == [list(row.interval) for row in whole.rows]
    assert "The answers differ by period (p < 0.0001, all answers together)" in told["what"][0]
    page = site.page(f"/questions/size?{asked}")
    assert "4 Oct 2024 – 5 Oct 2024 beside 6 Oct 2024" in page.text
    assert any(mark.startswith("< 1, 2024-10-04 to 2024-10-05: ") for mark in marks(page))


def test_the_form_asks_for_the_same_ranges_as_an_address(site: Site) -> None:
    form = f"by=epoch&one={EPOCH}&one_until={EPOCH + 1}&other={EPOCH + 2}&other_until="
    short = f"by=epoch&one={EPOCH}-{EPOCH + 1}&other={EPOCH + 2}"
    page = site.page(f"/questions/size?{form}")
    names = [v.get("name") for tag, v in page.elements if tag == "select"]
    assert [name for name in names if name in ("one", "one_until", "other", "other_until")] == [
        *("one", "one_until", "other", "other_until"),
        *("one", "other"),  # those of the segment
    ]
    chosen = [v["value"] for tag, v in page.elements if tag == "option" and "selected" in v]
    assert chosen[:3] == [str(EPOCH), str(EPOCH + 1), str(EPOCH + 2)]
    told = [
        json.loads(site.get(f"/questions/size?{query}", accept="application/json").body)["sections"]
        for query in (form, short, short.replace(f"={EPOCH + 2}", f"={EPOCH + 2}-{EPOCH + 9}"))
    ]
    assert told[0][-1]["name"] == "beside-value"
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (f"{EPOCH}", f"{EPOCH}", "overlap"),
        (f"{EPOCH}-{EPOCH + 1}", f"{EPOCH + 1}-{EPOCH + 2}", "overlap"),
        (f"{EPOCH + 1}-{EPOCH}", f"{EPOCH + 2}", f"Ask for {EPOCH}-{EPOCH + 1}."),
        (f"{EPOCH}-", f"{EPOCH + 2}", "a range such as 10-20"),
        ("yesterday", f"{EPOCH + 2}", "a range such as 10-20"),
        ("-1", f"{EPOCH + 2}", "a range such as 10-20"),
        (f"{EPOCH}", "", "a range such as 10-20"),
    ],
)
def test_a_wrong_range_is_refused_and_says_why(site: Site, one: str, other: str, why: str) -> None:
    query = f"by=epoch&one={one}&other={other}"
    page = site.get(f"/questions/size?{query}")
    assert page.status == 400
    assert why in Page(page.text).text
    for path in ("/questions/size", "/questions/size/beside.csv"):
        told = site.get(f"{path}?{query}", accept="application/json")
        assert told.status == 400
        problem = json.loads(told.body)
        assert problem["reason"] == "query"
        assert why in problem["detail"]


def test_a_range_without_reports_is_not_found(site: Site) -> None:
    answer = site.get(f"/questions/size?by=epoch&one=10-20&other={EPOCH}")
    assert answer.status == 404
    assert f"no reports of the period 10-20, but of {EPOCH}-{EPOCH + 2}." in answer.text


def test_two_values_of_a_segment_stand_side_by_side(site: Site) -> None:
    # One of the two is too few people in every epoch: that is said, and nothing of it is shown.
    page = site.page("/questions/size?by=arm&one=old&other=new")
    assert "Name two different ones that have reports. There are: old, (small)." in page.text
