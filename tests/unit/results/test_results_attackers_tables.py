"""The second error bar of raw tables: in every form, and wide enough for the attack."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from deniable.ask import Options
from deniable.ask.profiles import Profiles, shares_of
from deniable.authoring import resolve
from deniable.crafted.cells import table_shift
from deniable.crafted.reports_of_cells import crafted_cells
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.protocol import (
    PROFILE_MECHANISMS,
    Attribute,
    Boolean,
    Categories,
    Field,
    Profile,
    ProfileParameters,
    Question,
)
from deniable.results.table import Table, as_csv, as_json, as_text, save
from deniable.testing.ledger import LEDGER

SHARE, PEOPLE = 0.01, 20_000
TRIPS = Profile(
    (
        Attribute("card", Boolean()),
        Attribute("zone", Categories(("inner", "outer", "airport"))),
        Attribute("night", Boolean()),
    )
)
CARD, ZONE = 1, 0
"""The cell that is attacked: card = true in the zone "inner"."""


def reports_of(mechanism: str, rng: np.random.Generator, people: int = PEOPLE) -> Profiles:
    """Return reports of which 1% are crafted to push a cell that nobody is in."""
    parameters = resolve(mechanism, {"epsilon": 1.5, "order": 2}, TRIPS, False)
    assert isinstance(parameters, ProfileParameters)
    field = Field("value", TRIPS, parameters)
    asked = Question("trips", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))
    population = mechanism_of(field, False)
    codes = rng.integers(0, (2, 3, 2), size=(people, 3))
    codes[:, 0] *= codes[:, 1] != ZONE
    reports = population.simulate(codes, rng)
    liars = round(SHARE * people)
    fake = crafted_cells(parameters, (0, 1), (CARD, ZONE), liars, rng)
    reports[:liars] = population.records(fake)
    return Profiles.of(Accumulated(asked, {"value": population.accumulate(reports)}, {1: people}))


def view_of(reports: Profiles, names: list[str], share: float | None = SHARE) -> Table:
    return shares_of(reports, [reports.table(names)], options=Options(crafted=share))


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_the_bar_contains_the_truth(mechanism: str, rng: np.random.Generator) -> None:
    """Nobody is in the cell. Seven more standard deviations are allowed for chance."""
    reports = reports_of(mechanism, rng)
    data = json.loads(as_json(view_of(reports, ["zone", "card"])))
    row = next(r for r in data["rows"] if (r["value_1"], r["value_2"]) == ("inner", "true"))
    (low, high), (narrow, _) = row["crafted_interval"], row["interval"]
    LEDGER.add(1e-11)
    assert low - 7 * row["std_error"] <= 0 <= high + 7 * row["std_error"]
    parameters = reports.mechanism.parameters
    assert narrow - low == pytest.approx(table_shift(parameters, (0, 1), SHARE))


@pytest.fixture(scope="module")
def reports() -> Profiles:
    return reports_of("views", np.random.default_rng(1))


def test_every_form_says_it(reports: Profiles, tmp_path: Path) -> None:
    view = view_of(reports, ["card", "zone"])
    assert view.about.crafted == SHARE
    text = as_text(view)
    assert "with 0.01 crafted" in text
    assert "Smoothed shares with 0.01 crafted" in text
    rows = list(csv.DictReader(io.StringIO(as_csv(view).decode())))
    assert len(rows) == 6
    assert all(float(row["crafted_low"]) < float(row["low"]) for row in rows)
    assert all(float(row["crafted_high"]) > float(row["high"]) for row in rows)
    assert all(float(row["crafted_smoothed_low"]) < float(row["smoothed"]) for row in rows)
    assert all(float(row["crafted_smoothed_high"]) > float(row["smoothed"]) for row in rows)
    drawn = json.dumps(view.chart().to_dict())
    assert '"second_low"' in drawn
    assert "pale band: with 0.01 crafted reports" in drawn
    save(view, tmp_path / "table.svg")
    save(view, tmp_path / "table.parquet")


def test_one_attribute_has_the_bar_of_estimate(reports: Profiles) -> None:
    rows = json.loads(as_json(view_of(reports, ["zone"])))["rows"]
    shift = table_shift(reports.mechanism.parameters, (1,), SHARE)
    assert len(rows) == 3
    for row in rows:
        assert row["interval"][0] - row["crafted_interval"][0] == pytest.approx(shift)


def test_each_of_many_tables_has_its_own_bar(reports: Profiles) -> None:
    view = shares_of(reports, reports.tables(2), "raw", options=Options(crafted=SHARE))
    data = json.loads(as_json(view))
    assert data["tables"] == 3
    first = {(row["attribute_1"], row["attribute_2"]): row for row in data["rows"]}
    added = [row["interval"][0] - row["crafted_interval"][0] for row in first.values()]
    parameters = reports.mechanism.parameters
    pairs = ((0, 1), (0, 2), (1, 2))
    assert added == pytest.approx([table_shift(parameters, pair, SHARE) for pair in pairs])
    assert added[0] > added[1]
    assert "each way, or less" in view.notes[-1]


def test_nothing_is_added_where_nobody_asked(reports: Profiles) -> None:
    view = view_of(reports, ["card", "zone"], None)
    assert view.about.crafted is None
    assert "crafted" not in as_text(view)
    assert not any("crafted" in name for name in view.rows[0])
    assert "pale band" not in json.dumps(view.chart().to_dict())


def test_a_table_that_nobody_reported_on_has_no_bar(rng: np.random.Generator) -> None:
    view = view_of(reports_of("inp_ht", rng, people=3), ["card", "zone"])
    data = json.loads(as_json(view))
    assert data["rows"][0]["raw"] is None
    assert data["rows"][0]["crafted_interval"] == [None, None]
    assert "n/a" in as_text(view)
    assert as_csv(view).splitlines()[1].split(b",").count(b"") >= 6


@pytest.mark.parametrize("share", [-0.01, 2.0, float("nan")])
def test_wrong_shares_are_refused(reports: Profiles, share: float) -> None:
    with pytest.raises(InvalidParameter, match="'crafted' parameter"):
        view_of(reports, ["card"], share)


def test_smoothed_shares_alone_have_a_bar(reports: Profiles) -> None:
    """Nobody is in the cell, and 1% of liars say otherwise: the range goes down to 0."""
    view = shares_of(
        reports, [reports.table(["card", "zone"])], "smoothed", options=Options(crafted=SHARE)
    )
    rows = json.loads(as_json(view))["rows"]
    for row in rows:
        low, high = row["crafted_smoothed"]
        assert 0 <= low <= row["smoothed"] <= high <= 1
    attacked = next(row for row in rows if (row["value_1"], row["value_2"]) == ("true", "inner"))
    assert attacked["crafted_smoothed"][0] == pytest.approx(0, abs=0.01)
    assert attacked["smoothed"] > 0.02
    titles = [column.title for column in view.columns if column.title]
    assert titles == ["card", "zone", "smoothed", "with 0.01 crafted"]


def test_shares_given_a_condition_have_a_bar(reports: Profiles) -> None:
    """Nobody in the zone "inner" has a card. Seven more standard deviations are for chance."""
    table = [reports.table(["card", "zone"])]
    view = shares_of(reports, table, given={"zone": None}, options=Options(crafted=SHARE))
    rows = json.loads(as_json(view))["rows"]
    assert len(rows) == 6
    for row in rows:
        assert row["crafted_interval"][0] < row["interval"][0]
        assert row["crafted_interval"][1] > row["interval"][1]
        assert row["crafted_smoothed"][0] <= row["smoothed"] <= row["crafted_smoothed"][1]
    attacked = next(row for row in rows if (row["value_1"], row["value_2"]) == ("true", "inner"))
    LEDGER.add(1e-11)
    assert attacked["crafted_interval"][0] <= 7 * attacked["std_error"]
    assert attacked["interval"][0] > 0.05
    one = shares_of(reports, table, given={"zone": "inner"}, options=Options(crafted=SHARE))
    assert json.loads(as_json(one))["rows"] == [r for r in rows if r["value_2"] == "inner"]
    assert "given the condition" in as_text(one)


def test_a_condition_that_may_be_all_liars_says_nothing(rng: np.random.Generator) -> None:
    reports = reports_of("views", rng)
    table = [reports.table(["card", "zone"])]
    rows = json.loads(
        as_json(shares_of(reports, table, given={"zone": None}, options=Options(crafted=0.5)))
    )["rows"]
    for row in rows:
        assert row["crafted_interval"][0] <= 0
        assert row["crafted_interval"][1] >= 1


def test_too_many_smoothed_tables_have_raw_bars_only(reports: Profiles) -> None:
    wide = Profile(tuple(Attribute(f"a{i}", Categories(tuple("abcdefghijklmnop"))) for i in (1, 2)))
    parameters = resolve("views", {"epsilon": 3.0, "order": 2}, wide, False)
    field = Field("value", wide, parameters)
    asked = Question("trips", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))
    population = mechanism_of(field, False)
    rng = np.random.default_rng(2)
    counts = population.accumulate(population.simulate(rng.integers(0, 16, (5_000, 2)), rng))
    many = Profiles.of(Accumulated(asked, {"value": counts}, {1: 5_000}))
    view = view_of(many, ["a1", "a2"])
    rows = json.loads(as_json(view))["rows"]
    assert "crafted_interval" in rows[0]
    assert rows[0]["crafted_smoothed"] == [None, None]
    assert any("smoothings" in note for note in view.notes)
    with pytest.raises(InvalidParameter, match="smoothings"):
        shares_of(many, [many.table(["a1", "a2"])], "smoothed", options=Options(crafted=SHARE))


def test_share_0_changes_nothing(reports: Profiles) -> None:
    table = [reports.table(["card", "zone"])]
    for given in (None, {"zone": None}):
        rows = json.loads(
            as_json(shares_of(reports, table, given=given, options=Options(crafted=0.0)))
        )
        for row in rows["rows"]:
            assert row["crafted_interval"] == pytest.approx(row["interval"])
            assert row["crafted_smoothed"] == pytest.approx([row["smoothed"]] * 2)
